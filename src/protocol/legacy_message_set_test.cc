#include "protocol/legacy_message_set.h"

#include <gtest/gtest.h>
#include <isa-l/crc.h>

#include <limits>
#include <string>
#include <vector>

#include "base/text.h"

namespace thalweg::protocol {
namespace {

using Raw = std::vector<std::uint8_t>;

Raw hex(std::string_view text) { return base::hex_decode(text).value(); }

Raw operator+(Raw a, const Raw& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

template <class T>
Raw big_endian(T value) {
  Raw bytes(sizeof value);
  base::store_be(bytes.data(), value);
  return bytes;
}

Raw sized(const std::optional<Raw>& bytes) {
  if (!bytes.has_value()) return big_endian(std::int32_t{-1});
  return big_endian(static_cast<std::int32_t>(bytes->size())) + *bytes;
}

struct Message {
  int magic = 1;
  std::int64_t offset = 0;
  std::int64_t timestamp = 5;
  int attributes = 0;
  std::optional<Raw> key = {};
  std::optional<Raw> value = Raw{'v'};
};

// A message with these bytes behind its attributes.
Raw raw_message(int magic, int attributes, const Raw& rest, std::int64_t offset = 0) {
  const Raw covered = Raw{static_cast<std::uint8_t>(magic), static_cast<std::uint8_t>(attributes)} + rest;
  const std::uint32_t crc = crc32_gzip_refl(0, covered.data(), covered.size());
  return big_endian(offset) + big_endian(static_cast<std::int32_t>(covered.size() + 4)) + big_endian(crc) + covered;
}

Raw write(const Message& m) {
  const Raw timestamp = m.magic == 0 ? Raw{} : big_endian(m.timestamp);
  return raw_message(m.magic, m.attributes, timestamp + sized(m.key) + sized(m.value), m.offset);
}

Raw wrapper(int magic, const Raw& inside, std::int64_t offset, int attributes = 0,
            CompressionType codec = CompressionType::gzip) {
  const base::Bytes small = compress(codec, {}, inside);
  Message message;
  message.magic = magic;
  message.offset = offset;
  message.timestamp = 70;
  message.attributes = static_cast<int>(codec) | attributes;
  message.value = Raw(small.begin(), small.end());
  return write(message);
}

// Offsets and timestamps of all records, as "7@5 8@6", or the name of the fault.
std::string read(const Raw& bytes) {
  const auto message = parse_legacy_message(bytes);
  if (!message.has_value()) return std::string(error_name(message.error().code));
  Decompressor decompressor;
  std::string seen;
  const auto result = for_each_legacy_record(*message, decompressor, [&](const Record& record) {
    seen += (seen.empty() ? "" : " ") + std::to_string(record.offset) + "@" + std::to_string(record.timestamp);
  });
  return result.has_value() ? seen : std::string(error_name(result.error().code));
}

TEST(LegacyMessage, HasItsFieldsWhereTheFormatSays) {
  Message written;
  written.offset = 20;
  written.timestamp = 1700000000000;
  written.attributes = 8;
  written.key = Raw{'k', 'e', 'y'};
  const Raw bytes = write(written) + hex("00112233");
  const LegacyMessageView message = parse_legacy_message(bytes).value();
  EXPECT_EQ(message.offset(), 20);
  EXPECT_EQ(message.magic(), 1);
  EXPECT_EQ(message.timestamp(), 1700000000000);
  EXPECT_EQ(message.timestamp_type(), TimestampType::log_append_time);
  EXPECT_FALSE(message.is_wrapper());
  EXPECT_EQ(std::string(message.key()->begin(), message.key()->end()), "key");
  EXPECT_EQ(std::string(message.value()->begin(), message.value()->end()), "v");
  EXPECT_EQ(message.size_bytes() + 4, bytes.size());
  EXPECT_TRUE(validate_legacy_crc(message).has_value());
}

TEST(LegacyMessage, OfMagicZeroHasNoTimestamp) {
  Message written;
  written.magic = 0;
  written.attributes = 8;  // means nothing there
  const Raw bytes = write(written);
  const LegacyMessageView message = parse_legacy_message(bytes).value();
  EXPECT_EQ(message.timestamp(), kNoTimestamp);
  EXPECT_EQ(message.timestamp_type(), std::nullopt);
  EXPECT_FALSE(message.key().has_value());
  EXPECT_EQ(read(bytes), "0@-1");
}

TEST(LegacyMessage, TheChecksumSeesEveryBitFromTheMagicOn) {
  Raw bytes = write({});
  for (std::size_t i = 17; i < bytes.size() - 5; ++i) {
    bytes[i] ^= 0x10;
    EXPECT_FALSE(validate_legacy_crc(LegacyMessageView(bytes.data())).has_value()) << i;
    bytes[i] ^= 0x10;
  }
  EXPECT_TRUE(validate_legacy_crc(LegacyMessageView(bytes.data())).has_value());
}

TEST(LegacyMessage, EveryTruncationIsRefused) {
  for (const int magic : {0, 1}) {
    Message written;
    written.magic = magic;
    written.key = Raw{'k'};
    const Raw bytes = write(written);
    for (std::size_t n = 0; n < bytes.size(); ++n) {
      Raw cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
      EXPECT_EQ(read(cut), "CORRUPT_MESSAGE") << n;
      if (n < 17) continue;
      base::store_be(cut.data() + 8, static_cast<std::int32_t>(n) - 12);
      EXPECT_EQ(read(cut), "CORRUPT_MESSAGE") << n;
    }
  }
}

TEST(LegacyMessage, FieldsMustFitButNeedNotFillIt) {
  for (const int magic : {0, 1}) {
    const Raw timestamp = magic == 0 ? Raw{} : big_endian(std::int64_t{5});
    const std::string fine = magic == 0 ? "0@-1" : "0@5";
    const auto with = [&](std::string_view rest) { return read(raw_message(magic, 0, timestamp + hex(rest))); };
    EXPECT_EQ(with("ffffffff 00000001 76 7a7a"), fine);
    EXPECT_EQ(with("fffffffe fffffff0"), fine);
    EXPECT_EQ(with("ffffffff 00000005 76"), "CORRUPT_MESSAGE");
    EXPECT_EQ(with("00000032 00000001 76"), "CORRUPT_MESSAGE");
    EXPECT_EQ(with("7fffffff 00000001 76"), "CORRUPT_MESSAGE");
    EXPECT_EQ(with("00000001 00000001 76"), "CORRUPT_MESSAGE");
  }
}

Raw three(int magic, std::initializer_list<std::int64_t> offsets, int attributes = 0) {
  Raw inside;
  for (const std::int64_t offset : offsets) {
    Message message;
    message.magic = magic;
    message.offset = offset;
    message.timestamp = offset;
    message.attributes = attributes;
    inside = inside + write(message);
  }
  return inside;
}

TEST(LegacyWrapper, OffsetsAreAbsoluteInMagicZeroAndRelativeInMagicOne) {
  for (const CompressionType codec : {CompressionType::gzip, CompressionType::snappy, CompressionType::lz4}) {
    EXPECT_EQ(read(wrapper(0, three(0, {7, 8, 9}), 9, 0, codec)), "7@-1 8@-1 9@-1");
    EXPECT_EQ(read(wrapper(1, three(1, {0, 1, 2}), 9, 0, codec)), "7@0 8@1 9@2");
  }
  EXPECT_EQ(read(wrapper(0, three(0, {0, 1, 2}), 9)), "0@-1 1@-1 2@-1");
  EXPECT_EQ(read(wrapper(1, three(1, {0, 5, 2}), 9)), "7@0 12@5 9@2") << "the last one decides";
  EXPECT_EQ(read(wrapper(1, three(1, {7, 8, 9}), 9)), "7@7 8@8 9@9");
  EXPECT_EQ(read(wrapper(1, three(1, {0, 5}), 2)), "INVALID_RECORD");
  EXPECT_EQ(read(wrapper(1, three(1, {0, std::numeric_limits<std::int64_t>::min()}), 2)), "INVALID_RECORD");
}

TEST(LegacyWrapper, ItsAppendTimeCountsForAllInside) {
  EXPECT_EQ(read(wrapper(1, three(1, {0, 1, 2}), 9, 8)), "7@70 8@70 9@70");
  EXPECT_EQ(read(wrapper(1, three(1, {0, 1, 2}, 8), 9)), "7@0 8@1 9@2");
  EXPECT_EQ(read(wrapper(0, three(0, {7, 8}), 9, 8)), "7@-1 8@-1");
}

TEST(LegacyWrapper, TheLastMessageInsideMayBeCutOff) {
  const Raw inside = three(1, {0, 1});
  for (std::size_t cut = 1; cut < inside.size() / 2; ++cut) {
    const Raw shorter(inside.begin(), inside.end() - static_cast<std::ptrdiff_t>(cut));
    EXPECT_EQ(read(wrapper(1, shorter, 9)), "9@0") << cut;
  }
  EXPECT_EQ(read(wrapper(1, Raw(inside.begin(), inside.begin() + 20), 9)), "INVALID_RECORD") << "none is left";
  EXPECT_EQ(read(wrapper(1, inside + Raw(12), 9)), "CORRUPT_MESSAGE") << "an impossible length is no cut";
}

TEST(LegacyWrapper, RefusesWhatCannotBeInside) {
  const Raw one = write({});
  EXPECT_EQ(read(wrapper(1, {}, 9)), "INVALID_RECORD");
  EXPECT_EQ(read(wrapper(1, wrapper(1, one, 0), 9)), "INVALID_RECORD");
  EXPECT_EQ(read(wrapper(1, one + wrapper(1, one, 1), 9)), "INVALID_RECORD");
  EXPECT_EQ(read(wrapper(1, raw_message(9, 0, sized({}) + sized({})), 9)), "CORRUPT_MESSAGE");
  Message null;
  null.attributes = 1;
  null.value = std::nullopt;
  EXPECT_EQ(read(write(null)), "INVALID_RECORD");
  Message rubbish;
  rubbish.attributes = 1;
  rubbish.value = Raw{'r', 'u', 'b'};
  EXPECT_EQ(read(write(rubbish)), "CORRUPT_MESSAGE");
  for (const int codec : {4, 5, 6, 7}) {
    rubbish.attributes = codec;
    EXPECT_EQ(read(write(rubbish)), "INVALID_RECORD") << codec;
  }
}

TEST(LegacyWrapper, ReadsTheWrongLz4ChecksumOfMagicZeroOnly) {
  for (const int magic : {0, 1}) {
    Message inside;
    inside.magic = magic;
    const base::Bytes right = compress(CompressionType::lz4, {}, write(inside));
    Message message;
    message.magic = magic;
    message.offset = 9;
    message.attributes = 3;
    message.value = Raw(right.begin(), right.end());
    (*message.value)[6] ^= 0x55;
    EXPECT_EQ(read(write(message)), magic == 0 ? "0@-1" : "CORRUPT_MESSAGE");
  }
}

TEST(LegacyWrapper, DecompressionIsBounded) {
  const Raw bytes = wrapper(1, three(1, {0, 1, 2}), 9);
  Decompressor decompressor;
  const auto result = for_each_legacy_record(parse_legacy_message(bytes).value(), decompressor, [](const Record&) {},
                                             {.max_bytes = 50});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::invalid_record);
}

}  // namespace
}  // namespace thalweg::protocol
