#include "protocol/record_batch_builder.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/crc32c.h"
#include "base/endian.h"
#include "base/varint.h"

namespace thalweg::protocol {

namespace {

using Nullable = std::optional<std::span<const std::uint8_t>>;

void put(std::vector<std::uint8_t>& out, std::span<const std::uint8_t> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void put_varint(std::vector<std::uint8_t>& out, std::int64_t value) {
  std::array<std::uint8_t, base::kMaxVarint64Bytes> bytes;
  std::uint8_t* const end = base::put_uvarint(bytes.data(), base::zigzag_encode64(value));
  out.insert(out.end(), bytes.data(), end);
}

std::size_t varint_size(std::int64_t value) { return base::uvarint_size(base::zigzag_encode64(value)); }

void put_sized(std::vector<std::uint8_t>& out, const Nullable& bytes) {
  put_varint(out, bytes.has_value() ? static_cast<std::int64_t>(bytes->size()) : -1);
  if (bytes.has_value()) put(out, *bytes);
}

std::size_t sized_size(const Nullable& bytes) {
  return bytes.has_value() ? varint_size(static_cast<std::int64_t>(bytes->size())) + bytes->size() : 1;
}

std::int64_t wrapping_subtract(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

}  // namespace

void RecordBatchBuilder::append(const RecordInput& record) {
  headers_.clear();
  for (const RecordHeader& header : record.headers) {
    put_sized(headers_, std::span(reinterpret_cast<const std::uint8_t*>(header.key.data()), header.key.size()));
    put_sized(headers_, header.value);
  }
  append(record.offset, record.timestamp, record.key, record.value, static_cast<std::int32_t>(record.headers.size()),
         headers_);
}

void RecordBatchBuilder::append(const Record& record) {
  append(record.offset, record.timestamp, record.key, record.value, record.headers.size(), record.headers.bytes());
}

void RecordBatchBuilder::append(std::optional<std::int64_t> offset, std::int64_t timestamp, Nullable key,
                                Nullable value, std::int32_t header_count, std::span<const std::uint8_t> headers) {
  const std::int64_t next = count_ == 0 ? options_.base_offset : last_offset_ + 1;
  last_offset_ = offset.value_or(next);
  const std::int64_t offset_delta = last_offset_ - options_.base_offset;
  CHECK(last_offset_ >= next && offset_delta <= std::numeric_limits<std::int32_t>::max(), "offsets rise");
  if (count_ == 0) base_timestamp_ = options_.delete_horizon_ms.value_or(timestamp);
  max_timestamp_ = std::max(max_timestamp_, timestamp);
  ++count_;

  const std::int64_t timestamp_delta = wrapping_subtract(timestamp, base_timestamp_);
  const std::size_t size = 1 + varint_size(timestamp_delta) + varint_size(offset_delta) + sized_size(key) +
                           sized_size(value) + varint_size(header_count) + headers.size();
  put_varint(records_, static_cast<std::int64_t>(size));
  records_.push_back(0);
  put_varint(records_, timestamp_delta);
  put_varint(records_, offset_delta);
  put_sized(records_, key);
  put_sized(records_, value);
  put_varint(records_, header_count);
  put(records_, headers);
}

base::Bytes RecordBatchBuilder::build(Compressor& compressor) const {
  const CompressionType codec = count_ == 0 ? CompressionType::none : options_.compression;
  const std::span<const std::uint8_t> section = compressor.compress(codec, options_.level, records_);
  base::Buffer buffer(kBatchHeaderSize + section.size());
  const std::span<std::uint8_t> batch(buffer.data(), buffer.capacity());
  std::uint8_t* const p = batch.data();

  const bool horizon = options_.delete_horizon_ms.has_value();
  const int attributes = static_cast<int>(codec) | static_cast<int>(options_.timestamp_type) << 3 |
                         (options_.transactional ? 0x10 : 0) | (options_.control ? 0x20 : 0) | (horizon ? 0x40 : 0);
  const std::int64_t last_offset =
      std::max(options_.last_offset.value_or(options_.base_offset), count_ == 0 ? options_.base_offset : last_offset_);
  const std::int64_t max_timestamp = count_ == 0 ? options_.empty_max_timestamp
                                     : options_.timestamp_type == TimestampType::log_append_time
                                         ? options_.append_time_ms
                                         : max_timestamp_;
  base::store_be(p, options_.base_offset);
  base::store_be(p + 8, static_cast<std::int32_t>(batch.size() - kLogOverhead));
  base::store_be(p + 12, options_.leader_epoch);
  p[kMagicPosition] = 2;
  base::store_be(p + kAttributesPosition, static_cast<std::int16_t>(attributes));
  base::store_be(p + 23, static_cast<std::int32_t>(last_offset - options_.base_offset));
  base::store_be(p + 27, count_ == 0 ? options_.delete_horizon_ms.value_or(kNoTimestamp) : base_timestamp_);
  base::store_be(p + 35, max_timestamp);
  base::store_be(p + 43, options_.producer_id);
  base::store_be(p + 51, options_.producer_epoch);
  base::store_be(p + 53, options_.base_sequence);
  base::store_be(p + 57, count_);
  if (!section.empty()) std::memcpy(p + kBatchHeaderSize, section.data(), section.size());
  base::store_be(p + kCrcPosition, base::crc32c(batch.subspan(kAttributesPosition)));
  return std::move(buffer).freeze(batch.size());
}

base::Bytes RecordBatchBuilder::build() const {
  Compressor compressor;
  return build(compressor);
}

base::Bytes build_control_batch(const TransactionMarker& marker) {
  BatchOptions options;
  options.base_offset = marker.offset;
  options.leader_epoch = marker.leader_epoch;
  options.producer_id = marker.producer_id;
  options.producer_epoch = marker.producer_epoch;
  options.transactional = true;
  options.control = true;
  RecordBatchBuilder builder(options);
  // Key: version 0 and the type. Value: version 0 and the epoch of the transaction's coordinator.
  std::array<std::uint8_t, 4> key{};
  base::store_be(key.data() + 2, static_cast<std::int16_t>(marker.commit ? ControlType::commit : ControlType::abort));
  std::array<std::uint8_t, 6> value{};
  base::store_be(value.data() + 2, marker.coordinator_epoch);
  builder.append(RecordInput{.offset = {}, .timestamp = marker.timestamp, .key = key, .value = value, .headers = {}});
  return builder.build();
}

}  // namespace thalweg::protocol
