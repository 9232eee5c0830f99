#include "protocol/legacy_message_set.h"

#include <fmt/format.h>
#include <isa-l/crc.h>

#include <algorithm>

namespace thalweg::protocol {

namespace {

// Of crc, magic, attributes and the two lengths; magic 1 has a timestamp too.
constexpr std::int32_t kLengthMinV0 = 14;
constexpr std::int32_t kLengthMinV1 = 22;
constexpr std::size_t kCrcStart = 16;

// The message at the start of what a wrapper holds; nothing where it is cut off.
Result<std::optional<LegacyMessageView>> next_inside(std::span<const std::uint8_t> data) {
  if (data.size() < kLogOverhead) return std::nullopt;
  const auto length = base::load_be<std::int32_t>(data.data() + 8);
  if (length < kLengthMinV0) return fail(ErrorCode::corrupt_message, fmt::format("a message of length {}", length));
  if (kLogOverhead + static_cast<std::size_t>(length) > data.size()) return std::nullopt;
  return parse_legacy_message(data);
}

}  // namespace

std::size_t LegacyMessageView::value_position() const {
  const std::size_t at = key_position();
  return at + 4 + static_cast<std::size_t>(std::max(base::load_be<std::int32_t>(data_ + at), 0));
}

std::optional<std::span<const std::uint8_t>> LegacyMessageView::field(std::size_t position) const {
  const auto size = base::load_be<std::int32_t>(data_ + position);
  if (size < 0) return std::nullopt;
  return std::span(data_ + position + 4, static_cast<std::size_t>(size));
}

Result<LegacyMessageView> parse_legacy_message(std::span<const std::uint8_t> data) {
  const auto refuse = [](const char* what) {
    return fail(ErrorCode::corrupt_message, fmt::format("message {}", what));
  };
  if (data.size() <= kMagicPosition) return refuse("is cut off");
  const LegacyMessageView message(data.data());
  if (message.magic() != 0 && message.magic() != 1) return refuse("has another magic than 0 or 1");
  const auto length = base::load_be<std::int32_t>(data.data() + 8);
  if (length < (message.magic() == 0 ? kLengthMinV0 : kLengthMinV1)) return refuse("is too short");
  if (message.size_bytes() > data.size()) return refuse("is cut off");
  // Java looks at neither: bytes behind the value, and sizes below -1, which are null too.
  std::size_t at = message.magic() == 0 ? 18 : 26;
  for (const char* fault : {"has a key that does not fit", "has a value that does not fit"}) {
    if (message.size_bytes() - at < 4) return refuse(fault);
    const auto size = base::load_be<std::int32_t>(data.data() + at);
    at += 4;
    if (size <= 0) continue;
    if (static_cast<std::size_t>(size) > message.size_bytes() - at) return refuse(fault);
    at += static_cast<std::size_t>(size);
  }
  return message;
}

Result<void> validate_legacy_crc(LegacyMessageView message) {
  const std::span<const std::uint8_t> covered = message.bytes().subspan(kCrcStart);
  const std::uint32_t crc = crc32_gzip_refl(0, covered.data(), covered.size());
  if (crc == message.crc()) return {};
  return fail(ErrorCode::corrupt_message, fmt::format("crc {:08x} stored, {:08x} computed", message.crc(), crc));
}

Result<LegacyReader> LegacyReader::open(LegacyMessageView message, Decompressor& decompressor,
                                        const DecompressOptions& options) {
  LegacyReader reader(message);
  if (!message.is_wrapper()) {
    reader.left_ = message.bytes();
    reader.first_offset_ = message.offset();
    return reader;
  }
  if (message.codec() > static_cast<int>(CompressionType::lz4)) {
    return fail(ErrorCode::invalid_record, fmt::format("codec {} in magic {}", message.codec(), message.magic()));
  }
  if (!message.value().has_value()) return fail(ErrorCode::invalid_record, "a wrapper without a value");
  DecompressOptions with_quirk = options;
  with_quirk.any_lz4_header_checksum = message.magic() == 0;
  ASSIGN_OR_RETURN(const std::span<const std::uint8_t> set,
                   decompressor.decompress(message.compression(), *message.value(), with_quirk));
  // All are looked at first: absolute offsets hang on the last one.
  std::size_t whole_bytes = 0;
  std::int64_t last_inside = 0;
  for (;;) {
    ASSIGN_OR_RETURN(const std::optional<LegacyMessageView> inside, next_inside(set.subspan(whole_bytes)));
    if (!inside.has_value()) break;
    if (inside->is_wrapper()) return fail(ErrorCode::invalid_record, "a wrapper in a wrapper");
    if (whole_bytes == 0) reader.first_offset_ = inside->offset();
    last_inside = inside->offset();
    whole_bytes += inside->size_bytes();
  }
  if (whole_bytes == 0) return fail(ErrorCode::invalid_record, "a wrapper with nothing inside");
  reader.left_ = set.first(whole_bytes);
  if (message.magic() == 1) {
    if (__builtin_sub_overflow(message.offset(), last_inside, &reader.offset_shift_) || reader.offset_shift_ < 0) {
      return fail(ErrorCode::invalid_record,
                  fmt::format("offset {} of a wrapper, {} inside", message.offset(), last_inside));
    }
    if (message.timestamp_type() == TimestampType::log_append_time) reader.timestamp_ = message.timestamp();
    if (__builtin_add_overflow(reader.first_offset_, reader.offset_shift_, &reader.first_offset_)) {
      return fail(ErrorCode::invalid_record, "an offset beyond all offsets");
    }
  }
  return reader;
}

bool LegacyReader::next(Record& record) {
  if (left_.empty()) return false;
  const LegacyMessageView message(left_.data());
  record = Record{};
  record.attributes = message.attributes();
  record.offset = static_cast<std::int64_t>(static_cast<std::uint64_t>(message.offset()) +
                                            static_cast<std::uint64_t>(offset_shift_));
  record.timestamp = timestamp_.value_or(message.timestamp());
  record.key = message.key();
  record.value = message.value();
  record.size_bytes = message.size_bytes();
  left_ = left_.subspan(message.size_bytes());
  return true;
}

}  // namespace thalweg::protocol
