// Message sets of magic 0 and 1, as logs from before Kafka 0.11 hold them. Read only: nothing of ours writes them, and
// a produce request may not bring them.
//
//   0  offset        int64       magic 0                            magic 1
//   8  length        int32       18  key length    int32            18  timestamp    int64
//  12  crc           uint32          key                            26  key length   int32
//  16  magic         int8            value length  int32                key, value length, value
//  17  attributes    int8            value
//       bits 0-2 codec, 3 timestamp type (magic 1)
//
// The crc is that of gzip and covers everything from the magic on. A message with a codec is a wrapper: its value is,
// compressed, a set of messages, the last of which may be cut off. The wrapper's offset is that of the last one inside;
// the offsets inside a wrapper of magic 0 are absolute, and of magic 1 relative, so that the last one stands for the
// wrapper's.
//
// source: KIP-31, KIP-32; what is refused was measured with the Java reference
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include "base/endian.h"
#include "protocol/batch_view.h"
#include "protocol/compression.h"
#include "protocol/error.h"
#include "protocol/record_batch.h"

namespace thalweg::protocol {

// One message where it stands in memory. Made by parse_legacy_message.
class LegacyMessageView {
 public:
  explicit LegacyMessageView(const std::uint8_t* data) : data_(data) {}

  // Of a wrapper: that of the last message inside.
  [[nodiscard]] std::int64_t offset() const { return base::load_be<std::int64_t>(data_); }
  [[nodiscard]] std::size_t size_bytes() const {
    return kLogOverhead + static_cast<std::size_t>(base::load_be<std::int32_t>(data_ + 8));
  }
  [[nodiscard]] std::uint32_t crc() const { return base::load_be<std::uint32_t>(data_ + 12); }
  [[nodiscard]] std::int8_t magic() const { return static_cast<std::int8_t>(data_[kMagicPosition]); }
  [[nodiscard]] std::int8_t attributes() const { return static_cast<std::int8_t>(data_[17]); }
  // The codec's number, 0 .. 7; only 0 .. 3 can be in these formats.
  [[nodiscard]] int codec() const { return attributes() & 7; }
  [[nodiscard]] CompressionType compression() const { return static_cast<CompressionType>(codec()); }
  [[nodiscard]] bool is_wrapper() const { return codec() != 0; }
  // Nothing in magic 0, which has no timestamps.
  [[nodiscard]] std::optional<TimestampType> timestamp_type() const {
    if (magic() == 0) return std::nullopt;
    return static_cast<TimestampType>(attributes() >> 3 & 1);
  }
  [[nodiscard]] std::int64_t timestamp() const {
    return magic() == 0 ? kNoTimestamp : base::load_be<std::int64_t>(data_ + 18);
  }
  [[nodiscard]] std::optional<std::span<const std::uint8_t>> key() const { return field(key_position()); }
  [[nodiscard]] std::optional<std::span<const std::uint8_t>> value() const { return field(value_position()); }
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return {data_, size_bytes()}; }

 private:
  [[nodiscard]] std::size_t key_position() const { return magic() == 0 ? 18 : 26; }
  [[nodiscard]] std::size_t value_position() const;
  [[nodiscard]] std::optional<std::span<const std::uint8_t>> field(std::size_t position) const;

  const std::uint8_t* data_;
};

// The message at the start of `data`, which may go on behind it. Its fields have been seen to fit.
//   errors   corrupt_message: too few bytes, another magic, or fields that do not fit the length
Result<LegacyMessageView> parse_legacy_message(std::span<const std::uint8_t> data);

// Compares the stored checksum with that of the bytes. Messages inside a wrapper have one too.
//   errors   corrupt_message
Result<void> validate_legacy_crc(LegacyMessageView message);

// The messages that one message stands for: itself, or those inside it.
class LegacyReader {
 public:
  // Decompresses a wrapper into the decompressor's memory, which the records then point into.
  //   errors   those of Decompressor::decompress; invalid_record: nothing inside, an impossible codec, offsets inside
  //   that
  //            pass the wrapper's, or a wrapper in a wrapper; corrupt_message: a message inside is damaged
  static Result<LegacyReader> open(LegacyMessageView message, Decompressor& decompressor,
                                   const DecompressOptions& options = {});

  // The next record, with its absolute offset and the timestamp that counts; false: there are no more.
  bool next(Record& record);

  [[nodiscard]] std::int64_t first_offset() const { return first_offset_; }

 private:
  explicit LegacyReader(LegacyMessageView message) : message_(message) {}

  LegacyMessageView message_;
  std::span<const std::uint8_t> left_;
  std::int64_t offset_shift_ = 0;          // from the offsets inside to absolute ones
  std::optional<std::int64_t> timestamp_;  // the wrapper's, where it counts for all inside
  std::int64_t first_offset_ = 0;
};

// Calls `visit(const Record&)` with every record that the message stands for, in order.
//   errors   those of LegacyReader::open
template <class Visit>
Result<void> for_each_legacy_record(LegacyMessageView message, Decompressor& decompressor, Visit&& visit,
                                    const DecompressOptions& options = {}) {
  ASSIGN_OR_RETURN(LegacyReader reader, LegacyReader::open(message, decompressor, options));
  Record record;
  while (reader.next(record)) visit(std::as_const(record));
  return {};
}

}  // namespace thalweg::protocol
