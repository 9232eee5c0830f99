#include "protocol/record_batch.h"

#include <fmt/format.h>

#include "base/crc32c.h"
#include "base/varint.h"

namespace thalweg::protocol {

namespace {

// What is needed to see length and magic, and the least that a message of magic 0 counts in its length.
constexpr std::size_t kFramePrefix = kMagicPosition + 1;
constexpr std::int32_t kLegacyLengthMin = 14;

using base::get_uvarint32;
using base::get_uvarint64;

// A signed varint, of which nearly all have one byte.
const std::uint8_t* get_varint32(const std::uint8_t* at, const std::uint8_t* end, std::int32_t& value) {
  if (at != end && *at < 0x80) [[likely]] {
    value = base::zigzag_decode32(*at);
    return at + 1;
  }
  std::uint32_t raw = 0;
  at = get_uvarint32(at, end, raw);
  value = base::zigzag_decode32(raw);
  return at;
}

const std::uint8_t* get_varint64(const std::uint8_t* at, const std::uint8_t* end, std::int64_t& value) {
  if (at != end && *at < 0x80) [[likely]] {
    value = base::zigzag_decode32(*at);
    return at + 1;
  }
  std::uint64_t raw = 0;
  at = get_uvarint64(at, end, raw);
  value = base::zigzag_decode64(raw);
  return at;
}

// Reads a length and steps over as many bytes; `bytes` is where they begin. Returns nullptr where they are not there.
const std::uint8_t* get_sized(const std::uint8_t* at, const std::uint8_t* end, std::int32_t& size,
                              const std::uint8_t*& bytes) {
  at = get_varint32(at, end, size);
  if (at == nullptr) return nullptr;
  bytes = at;
  if (size <= 0) return at;
  return size <= end - at ? at + size : nullptr;
}

std::optional<std::span<const std::uint8_t>> nullable(const std::uint8_t* bytes, std::int32_t size) {
  if (size < 0) return std::nullopt;
  return std::span(bytes, static_cast<std::size_t>(size));
}

// Sums that wrap as Java's do: hostile deltas must not be undefined.
std::int64_t wrapping_add(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

void set_timestamps(std::uint8_t* batch, TimestampType type, std::int64_t max_timestamp) {
  const BatchView view(batch);
  if (view.timestamp_type() == type && view.max_timestamp() == max_timestamp) return;
  const auto bits = static_cast<std::int16_t>((view.attributes() & ~8) | static_cast<int>(type) << 3);
  base::store_be(batch + kAttributesPosition, bits);
  base::store_be(batch + 35, max_timestamp);
  base::store_be(batch + kCrcPosition, base::crc32c(view.bytes().subspan(kAttributesPosition)));
}

}  // namespace

Result<std::optional<BatchFrame>> peek_batch(std::span<const std::uint8_t> data) {
  if (data.size() < kFramePrefix) return std::nullopt;
  const auto length = base::load_be<std::int32_t>(data.data() + 8);
  if (length < kLegacyLengthMin) return fail(ErrorCode::corrupt_message, fmt::format("a batch of length {}", length));
  const auto magic = static_cast<std::int8_t>(data[kMagicPosition]);
  if (magic < 0 || magic > 2) return fail(ErrorCode::corrupt_message, fmt::format("unknown magic {}", magic));
  const std::size_t size = kLogOverhead + static_cast<std::size_t>(length);
  if (size > data.size()) return std::nullopt;
  return BatchFrame{.size_bytes = size, .magic = magic};
}

Result<BatchView> parse_batch(std::span<const std::uint8_t> data) {
  if (data.size() < kBatchHeaderSize) {
    return fail(ErrorCode::corrupt_message, fmt::format("{} bytes are too few for a batch", data.size()));
  }
  const BatchView batch(data.data());
  if (batch.magic() != 2) return fail(ErrorCode::corrupt_message, fmt::format("magic {}, not 2", batch.magic()));
  if (batch.batch_length() < static_cast<std::int32_t>(kBatchHeaderSize - kLogOverhead) ||
      batch.size_bytes() > data.size()) {
    return fail(ErrorCode::corrupt_message,
                fmt::format("batch length {} in {} bytes", batch.batch_length(), data.size()));
  }
  return batch;
}

Result<void> validate_crc(BatchView batch) {
  const std::uint32_t crc = base::crc32c(batch.bytes().subspan(kAttributesPosition));
  if (crc == batch.crc()) [[likely]]
    return {};
  return fail(ErrorCode::corrupt_message, fmt::format("crc {:08x} stored, {:08x} computed", batch.crc(), crc));
}

namespace internal {

const char* read_record(const std::uint8_t* at, const std::uint8_t* end, RecordFields& fields) {
  if (at == end) return "is empty";
  fields.attributes = static_cast<std::int8_t>(*at++);
  at = get_varint64(at, end, fields.timestamp_delta);
  if (at == nullptr) return "has a damaged timestamp";
  at = get_varint32(at, end, fields.offset_delta);
  if (at == nullptr) return "has a damaged offset";
  at = get_sized(at, end, fields.key_size, fields.key);
  if (at == nullptr) return "has a key that does not fit";
  at = get_sized(at, end, fields.value_size, fields.value);
  if (at == nullptr) return "has a value that does not fit";
  at = get_varint32(at, end, fields.header_count);
  // A header has two bytes at least.
  if (at == nullptr || fields.header_count < 0 || fields.header_count > (end - at) / 2) {
    return "has an impossible number of headers";
  }
  fields.headers = at;
  for (std::int32_t i = 0; i < fields.header_count; ++i) {
    std::int32_t size = 0;
    const std::uint8_t* bytes = nullptr;
    at = get_sized(at, end, size, bytes);
    if (at == nullptr || size < 0) return "has a damaged header key";
    at = get_sized(at, end, size, bytes);
    if (at == nullptr) return "has a header value that does not fit";
  }
  return at == end ? nullptr : "is longer than what it holds";
}

}  // namespace internal

RecordHeaders::Iterator::Iterator(const std::uint8_t* at, const std::uint8_t* end, std::int32_t left)
    : at_(at), end_(end), left_(left) {
  if (left_ > 0) decode();
}

RecordHeaders::Iterator& RecordHeaders::Iterator::operator++() {
  if (--left_ > 0) decode();
  return *this;
}

void RecordHeaders::Iterator::decode() {
  std::int32_t size = 0;
  const std::uint8_t* bytes = nullptr;
  at_ = get_sized(at_, end_, size, bytes);
  header_.key = {reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size)};
  at_ = get_sized(at_, end_, size, bytes);
  header_.value = nullable(bytes, size);
}

RecordReader::RecordReader(BatchView batch, std::span<const std::uint8_t> section)
    : at_(section.data()),
      end_(section.data() + section.size()),
      base_offset_(batch.base_offset()),
      base_timestamp_(batch.base_timestamp()),
      append_timestamp_(batch.max_timestamp()),
      base_sequence_(batch.base_sequence()),
      count_(batch.record_count()),
      append_time_(batch.timestamp_type() == TimestampType::log_append_time) {}

Result<bool> RecordReader::next(Record& record) {
  if (index_ >= count_) {
    if (count_ < 0) return fail(ErrorCode::invalid_record, fmt::format("record count {}", count_));
    // An empty batch holds nothing, whatever stands in it: so it is for every Kafka client.
    if (at_ != end_ && count_ > 0) {
      return fail(ErrorCode::invalid_record, fmt::format("{} bytes behind the last record", end_ - at_));
    }
    return false;
  }
  std::int32_t length = 0;
  const std::uint8_t* const body = get_varint32(at_, end_, length);
  if (body == nullptr || length < 0 || length > end_ - body) {
    return fail(ErrorCode::invalid_record, fmt::format("record {} of {} does not fit", index_, count_));
  }
  internal::RecordFields fields;
  if (const char* fault = internal::read_record(body, body + length, fields); fault != nullptr) {
    return fail(ErrorCode::invalid_record, fmt::format("record {} {}", index_, fault));
  }
  record.attributes = fields.attributes;
  record.offset = wrapping_add(base_offset_, fields.offset_delta);
  record.timestamp = append_time_ ? append_timestamp_ : wrapping_add(base_timestamp_, fields.timestamp_delta);
  record.sequence = base_sequence_ < 0 ? kNoSequence : advance_sequence(base_sequence_, fields.offset_delta);
  record.key = nullable(fields.key, fields.key_size);
  record.value = nullable(fields.value, fields.value_size);
  record.headers = {{fields.headers, static_cast<std::size_t>(body + length - fields.headers)}, fields.header_count};
  record.size_bytes = static_cast<std::size_t>(body + length - at_);
  at_ = body + length;
  ++index_;
  return true;
}

Result<std::span<const std::uint8_t>> records_section(BatchView batch, Decompressor& decompressor,
                                                      const DecompressOptions& options) {
  // Compaction keeps empty batches, with nothing to decompress in them.
  if (batch.record_count() == 0) return std::span<const std::uint8_t>{};
  return decompressor.decompress(batch.compression(), batch.records(), options);
}

Result<std::int16_t> control_type(const Record& record) {
  if (!record.key.has_value() || record.key->size() < 4 || base::load_be<std::int16_t>(record.key->data()) < 0) {
    return fail(ErrorCode::invalid_record, "control record without a type");
  }
  return base::load_be<std::int16_t>(record.key->data() + 2);
}

void apply_log_append_time(std::uint8_t* batch, std::int64_t now_ms) {
  set_timestamps(batch, TimestampType::log_append_time, now_ms);
}

void apply_create_time(std::uint8_t* batch, std::int64_t max_timestamp) {
  set_timestamps(batch, TimestampType::create_time, max_timestamp);
}

}  // namespace thalweg::protocol
