#include "protocol/produced_batch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "base/crc32c.h"
#include "base/text.h"
#include "base/varint.h"
#include "protocol/record_batch.h"
#include "protocol/record_batch_builder.h"

namespace thalweg::protocol {
namespace {

using Raw = std::vector<std::uint8_t>;

constexpr std::int64_t kNow = 1700000000000;
constexpr std::array kCodecs = {CompressionType::none, CompressionType::gzip, CompressionType::snappy,
                                CompressionType::lz4, CompressionType::zstd};

Raw hex(std::string_view text) { return base::hex_decode(text).value(); }
std::span<const std::uint8_t> span_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

struct Item {
  std::string_view value = "v";
  std::int64_t timestamp = kNow;
  std::optional<std::string_view> key = {};
  std::optional<std::int64_t> offset = {};
};

void seal(Raw& batch) {
  base::store_be(batch.data() + 8, static_cast<std::int32_t>(batch.size() - kLogOverhead));
  base::store_be(batch.data() + kCrcPosition, base::crc32c(std::span(batch).subspan(kAttributesPosition)));
}

Raw batch_of(const std::vector<Item>& items, BatchOptions options = {}) {
  RecordBatchBuilder builder(options);
  for (const Item& item : items) {
    RecordInput record;
    record.offset = item.offset;
    record.timestamp = item.timestamp;
    record.value = span_of(item.value);
    if (item.key.has_value()) record.key = span_of(*item.key);
    builder.append(record);
  }
  const base::Bytes bytes = builder.build();
  return {bytes.begin(), bytes.end()};
}

BatchOptions with(CompressionType codec) {
  BatchOptions options;
  options.compression = codec;
  return options;
}

// A batch whose records section, before compression, is this.
Raw batch_with_section(CompressionType codec, const Raw& section, std::int32_t count = 1) {
  Raw batch = batch_of({{}});
  batch.resize(kBatchHeaderSize);
  const base::Bytes small = compress(codec, {}, section);
  batch.insert(batch.end(), small.begin(), small.end());
  base::store_be(batch.data() + kAttributesPosition, static_cast<std::int16_t>(codec));
  base::store_be(batch.data() + 23, count - 1);
  base::store_be(batch.data() + 57, count);
  seal(batch);
  return batch;
}

base::Result<BatchSummary, RecordFault> validate(const Raw& batch, ProduceRules rules = {}) {
  if (rules.now_ms == 0) rules.now_ms = kNow;
  static Decompressor decompressor;  // so that every batch follows whatever came before it
  return validate_produced_batch(parse_batch(batch).value(), rules, decompressor);
}

ErrorCode verdict(const Raw& batch, const ProduceRules& rules = {}) {
  const auto result = validate(batch, rules);
  return result.has_value() ? ErrorCode::none : result.error().code;
}

std::vector<std::int32_t> refused_indexes(const RecordFault& fault) {
  std::vector<std::int32_t> indexes;
  indexes.reserve(fault.record_errors.size());
  for (const RecordError& error : fault.record_errors) indexes.push_back(error.batch_index);
  return indexes;
}

using testing::ElementsAre;

// -- the request's own checks
// ------------------------------------------------------------------------------------------

ErrorCode parsed(const Raw& records, std::int16_t version = 11) {
  const auto batch = parse_produced(records, version);
  return batch.has_value() ? ErrorCode::none : batch.error().code;
}

TEST(ParseProduced, TakesOneBatchAndPassesOverATailTooShortForAnother) {
  const Raw batch = batch_of({{}});
  EXPECT_EQ(parsed(batch), ErrorCode::none);
  Raw tail = batch;
  tail.resize(batch.size() + 16);
  EXPECT_EQ(parsed(tail), ErrorCode::none);
  EXPECT_EQ(parse_produced(tail, 11)->size_bytes(), batch.size());
  Raw cut_second = batch;
  cut_second.insert(cut_second.end(), batch.begin(), batch.end() - 1);
  EXPECT_EQ(parsed(cut_second), ErrorCode::none);
}

TEST(ParseProduced, RefusesAllElseWithTheCodesOfKafka) {
  const Raw batch = batch_of({{}});
  for (std::size_t n = 0; n < batch.size(); ++n) {
    EXPECT_EQ(parsed(Raw(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(n))), ErrorCode::invalid_record)
        << n;
  }
  Raw two = batch;
  two.insert(two.end(), batch.begin(), batch.end());
  EXPECT_EQ(parsed(two), ErrorCode::invalid_record);
  Raw rubbish = batch;
  rubbish.resize(batch.size() + 17);
  EXPECT_EQ(parsed(rubbish), ErrorCode::corrupt_message);
  const auto with_magic = [&](std::uint8_t magic) {
    Raw other = batch;
    other[kMagicPosition] = magic;
    return other;
  };
  EXPECT_EQ(parsed(with_magic(0)), ErrorCode::invalid_record);
  EXPECT_EQ(parsed(with_magic(1)), ErrorCode::invalid_record);
  EXPECT_EQ(parsed(with_magic(3)), ErrorCode::corrupt_message);
  EXPECT_EQ(parsed(with_magic(255)), ErrorCode::corrupt_message);
  const auto with_length = [&](std::int32_t length) {
    Raw other = batch;
    base::store_be(other.data() + 8, length);
    return other;
  };
  EXPECT_EQ(parsed(with_length(-1)), ErrorCode::corrupt_message);
  EXPECT_EQ(parsed(with_length(13)), ErrorCode::corrupt_message);
  EXPECT_EQ(parsed(with_length(14)), ErrorCode::corrupt_message);
  EXPECT_EQ(parsed(with_length(48)), ErrorCode::corrupt_message);
  EXPECT_EQ(parsed(with_length(1 << 30)), ErrorCode::invalid_record);
}

TEST(ParseProduced, ZstdNeedsVersion7) {
  const Raw batch = batch_of({{}}, with(CompressionType::zstd));
  for (std::int16_t version = 3; version <= 12; ++version) {
    EXPECT_EQ(parsed(batch, version), version < 7 ? ErrorCode::unsupported_compression_type : ErrorCode::none)
        << version;
  }
  EXPECT_EQ(parsed(batch_of({{}}, with(CompressionType::lz4)), 3), ErrorCode::none);
}

// -- the batch's header
// ------------------------------------------------------------------------------------------------

TEST(ProducedBatch, SumsUpWhatItHolds) {
  for (const CompressionType codec : kCodecs) {
    SCOPED_TRACE(compression_name(codec));
    const Raw batch = batch_of(
        {{.timestamp = kNow - 5}, {.timestamp = kNow + 7}, {.timestamp = kNow}, {.timestamp = kNow + 7}}, with(codec));
    const auto summary = validate(batch);
    ASSERT_TRUE(summary.has_value()) << summary.error().detail;
    EXPECT_EQ(summary->record_count, 4);
    EXPECT_EQ(summary->max_timestamp, kNow + 7);
    EXPECT_EQ(summary->max_timestamp_offset_delta, 1) << "the first of the greatest";
    EXPECT_EQ(summary->decompressed_bytes, 32U);
  }
}

TEST(ProducedBatch, FaultsOfTheHeaderHaveTheCodesOfKafka) {
  const auto changed = [](auto change) {
    Raw batch = batch_of({{}, {}});
    change(batch.data());
    seal(batch);
    return batch;
  };
  using base::store_be;
  EXPECT_EQ(verdict(changed([](std::uint8_t*) {})), ErrorCode::none);
  EXPECT_EQ(verdict(changed([](std::uint8_t* b) { store_be(b, std::int64_t{5}); })), ErrorCode::invalid_record);
  for (const std::int32_t delta : {0, 2, -2, std::numeric_limits<std::int32_t>::max()}) {
    EXPECT_EQ(verdict(changed([&](std::uint8_t* b) { store_be(b + 23, delta); })), ErrorCode::invalid_record) << delta;
  }
  for (const std::int32_t count : {0, -1, 1, 3}) {
    EXPECT_EQ(verdict(changed([&](std::uint8_t* b) { store_be(b + 57, count); })), ErrorCode::invalid_record) << count;
    EXPECT_EQ(verdict(changed([&](std::uint8_t* b) {
                store_be(b + 57, count);
                store_be(b + 23, count - 1);
              })),
              ErrorCode::invalid_record)
        << count;
  }
  EXPECT_EQ(verdict(changed([](std::uint8_t* b) { b[22] |= 0x20; })), ErrorCode::invalid_record) << "control";
  EXPECT_EQ(verdict(changed([](std::uint8_t* b) { b[22] |= 0x40; })), ErrorCode::none) << "delete horizon";
  EXPECT_EQ(verdict(changed([](std::uint8_t* b) { b[21] = 0x7f; })), ErrorCode::none) << "bits without a meaning";
  for (const std::uint8_t codec : {5, 6, 7}) {
    EXPECT_EQ(verdict(changed([&](std::uint8_t* b) { b[22] = codec; })), ErrorCode::unsupported_compression_type);
  }
  EXPECT_EQ(verdict(changed([](std::uint8_t* b) { store_be(b + 43, std::int64_t{9}); })), ErrorCode::invalid_record)
      << "a producer without a sequence";
  EXPECT_EQ(verdict(changed([](std::uint8_t* b) {
              store_be(b + 43, std::int64_t{9});
              store_be(b + 53, 3);
            })),
            ErrorCode::none);
  EXPECT_EQ(verdict(changed([](std::uint8_t* b) { store_be(b + 53, 3); })), ErrorCode::none) << "no producer";
}

TEST(ProducedBatch, FaultsAreFoundInTheOrderOfKafka) {
  Raw batch = batch_of({{.value = "a value of some length"}});
  batch.back() ^= 1;
  EXPECT_EQ(verdict(batch), ErrorCode::corrupt_message);
  EXPECT_EQ(verdict(batch, {.max_batch_bytes = 70}), ErrorCode::message_too_large) << "size before crc";
  base::store_be(batch.data(), std::int64_t{3});
  EXPECT_EQ(verdict(batch, {.max_batch_bytes = 70}), ErrorCode::invalid_record) << "base offset before size";
  Raw control = batch_of({{}});
  control[22] |= 0x20;
  EXPECT_EQ(verdict(control), ErrorCode::corrupt_message) << "crc before all that it covers";
}

TEST(ProducedBatch, ABatchMayBeAsLargeAsTheTopicAllows) {
  const Raw batch = batch_of({{}});
  const auto size = static_cast<std::int64_t>(batch.size());
  EXPECT_EQ(verdict(batch, {.max_batch_bytes = size}), ErrorCode::none);
  EXPECT_EQ(verdict(batch, {.max_batch_bytes = size - 1}), ErrorCode::message_too_large);
}

// -- the records
// -------------------------------------------------------------------------------------------------------

TEST(ProducedBatch, OffsetsCountUpFromZero) {
  for (const CompressionType codec : kCodecs) {
    SCOPED_TRACE(compression_name(codec));
    const Raw first = hex("0e 00 00 00 01 02 76 00");
    EXPECT_EQ(verdict(batch_with_section(codec, first)), ErrorCode::none);
    EXPECT_EQ(verdict(batch_with_section(codec, hex("0e 00 00 02 01 02 76 00"))), ErrorCode::invalid_record);
    EXPECT_EQ(verdict(batch_with_section(codec, hex("0e 00 00 01 01 02 76 00"))), ErrorCode::invalid_record);
    Raw twice = first;
    twice.insert(twice.end(), first.begin(), first.end());
    EXPECT_EQ(verdict(batch_with_section(codec, twice, 2)), ErrorCode::invalid_record);
  }
}

TEST(ProducedBatch, RecordsThatBreakTheFormatAreRefused) {
  const std::array<std::pair<const char*, const char*>, 14> bad = {{
      {"nothing", ""},
      {"length 0", "00"},
      {"length -1", "01 00 00 00 01 02 76 00"},
      {"length of six bytes", "8e8080808000 00 00 00 01 02 76 00"},
      {"length one too many", "10 00 00 00 01 02 76 00"},
      {"a byte behind the headers", "10 00 00 00 01 02 76 00 00"},
      {"a byte behind the record", "0e 00 00 00 01 02 76 00 00"},
      {"length one too few", "0c 00 00 00 01 02 76 00"},
      {"length of a gigabyte", "8080808008 00 00 00 01 02 76 00"},
      {"value too long", "0e 00 00 00 01 12 76 00"},
      {"headers -1", "0e 00 00 00 01 02 76 01"},
      {"headers 9", "0e 00 00 00 01 02 76 12"},
      {"header key null", "12 00 00 00 01 02 76 02 01 01"},
      {"a second record", "0e 00 00 00 01 02 76 00  0e 00 00 02 01 02 76 00"},
  }};
  for (const CompressionType codec : kCodecs) {
    for (const auto& [name, section] : bad) {
      const auto result = validate(batch_with_section(codec, hex(section)));
      ASSERT_FALSE(result.has_value()) << name;
      EXPECT_EQ(result.error().code, ErrorCode::invalid_record) << name;
      EXPECT_TRUE(result.error().record_errors.empty()) << name;
      EXPECT_FALSE(result.error().detail.empty()) << name;
    }
    EXPECT_EQ(verdict(batch_with_section(codec, hex("0e 00 00 00 01 02 76 00"), 2)), ErrorCode::invalid_record);
  }
}

TEST(ProducedBatch, CompressedBytesThatCannotBeReadAreRefused) {
  for (const CompressionType codec : kCodecs) {
    if (codec == CompressionType::none) continue;
    SCOPED_TRACE(compression_name(codec));
    const Raw good = batch_of({{}, {}}, with(codec));
    ASSERT_EQ(verdict(good), ErrorCode::none);
    for (std::size_t n = kBatchHeaderSize; n < good.size(); ++n) {
      Raw cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(n));
      seal(cut);
      EXPECT_EQ(verdict(cut), ErrorCode::invalid_record) << n;
    }
    Raw rubbish = good;
    for (std::size_t i = kBatchHeaderSize; i < rubbish.size(); ++i) rubbish[i] = 0x67;
    seal(rubbish);
    EXPECT_EQ(verdict(rubbish), ErrorCode::invalid_record);
  }
}

TEST(ProducedBatch, ARecordMayBeAsLargeAsTheTopicAllowsOnceDecompressed) {
  for (const CompressionType codec : kCodecs) {
    SCOPED_TRACE(compression_name(codec));
    // A record of fourteen bytes of value has a body of twenty.
    const Raw fits = batch_of({{.value = "14 characters."}}, with(codec));
    const Raw passes = batch_of({{.value = "14 characters."}, {.value = "15 characters.."}}, with(codec));
    EXPECT_EQ(verdict(fits, {.max_record_bytes = 20}), ErrorCode::none);
    const ErrorCode expected = codec == CompressionType::none ? ErrorCode::none : ErrorCode::invalid_record;
    EXPECT_EQ(verdict(passes, {.max_record_bytes = 20}), expected);
  }
}

TEST(ProducedBatch, AllOfABatchIsBoundedToo) {
  const std::string value(1000, 'x');
  for (const CompressionType codec : kCodecs) {
    const Raw batch = batch_of({{.value = value}, {.value = value}}, with(codec));
    EXPECT_EQ(verdict(batch, {.max_decompressed_bytes = 2100}), ErrorCode::none);
    EXPECT_EQ(verdict(batch, {.max_decompressed_bytes = 1900}), ErrorCode::invalid_record);
  }
}

TEST(ProducedBatch, LargeRecordsAreWalkedInLittleMemory) {
  const std::string huge(24 << 20, 'x');
  const std::string large(3 << 20, 'y');
  for (const CompressionType codec : kCodecs) {
    SCOPED_TRACE(compression_name(codec));
    const Raw batch = batch_of({{.value = "small", .key = "k"},
                                {.value = huge, .key = large},
                                {.value = large, .timestamp = kNow + 9, .key = "k"},
                                {.value = "small", .key = "k"}},
                               with(codec));
    Decompressor decompressor;
    ProduceRules rules{.now_ms = kNow, .compacted = true, .max_batch_bytes = 1 << 30};
    const auto summary = validate_produced_batch(parse_batch(batch).value(), rules, decompressor);
    ASSERT_TRUE(summary.has_value()) << summary.error().detail;
    EXPECT_EQ(summary->max_timestamp_offset_delta, 2);
    EXPECT_GE(summary->decompressed_bytes, 30U << 20);
    EXPECT_LT(decompressor.memory_bytes(), 8U << 20);
  }
}

TEST(ProducedBatch, LargeRecordsThatBreakTheFormatAreRefused) {
  // attributes, timestamp, offset, key null, value of 2 MiB, one header k=v
  Raw body = hex("00 00 00 01 80808002");
  body.resize(body.size() + (2 << 20), 'x');
  const Raw tail = hex("02 02 6b 02 76");
  body.insert(body.end(), tail.begin(), tail.end());
  const auto section = [](const Raw& record, std::size_t length) {
    Raw bytes(5);
    bytes.resize(static_cast<std::size_t>(base::put_uvarint(bytes.data(), length << 1) - bytes.data()));
    bytes.insert(bytes.end(), record.begin(), record.end());
    return bytes;
  };
  const ProduceRules rules{.max_batch_bytes = 1 << 30};
  for (const CompressionType codec : kCodecs) {
    SCOPED_TRACE(compression_name(codec));
    EXPECT_EQ(verdict(batch_with_section(codec, section(body, body.size())), rules), ErrorCode::none);
    EXPECT_EQ(verdict(batch_with_section(codec, section(body, body.size() - 1)), rules), ErrorCode::invalid_record);
    EXPECT_EQ(verdict(batch_with_section(codec, section(body, body.size() + 1)), rules), ErrorCode::invalid_record);
    const auto changed = [&](std::size_t from_end, std::uint8_t byte) {
      Raw other = body;
      other[other.size() - from_end] = byte;
      return batch_with_section(codec, section(other, other.size()));
    };
    EXPECT_EQ(verdict(changed(5, 0x01), rules), ErrorCode::invalid_record) << "headers -1";
    EXPECT_EQ(verdict(changed(5, 0x04), rules), ErrorCode::invalid_record) << "headers 2";
    EXPECT_EQ(verdict(changed(4, 0x01), rules), ErrorCode::invalid_record) << "header key null";
    EXPECT_EQ(verdict(changed(2, 0x04), rules), ErrorCode::invalid_record) << "header value too long";
    Raw cut = body;
    cut.resize(cut.size() - 1000);
    EXPECT_EQ(verdict(batch_with_section(codec, section(cut, body.size())), rules), ErrorCode::invalid_record);
  }
}

TEST(ProducedBatch, ABombOfEmptyRecordsEndsAtTheCount) {
  // Zeros are records of length zero, of which not even the first can be.
  const Raw zeros(16 << 20);
  for (const CompressionType codec : kCodecs) {
    if (codec == CompressionType::none) continue;
    EXPECT_EQ(verdict(batch_with_section(codec, zeros, 1000), {.max_batch_bytes = 1 << 30}), ErrorCode::invalid_record);
  }
}

// -- the topic's rules
// -------------------------------------------------------------------------------------------------

TEST(ProducedBatch, ACompactedTopicWantsKeys) {
  for (const CompressionType codec : kCodecs) {
    const Raw batch = batch_of({{}, {.key = "k"}, {.key = ""}, {}}, with(codec));
    EXPECT_EQ(verdict(batch), ErrorCode::none);
    const auto result = validate(batch, {.compacted = true});
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::invalid_record);
    EXPECT_THAT(refused_indexes(result.error()), ElementsAre(0, 3));
    EXPECT_FALSE(result.error().record_errors[0].message.empty());
  }
}

TEST(ProducedBatch, TimestampsStayWithinTheTopicsLimits) {
  const ProduceRules rules{.timestamp_before_max_ms = 1000, .timestamp_after_max_ms = 2000};
  for (const CompressionType codec : kCodecs) {
    const auto at = [&](std::int64_t timestamp) {
      return verdict(batch_of({{.timestamp = timestamp}}, with(codec)), rules);
    };
    EXPECT_EQ(at(kNow - 1000), ErrorCode::none);
    EXPECT_EQ(at(kNow - 1001), ErrorCode::invalid_timestamp);
    EXPECT_EQ(at(kNow + 2000), ErrorCode::none);
    EXPECT_EQ(at(kNow + 2001), ErrorCode::invalid_timestamp);
    EXPECT_EQ(at(kNoTimestamp), ErrorCode::none) << "no timestamp at all is fine";
    EXPECT_EQ(at(-2), ErrorCode::invalid_timestamp);
    EXPECT_EQ(at(std::numeric_limits<std::int64_t>::max()), ErrorCode::invalid_timestamp);
    EXPECT_EQ(at(std::numeric_limits<std::int64_t>::min()), ErrorCode::invalid_timestamp);
    const auto result = validate(batch_of({{.timestamp = 5}, {}, {.timestamp = kNow * 2}}, with(codec)), rules);
    ASSERT_FALSE(result.has_value());
    EXPECT_THAT(refused_indexes(result.error()), ElementsAre(0, 2));
  }
  EXPECT_EQ(verdict(batch_of({{.timestamp = -5}})), ErrorCode::none) << "the default has no limit before";
  EXPECT_EQ(verdict(batch_of({{.timestamp = kNow + 3600001}})), ErrorCode::invalid_timestamp);
}

TEST(ProducedBatch, OneBadTimestampDecidesTheCodeOfTheBatch) {
  const auto result = validate(batch_of({{}, {.timestamp = kNow * 2, .key = "k"}}), {.compacted = true});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code, ErrorCode::invalid_timestamp);
  EXPECT_THAT(refused_indexes(result.error()), ElementsAre(0, 1));
  // A record without its key is not asked for its time.
  const auto both = validate(batch_of({{.timestamp = kNow * 2}}), {.compacted = true});
  EXPECT_EQ(both.error().code, ErrorCode::invalid_record);
}

TEST(ProducedBatch, TheListOfRefusedRecordsIsBounded) {
  const std::vector<Item> many(5000);
  const auto result = validate(batch_of(many), {.compacted = true});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().record_errors.size(), kRecordErrorsMax);
  EXPECT_THAT(result.error().detail, testing::HasSubstr("5000 of 5000"));
}

TEST(ProducedBatch, OnATopicWithAppendTimeTheBrokersTimeCounts) {
  const ProduceRules rules{.now_ms = kNow + 77, .timestamp_type = TimestampType::log_append_time};
  for (const CompressionType codec : kCodecs) {
    Raw batch = batch_of({{.timestamp = 5}, {.timestamp = kNow * 2}}, with(codec));
    const auto summary = validate(batch, rules);
    ASSERT_TRUE(summary.has_value());
    EXPECT_EQ(summary->max_timestamp, kNow + 77);
    EXPECT_EQ(summary->max_timestamp_offset_delta, 0);
    set_produced_timestamps(batch.data(), rules, *summary);
    const BatchView view(batch.data());
    EXPECT_EQ(view.timestamp_type(), TimestampType::log_append_time);
    EXPECT_EQ(view.max_timestamp(), kNow + 77);
    EXPECT_TRUE(validate_crc(view).has_value());
    // What the broker alone may say, a client may not.
    const auto again = validate(batch, rules);
    ASSERT_FALSE(again.has_value());
    EXPECT_EQ(again.error().code, ErrorCode::invalid_timestamp);
    EXPECT_THAT(refused_indexes(again.error()), ElementsAre(0, 1));
  }
}

TEST(ProducedBatch, AWrongMaxTimestampIsPutRight) {
  for (const std::int64_t wrong : {kNow, kNow + 100000, std::int64_t{-7}}) {
    const Raw good = batch_of({{.timestamp = kNow}, {.timestamp = kNow + 5}});
    Raw batch = good;
    base::store_be(batch.data() + 35, wrong);
    seal(batch);
    const auto summary = validate(batch);
    ASSERT_TRUE(summary.has_value());
    EXPECT_EQ(summary->max_timestamp, kNow + 5);
    set_produced_timestamps(batch.data(), {}, *summary);
    EXPECT_EQ(batch, good);
  }
  Raw untimed = batch_of({{.timestamp = -5}, {.timestamp = -1}});
  const auto summary = validate(untimed);
  ASSERT_TRUE(summary.has_value());
  EXPECT_EQ(summary->max_timestamp, kNoTimestamp) << "as Kafka has it for times before 1970";
  EXPECT_EQ(summary->max_timestamp_offset_delta, -1);
}

TEST(ProducedBatch, AppendTimeFromAClientIsTakenBackOnATopicWithCreateTime) {
  const Raw good = batch_of({{.timestamp = kNow}, {.timestamp = kNow + 5}});
  Raw batch = good;
  batch[22] |= 8;
  base::store_be(batch.data() + 35, kNow + 7);
  seal(batch);
  const auto summary = validate(batch);
  ASSERT_TRUE(summary.has_value());
  set_produced_timestamps(batch.data(), {}, *summary);
  EXPECT_EQ(batch, good);
  base::store_be(batch.data() + 35, kNoTimestamp);
  batch[22] |= 8;
  seal(batch);
  EXPECT_EQ(verdict(batch), ErrorCode::invalid_timestamp);
}

}  // namespace
}  // namespace thalweg::protocol
