// BatchView: the header of one record batch (message format v2) where it stands in memory.
//
//   0  base offset            int64     43 producer id            int64
//   8  batch length           int32     51 producer epoch         int16
//  12  partition leader epoch int32     53 base sequence          int32
//  16  magic                  int8      57 record count           int32
//  17  crc                    uint32    61 records
//  21  attributes             int16       bits 0-2 codec, 3 timestamp type, 4 transactional,
//  23  last offset delta      int32       5 control, 6 has delete horizon
//  27  base timestamp         int64
//  35  max timestamp          int64     The crc covers everything from the attributes on.
//
// source: Kafka message format v2, KIP-98
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/endian.h"

namespace thalweg::protocol {

enum class CompressionType : std::int8_t { none = 0, gzip = 1, snappy = 2, lz4 = 3, zstd = 4 };
enum class TimestampType : std::int8_t { create_time = 0, log_append_time = 1 };

inline constexpr std::size_t kBatchHeaderSize = 61;
// Base offset and batch length: what stands before the bytes that the length counts.
inline constexpr std::size_t kLogOverhead = 12;
inline constexpr std::size_t kMagicPosition = 16;
inline constexpr std::size_t kCrcPosition = 17;
inline constexpr std::size_t kAttributesPosition = 21;
inline constexpr std::int64_t kNoTimestamp = -1;
inline constexpr std::int16_t kNoProducerEpoch = -1;
inline constexpr std::int32_t kNoSequence = -1;

// The sequence `count` records after `sequence`: sequences wrap from 2^31-1 to 0.
constexpr std::int32_t advance_sequence(std::int32_t sequence, std::int32_t count) {
  return static_cast<std::int32_t>((static_cast<std::uint32_t>(sequence) + static_cast<std::uint32_t>(count)) &
                                   0x7fffffffU);
}

class BatchView {
 public:
  // `data` must hold at least kBatchHeaderSize bytes, and the whole batch for records() and crc checks.
  explicit BatchView(const std::uint8_t* data) : data_(data) {}

  [[nodiscard]] const std::uint8_t* data() const { return data_; }
  [[nodiscard]] std::int64_t base_offset() const { return base::load_be<std::int64_t>(data_); }
  [[nodiscard]] std::int32_t batch_length() const { return base::load_be<std::int32_t>(data_ + 8); }
  // The whole batch, base offset and length included, in bytes.
  [[nodiscard]] std::size_t size_bytes() const { return kLogOverhead + static_cast<std::size_t>(batch_length()); }
  [[nodiscard]] std::int32_t leader_epoch() const { return base::load_be<std::int32_t>(data_ + 12); }
  [[nodiscard]] std::int8_t magic() const { return static_cast<std::int8_t>(data_[kMagicPosition]); }
  [[nodiscard]] std::uint32_t crc() const { return base::load_be<std::uint32_t>(data_ + kCrcPosition); }
  [[nodiscard]] std::int16_t attributes() const { return base::load_be<std::int16_t>(data_ + kAttributesPosition); }
  // The codec's number, 0 .. 7; only 0 .. 4 are CompressionType.
  [[nodiscard]] int codec() const { return attributes() & 7; }
  [[nodiscard]] CompressionType compression() const { return static_cast<CompressionType>(codec()); }
  [[nodiscard]] TimestampType timestamp_type() const { return static_cast<TimestampType>(attributes() >> 3 & 1); }
  [[nodiscard]] bool is_transactional() const { return (attributes() & 0x10) != 0; }
  [[nodiscard]] bool is_control() const { return (attributes() & 0x20) != 0; }
  [[nodiscard]] bool has_delete_horizon() const { return (attributes() & 0x40) != 0; }
  [[nodiscard]] std::int32_t last_offset_delta() const { return base::load_be<std::int32_t>(data_ + 23); }
  [[nodiscard]] std::int64_t last_offset() const { return base_offset() + last_offset_delta(); }
  [[nodiscard]] std::int64_t next_offset() const { return last_offset() + 1; }
  [[nodiscard]] std::int64_t base_timestamp() const { return base::load_be<std::int64_t>(data_ + 27); }
  [[nodiscard]] std::int64_t max_timestamp() const { return base::load_be<std::int64_t>(data_ + 35); }
  [[nodiscard]] std::int64_t producer_id() const { return base::load_be<std::int64_t>(data_ + 43); }
  [[nodiscard]] std::int16_t producer_epoch() const { return base::load_be<std::int16_t>(data_ + 51); }
  [[nodiscard]] std::int32_t base_sequence() const { return base::load_be<std::int32_t>(data_ + 53); }
  [[nodiscard]] std::int32_t last_sequence() const {
    return base_sequence() < 0 ? kNoSequence : advance_sequence(base_sequence(), last_offset_delta());
  }
  [[nodiscard]] std::int32_t record_count() const { return base::load_be<std::int32_t>(data_ + 57); }
  [[nodiscard]] bool has_producer_id() const { return producer_id() >= 0; }
  // The records section, compressed as the codec says.
  [[nodiscard]] std::span<const std::uint8_t> records() const {
    return {data_ + kBatchHeaderSize, size_bytes() - kBatchHeaderSize};
  }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return {data_, size_bytes()}; }

 private:
  const std::uint8_t* data_;
};

// Offsets and leader epoch stand before the crc's range, so the log patches them in place without touching it.
inline void patch_base_offset(std::uint8_t* batch, std::int64_t base_offset) { base::store_be(batch, base_offset); }
inline void patch_leader_epoch(std::uint8_t* batch, std::int32_t leader_epoch) {
  base::store_be(batch + 12, leader_epoch);
}

}  // namespace thalweg::protocol
