// ProducerState: what a log knows about the producers that write to it: the epoch and the last five batches of each, to
// refuse gaps and to find repetitions, and the transactions that are open, to know how far records are decided.
//
// The rules are Kafka's (KIP-98, KIP-360, KIP-890). ProducerAppend checks the batches of one append against them and
// stages the changes; nothing changes until it is committed. Without producers the state takes no memory.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "protocol/batch_view.h"

namespace thalweg::storage {

// One of the batches that are remembered of a producer.
struct BatchMetadata {
  std::int64_t last_offset = -1;
  std::int64_t timestamp = -1;  // max timestamp
  std::int32_t last_sequence = -1;
  std::int32_t offset_delta = 0;  // last offset less first offset

  [[nodiscard]] std::int64_t first_offset() const { return last_offset - offset_delta; }
  // Sequences wrap from 2^31-1 to 0.
  [[nodiscard]] std::int32_t first_sequence() const {
    return static_cast<std::int32_t>(
        (static_cast<std::uint32_t>(last_sequence) - static_cast<std::uint32_t>(offset_delta)) & 0x7fffffffU);
  }
  friend bool operator==(const BatchMetadata&, const BatchMetadata&) = default;
};

struct ProducerEntry {
  static constexpr std::size_t kBatches = 5;

  std::int64_t producer_id = -1;
  std::int64_t last_timestamp = -1;
  std::int64_t current_txn_first_offset = -1;  // -1: no open transaction
  std::int32_t coordinator_epoch = -1;
  std::int16_t epoch = protocol::kNoProducerEpoch;
  std::uint8_t batch_count = 0;
  std::array<BatchMetadata, kBatches> batches;  // oldest first; those of the current epoch

  [[nodiscard]] bool has_batches() const { return batch_count > 0; }
  [[nodiscard]] std::int32_t last_sequence() const {
    return has_batches() ? batches[batch_count - 1U].last_sequence : protocol::kNoSequence;
  }
  [[nodiscard]] std::int64_t last_offset() const { return has_batches() ? batches[batch_count - 1U].last_offset : -1; }
  // Sets the epoch; batches of another one are forgotten.
  void set_epoch(std::int16_t new_epoch);
  void add_batch(const BatchMetadata& batch);
  // Equal in everything that counts: slots beyond batch_count do not.
  friend bool operator==(const ProducerEntry& a, const ProducerEntry& b);
};

class ProducerState {
 public:
  // nullptr where the producer is not known.
  [[nodiscard]] const ProducerEntry* find(std::int64_t producer_id) const;
  [[nodiscard]] std::size_t size() const { return tables_ == nullptr ? 0 : tables_->producers.size(); }
  // Every producer, in no order (DescribeProducers, snapshots).
  [[nodiscard]] std::vector<ProducerEntry> entries() const;
  // The batch that this one repeats: same epoch, same first and last sequence as one of the last five.
  [[nodiscard]] std::optional<BatchMetadata> find_duplicate(const protocol::BatchView& batch) const;
  [[nodiscard]] bool has_open_transaction(std::int64_t producer_id, std::int16_t epoch) const;

  // The first offset of the oldest transaction that is open.
  [[nodiscard]] std::optional<std::int64_t> first_undecided_offset() const;
  // The same, or of one that has ended with a marker that the high watermark has not passed: the earlier one.
  [[nodiscard]] std::optional<std::int64_t> first_unstable_offset() const;
  // Forgets ended transactions whose marker is below the high watermark.
  void on_high_watermark(std::int64_t high_watermark);
  // The last timestamp of the producer with the oldest open transaction (a hanging one, when it is long ago); -1: none
  // open.
  [[nodiscard]] std::int64_t oldest_open_transaction_timestamp() const;

  // Forgets producers without an open transaction that have been silent for `expiration_ms`.
  void expire(std::int64_t now_ms, std::int64_t expiration_ms);
  void clear() { tables_ = nullptr; }
  // Takes an entry over from a snapshot.
  void load(const ProducerEntry& entry);
  // Takes the batches of `seen` that came before the one that is known, where both end with the same batch.
  void restore_window(std::int64_t producer_id, const ProducerEntry& seen);

  // Equal in what a restart has to bring back: the producers and their open transactions.
  friend bool operator==(const ProducerState& a, const ProducerState& b);

 private:
  friend class ProducerAppend;
  struct Tables {
    std::unordered_map<std::int64_t, ProducerEntry> producers;
    std::map<std::int64_t, std::int64_t> open;  // first offset → producer id
    std::map<std::int64_t, std::int64_t>
        ended;  // first offset → offset of the marker, not below the high watermark yet
  };
  Tables& tables();

  std::unique_ptr<Tables> tables_;
};

}  // namespace thalweg::storage
