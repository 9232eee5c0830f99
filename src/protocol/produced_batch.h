// What a produce request may bring: one batch of format v2 per partition, walked record by record before it is stored.
//
// The verdicts are Kafka's, measured with a 4.4 broker, but for damage that Kafka lets pass or answers as a fault of
// its own, which is invalid_record here: offsets within the batch that do not count up from zero; record sizes of a
// compressed batch that disagree with what the records hold; compressed bytes that cannot be decompressed. A codec that
// does not exist is unsupported_compression_type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "protocol/batch_view.h"
#include "protocol/compression.h"
#include "protocol/error.h"

namespace thalweg::protocol {

// The one batch that a partition's `records` field must hold; a tail too short for another one is passed over, as in
// Kafka. `api_version` is that of Produce.
//   errors   invalid_record: no whole batch, more than one, or an older format
//            corrupt_message: an impossible length or magic
//            unsupported_compression_type: zstd before version 7
Result<BatchView> parse_produced(std::span<const std::uint8_t> records, std::int16_t api_version);

// What the topic and the broker demand.
struct ProduceRules {
  std::int64_t now_ms = 0;
  TimestampType timestamp_type = TimestampType::create_time;                        // message.timestamp.type
  std::int64_t timestamp_before_max_ms = std::numeric_limits<std::int64_t>::max();  // message.timestamp.before.max.ms
  std::int64_t timestamp_after_max_ms = 3600000;                                    // message.timestamp.after.max.ms
  bool compacted = false;                                                           // every record needs a key
  std::int64_t max_batch_bytes = 1048588;                                           // max.message.bytes
  std::int64_t max_record_bytes = 2147483639;         // max.decompressed.message.bytes, for compressed batches only
  std::uint64_t max_decompressed_bytes = 2147483639;  // of a whole batch: bounds the time one request can take
};

// What the walk found out.
struct BatchSummary {
  std::int32_t record_count = 0;
  // As the topic will have it: the greatest of the records, or the broker's time. kNoTimestamp where no record has one.
  std::int64_t max_timestamp = kNoTimestamp;
  // Of the first record with that timestamp, from the base offset on; -1 where there is none.
  std::int32_t max_timestamp_offset_delta = -1;
  std::uint64_t decompressed_bytes = 0;  // the records section
};

struct RecordError {
  std::int32_t batch_index = 0;
  std::string message;
};

// Why a batch was refused. Where single records are at fault they are listed (at most kRecordErrorsMax of them), and
// `detail` belongs in the answer; else `detail` is for the log, and Kafka answers the code alone.
struct RecordFault {
  ErrorCode code = ErrorCode::none;
  std::string detail;
  std::vector<RecordError> record_errors;
};
inline constexpr std::size_t kRecordErrorsMax = 1000;

// Judges a batch that parse_produced gave. Nothing is written to it: set_produced_timestamps does that afterwards.
// Allocates nothing but for faults and for what the decompressor grows to.
//   errors   invalid_record, invalid_timestamp, corrupt_message, message_too_large, unsupported_compression_type
base::Result<BatchSummary, RecordFault> validate_produced_batch(BatchView batch, const ProduceRules& rules,
                                                                Decompressor& decompressor);

// Writes timestamp type and max timestamp as the topic has them, and the crc where that changed anything: clients may
// leave both wrong.
void set_produced_timestamps(std::uint8_t* batch, const ProduceRules& rules, const BatchSummary& summary);

}  // namespace thalweg::protocol
