// ProducerAppend: the checks of one append against a log's producer state, and the changes it will make there.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "protocol/error.h"
#include "storage/append.h"
#include "storage/producer_state.h"
#include "storage/txn_index.h"

namespace thalweg::storage {

class ProducerAppend {
 public:
  // `state` outlives it and does not change until commit().
  ProducerAppend(const ProducerState& state, const AppendOptions& options) : state_(state), options_(options) {}

  // Checks a batch, offsets assigned, and stages what it changes. Batches without a producer id pass. For a control
  // batch the bytes must be whole; else the header is enough.
  protocol::Result<void> add(std::span<const std::uint8_t> batch);
  // Transactions that the batches abort, for the transaction index.
  [[nodiscard]] const std::vector<AbortedTransaction>& aborted() const { return aborted_; }
  // Whether a transaction begins or ends.
  [[nodiscard]] bool changes_transactions() const { return !started_.empty() || !ended_.empty(); }
  // Makes the changes; `state` is the one that was checked.
  void commit(ProducerState& state);

 private:
  struct Staged {
    ProducerEntry entry;
    bool was_known = false;    // had an epoch before this append
    bool had_batches = false;  // of that epoch
  };
  struct Transaction {
    std::int64_t producer_id;
    std::int64_t first_offset;
    std::int64_t last_offset;  // of its marker, once ended
  };

  Staged& staged(std::int64_t producer_id);
  protocol::Result<void> check_epoch(const ProducerEntry& entry, const protocol::BatchView& batch,
                                     std::int16_t transaction_version) const;
  protocol::Result<void> check_sequence(const Staged& staged, const protocol::BatchView& batch) const;
  protocol::Result<void> add_data(Staged& staged, const protocol::BatchView& batch);
  protocol::Result<void> add_marker(Staged& staged, std::span<const std::uint8_t> batch);
  [[nodiscard]] std::int64_t last_stable_offset_after(const Transaction& ended) const;

  const ProducerState& state_;
  AppendOptions options_;
  std::vector<Staged> staged_;  // nearly always one
  std::vector<Transaction> started_;
  std::vector<Transaction> ended_;
  std::vector<AbortedTransaction> aborted_;
};

}  // namespace thalweg::storage
