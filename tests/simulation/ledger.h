// Ledger: what the clients of a simulated broker have sent, were told and have read, and the promises that follow. A
// broken promise is thrown as a Violation.
//
//   - a batch that was acknowledged as durable, or read by a consumer, stands at its offset for ever
//   - one that was acknowledged with acks=1 stands there until the machine loses power
//   - a batch is in the log once, whole, in the partition it was sent to, and only if it was sent
//   - an idempotent producer's batches are in the log in order and without a gap
//   - the offset that a group has committed is the last one that was acknowledged, or one whose answer was lost
//   - a high watermark that a client was told does not fall, and everything below it can be read
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/uuid.h"
#include "protocol/batch_view.h"
#include "protocol/compression.h"

namespace thalweg::simulation {

class Violation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct PartitionId {
  base::Uuid topic;
  std::int32_t number = 0;
  friend auto operator<=>(const PartitionId&, const PartitionId&) = default;
  [[nodiscard]] std::string str() const { return topic.str() + '-' + std::to_string(number); }
};

struct TopicShape {
  std::int32_t partitions = 1;
  std::int32_t segment_bytes = 1 << 20;
  std::int32_t index_interval_bytes = 4096;
};

struct Topic {
  base::Uuid id;
  std::string name;
  TopicShape shape;
  bool deleting = false;  // was asked for, and not heard of yet
};

// A record batch that a producer made.
struct SentBatch {
  std::uint64_t number = 0;
  PartitionId where;
  std::vector<std::string> values;  // one a record
  std::int64_t timestamp = 0;       // of its first record; each next one is a millisecond later
  std::int64_t producer_id = -1;
  std::int32_t base_sequence = -1;
  std::optional<std::int64_t> offset;  // where it was seen or acknowledged for good

  [[nodiscard]] std::int32_t records() const { return static_cast<std::int32_t>(values.size()); }
  [[nodiscard]] base::Bytes encode() const;
};

class Ledger {
 public:
  // ---- topics ----
  // A creation was asked for; whether it was done may never be heard.
  void creating(const std::string& name, const TopicShape& shape) { tried_[name] = shape; }
  void created(const base::Uuid& id, const std::string& name);
  void deleting(const base::Uuid& id) { topics_.at(id).deleting = true; }
  void deleted(const base::Uuid& id);
  [[nodiscard]] const std::map<base::Uuid, Topic>& topics() const { return topics_; }
  [[nodiscard]] bool has(const base::Uuid& id) const { return topics_.contains(id); }
  // What a newly started broker says it has, against what it must have.
  struct Found {
    base::Uuid id;
    std::string name;
    std::int32_t partitions = 0;
  };
  // `nobody_connected`: what was asked for before can no longer come.
  void found_topics(const std::vector<Found>& found, bool nobody_connected);

  // ---- offsets of the one group ----
  void committing(PartitionId where, std::int64_t offset) { offsets_[where].attempted.insert(offset); }
  void committed(PartitionId where, std::int64_t offset);
  // All that the broker has of the group.
  void found_offsets(const std::map<PartitionId, std::int64_t>& found, bool nobody_connected);

  // ---- records ----
  SentBatch& make_batch(PartitionId where, std::vector<std::string> payloads, std::int64_t timestamp,
                        std::int64_t producer_id, std::int32_t base_sequence);
  enum class Promise : std::uint8_t { until_power_loss, for_ever };
  void acknowledged(SentBatch& batch, std::int64_t offset, Promise promise);
  // A consumer has got the batch. `bytes` are whole.
  void read(PartitionId where, protocol::BatchView batch);
  // An answer said so. Answers to several clients may arrive out of order, so this one may be older than the newest.
  void told_high_watermark(PartitionId where, std::int64_t offset);
  // Power was lost, or a disk has failed: what was only acknowledged with acks=1 may be gone.
  void power_lost();

  // What a partition must hold, and whether it does: called with every batch in it from the first to the high
  // watermark, and that.
  void check_whole(PartitionId where, const std::vector<base::Bytes>& batches, std::int64_t high_watermark);
  // The next offset that somebody could read.
  [[nodiscard]] std::int64_t readable_end(PartitionId where) const;
  [[nodiscard]] std::uint64_t batches_sent() const { return batches_.size(); }
  [[nodiscard]] std::uint64_t promises() const;

 private:
  struct Partition {
    std::map<std::int64_t, std::uint64_t> for_ever;  // batch by base offset
    std::map<std::int64_t, std::uint64_t> until_power_loss;
    std::int64_t high_watermark = 0;
  };
  struct Offset {
    std::int64_t acknowledged = -1;  // -1: none
    std::set<std::int64_t> attempted;
  };
  void promise_for_ever(SentBatch& batch, std::int64_t offset, const char* how);
  SentBatch& identify(PartitionId where, protocol::BatchView batch);

  std::map<std::string, TopicShape> tried_;
  std::map<base::Uuid, Topic> topics_;
  std::map<base::Uuid, std::string> deleted_;
  std::map<std::uint64_t, SentBatch> batches_;
  std::map<PartitionId, Partition> partitions_;
  std::map<PartitionId, Offset> offsets_;
  protocol::Decompressor decompressor_;
};

}  // namespace thalweg::simulation
