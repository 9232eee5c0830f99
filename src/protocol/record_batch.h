// Record batches of format v2: finding them, checking them, reading their records, patching their headers.
//
// The records section, once decompressed, is a row of records. All integers are signed varints (zig-zag):
//
//   length           of what follows, in bytes     headers     count, then as often:
//   attributes 1     no bit of it has a meaning      key       length and bytes, never null
//   timestamp delta  to the base timestamp           value     length and bytes; a negative length is null
//   offset delta     to the base offset
//   key, value       length and bytes; a negative length is null
//
// source: Kafka message format v2, KIP-98; what is refused was measured with the Java reference
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "protocol/batch_view.h"
#include "protocol/compression.h"
#include "protocol/error.h"

namespace thalweg::protocol {

// What begins at the first byte of a log or of a `records` field.
struct BatchFrame {
  std::size_t size_bytes = 0;  // from the offset on; a batch, or one message of magic 0 or 1
  std::int8_t magic = 0;
};

// The frame at the start of `data`; nothing where the bytes are too few to hold all of it.
//   errors   corrupt_message: an impossible length or magic
Result<std::optional<BatchFrame>> peek_batch(std::span<const std::uint8_t> data);

// The batch at the start of `data`, which may go on behind it.
//   errors   corrupt_message: too few bytes, another magic, or a length that is too small for a header
Result<BatchView> parse_batch(std::span<const std::uint8_t> data);

// Compares the stored checksum with that of the bytes.
//   errors   corrupt_message
Result<void> validate_crc(BatchView batch);

struct RecordHeader {
  std::string_view key;
  std::optional<std::span<const std::uint8_t>> value;
};

// The headers of one record, decoded while they are walked. Only for bytes that a RecordReader has checked.
class RecordHeaders {
 public:
  class Iterator {
   public:
    using value_type = RecordHeader;
    using difference_type = std::ptrdiff_t;
    Iterator() = default;
    Iterator(const std::uint8_t* at, const std::uint8_t* end, std::int32_t left);
    const RecordHeader& operator*() const { return header_; }
    const RecordHeader* operator->() const { return &header_; }
    Iterator& operator++();
    Iterator operator++(int) {
      Iterator before = *this;
      ++*this;
      return before;
    }
    friend bool operator==(const Iterator& a, std::default_sentinel_t) { return a.left_ == 0; }

   private:
    void decode();
    const std::uint8_t* at_ = nullptr;  // behind the current header
    const std::uint8_t* end_ = nullptr;
    std::int32_t left_ = 0;
    RecordHeader header_;
  };

  RecordHeaders() = default;
  RecordHeaders(std::span<const std::uint8_t> bytes, std::int32_t count) : bytes_(bytes), count_(count) {}
  [[nodiscard]] std::int32_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] Iterator begin() const { return {bytes_.data(), bytes_.data() + bytes_.size(), count_}; }
  [[nodiscard]] std::default_sentinel_t end() const { return {}; }
  // As they are encoded, without their count.
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return bytes_; }

 private:
  std::span<const std::uint8_t> bytes_;
  std::int32_t count_ = 0;
};

// A record as it stands in its section, with what its batch says about it. All spans point into the section.
struct Record {
  std::int8_t attributes = 0;
  std::int64_t offset = 0;
  std::int64_t timestamp = kNoTimestamp;  // the batch's, where that was set on append
  std::int32_t sequence = kNoSequence;
  std::optional<std::span<const std::uint8_t>> key;
  std::optional<std::span<const std::uint8_t>> value;
  RecordHeaders headers;
  std::size_t size_bytes = 0;  // its length field included
};

// Walks a records section that has been decompressed.
class RecordReader {
 public:
  // `batch` is used for its header only.
  RecordReader(BatchView batch, std::span<const std::uint8_t> section);

  // The next record; false: there are no more, and the section ends where the last one did.
  //   errors   invalid_record: fewer or more records than the batch says, or a record that breaks the format
  Result<bool> next(Record& record);

 private:
  const std::uint8_t* at_;
  const std::uint8_t* end_;
  std::int64_t base_offset_;
  std::int64_t base_timestamp_;
  std::int64_t append_timestamp_;  // where timestamps were set on append
  std::int32_t base_sequence_;
  std::int32_t count_;
  std::int32_t index_ = 0;
  bool append_time_;
};

// The records section of a batch, decompressed into the decompressor's memory where it has to be.
//   errors   those of Decompressor::decompress
Result<std::span<const std::uint8_t>> records_section(BatchView batch, Decompressor& decompressor,
                                                      const DecompressOptions& options = {});

// Calls `visit(const Record&)` with every record of the batch, in order. A batch must fit into the span it came from.
//   errors   those of records_section and RecordReader::next
template <class Visit>
Result<void> for_each_record(BatchView batch, Decompressor& decompressor, Visit&& visit,
                             const DecompressOptions& options = {}) {
  ASSIGN_OR_RETURN(const std::span<const std::uint8_t> section, records_section(batch, decompressor, options));
  RecordReader reader(batch, section);
  Record record;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, reader.next(record));
    if (!more) return {};
    visit(std::as_const(record));
  }
}

// What a control record says; its key is a version and this number, two bytes each.
enum class ControlType : std::int16_t {
  abort = 0,
  commit = 1,
  leader_change = 2,
  snapshot_header = 3,
  snapshot_footer = 4,
  kraft_version = 5,
  kraft_voters = 6,
};
// The number in a control record's key, of which readers must pass over those they do not know.
//   errors   invalid_record: no key, one that is too short, or one of a negative version
Result<std::int16_t> control_type(const Record& record);

// The log's own time as timestamp of all records: sets the timestamp type and the max timestamp, and the crc for them.
// `batch` must hold a whole batch.
void apply_log_append_time(std::uint8_t* batch, std::int64_t now_ms);
// The records' own times, of which `max_timestamp` is the greatest. Nothing is written where the header says so
// already.
void apply_create_time(std::uint8_t* batch, std::int64_t max_timestamp);

namespace internal {

// The parts of one record. Sizes below zero stand for null.
struct RecordFields {
  std::int8_t attributes;
  std::int64_t timestamp_delta;
  std::int32_t offset_delta;
  std::int32_t key_size;
  const std::uint8_t* key;
  std::int32_t value_size;
  const std::uint8_t* value;
  std::int32_t header_count;
  const std::uint8_t* headers;
};

// Reads the record whose bytes, its length left out, are exactly [at, end). Returns nullptr, or what is wrong with it.
const char* read_record(const std::uint8_t* at, const std::uint8_t* end, RecordFields& fields);

}  // namespace internal

}  // namespace thalweg::protocol
