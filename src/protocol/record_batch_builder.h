// RecordBatchBuilder: writes record batches of format v2, for what the broker itself puts into a log (compaction,
// control records, a changed compression.type) and for tests.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "protocol/batch_view.h"
#include "protocol/compression.h"
#include "protocol/record_batch.h"

namespace thalweg::protocol {

// The fields of the header that the records do not decide.
struct BatchOptions {
  CompressionType compression = CompressionType::none;
  std::optional<int> level;  // Kafka's default where there is none
  TimestampType timestamp_type = TimestampType::create_time;
  std::int64_t append_time_ms = kNoTimestamp;  // the max timestamp, for log_append_time
  std::int64_t base_offset = 0;
  // Of the batch, where compaction has taken away its last records; else the last record's.
  std::optional<std::int64_t> last_offset;
  std::int32_t leader_epoch = -1;
  std::int64_t producer_id = -1;
  std::int16_t producer_epoch = kNoProducerEpoch;
  std::int32_t base_sequence = kNoSequence;
  bool transactional = false;
  bool control = false;
  // Tombstones and markers of the batch may go at this time; it takes the place of the base timestamp.
  std::optional<std::int64_t> delete_horizon_ms;
  // Of a batch without records: the one it had.
  std::int64_t empty_max_timestamp = kNoTimestamp;
};

// A record to write. The spans are used during append() only.
struct RecordInput {
  std::optional<std::int64_t> offset;  // else one more than the last one's, or the base offset
  std::int64_t timestamp = kNoTimestamp;
  std::optional<std::span<const std::uint8_t>> key;
  std::optional<std::span<const std::uint8_t>> value;
  std::span<const RecordHeader> headers;
};

class RecordBatchBuilder {
 public:
  explicit RecordBatchBuilder(BatchOptions options) : options_(options) {}

  // Offsets rise, begin at the base offset or later, and stay within 2^31 of it.
  void append(const RecordInput& record);
  // A record read from another batch, with its offset, timestamp and headers.
  void append(const Record& record);

  [[nodiscard]] std::int32_t record_count() const { return count_; }
  // Of the batch, were it not compressed.
  [[nodiscard]] std::size_t size_bytes() const { return kBatchHeaderSize + records_.size(); }

  // The batch. Without records: a header that keeps offsets, producer and sequences, uncompressed.
  [[nodiscard]] base::Bytes build(Compressor& compressor) const;
  [[nodiscard]] base::Bytes build() const;

 private:
  void append(std::optional<std::int64_t> offset, std::int64_t timestamp,
              std::optional<std::span<const std::uint8_t>> key, std::optional<std::span<const std::uint8_t>> value,
              std::int32_t header_count, std::span<const std::uint8_t> headers);

  BatchOptions options_;
  std::vector<std::uint8_t> records_;
  std::vector<std::uint8_t> headers_;  // of one record, while it is appended
  std::int64_t base_timestamp_ = kNoTimestamp;
  std::int64_t max_timestamp_ = kNoTimestamp;
  std::int64_t last_offset_ = -1;
  std::int32_t count_ = 0;
};

// The end of a transaction in one partition.
struct TransactionMarker {
  bool commit = false;
  std::int64_t offset = 0;
  std::int64_t timestamp = kNoTimestamp;
  std::int32_t leader_epoch = -1;
  std::int64_t producer_id = -1;
  std::int16_t producer_epoch = kNoProducerEpoch;
  std::int32_t coordinator_epoch = 0;
};
// The control batch that says so.
base::Bytes build_control_batch(const TransactionMarker& marker);

}  // namespace thalweg::protocol
