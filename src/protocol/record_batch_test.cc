#include "protocol/record_batch.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "base/crc32c.h"
#include "base/text.h"
#include "protocol/record_batch_builder.h"

namespace thalweg::protocol {
namespace {

using Raw = std::vector<std::uint8_t>;

Raw hex(std::string_view text) { return base::hex_decode(text).value(); }
std::span<const std::uint8_t> span_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
std::string text_of(std::span<const std::uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

RecordInput input(std::string_view value, std::int64_t timestamp = 1000) {
  RecordInput record;
  record.timestamp = timestamp;
  record.value = span_of(value);
  return record;
}

Raw batch_of(const BatchOptions& options, std::initializer_list<std::string_view> values) {
  RecordBatchBuilder builder(options);
  for (const std::string_view value : values) builder.append(input(value));
  const base::Bytes bytes = builder.build();
  return {bytes.begin(), bytes.end()};
}

// A batch of one record whose bytes, length and all, are these.
Raw batch_with_section(const Raw& section, std::int32_t count = 1) {
  Raw batch = batch_of({}, {"x"});
  batch.resize(kBatchHeaderSize);
  batch.insert(batch.end(), section.begin(), section.end());
  base::store_be(batch.data() + 8, static_cast<std::int32_t>(batch.size() - kLogOverhead));
  base::store_be(batch.data() + 57, count);
  return batch;
}

Result<std::vector<std::string>> values_of(const Raw& bytes) {
  ASSIGN_OR_RETURN(const BatchView batch, parse_batch(bytes));
  Decompressor decompressor;
  std::vector<std::string> values;
  TRY(for_each_record(batch, decompressor,
                      [&](const Record& record) { values.push_back(record.value ? text_of(*record.value) : "null"); }));
  return values;
}

// one record: attributes 0, timestamp delta 0, offset delta 0, no key, value "v", no headers
TEST(RecordBatch, OneRecordMatchesReferenceBytes) {
  BatchOptions options;
  const Raw batch = batch_of(options, {"v"});
  EXPECT_EQ(base::hex_encode(std::span(batch).subspan(kBatchHeaderSize)), "0e00000001027600");
  EXPECT_EQ(values_of(batch).value(), std::vector<std::string>{"v"});
}

TEST(RecordBatch, FramesAreFoundOneBehindTheOther) {
  const Raw batch = batch_of({}, {"v"});
  Raw two = batch;
  two.insert(two.end(), batch.begin(), batch.end());
  const auto first = peek_batch(two).value();
  ASSERT_TRUE(first.has_value());
  EXPECT_EQ(first->size_bytes, batch.size());
  EXPECT_EQ(first->magic, 2);
  EXPECT_TRUE(peek_batch(std::span(two).subspan(batch.size())).value().has_value());
  for (std::size_t n = 0; n < batch.size(); ++n) {
    EXPECT_FALSE(peek_batch(std::span(batch).first(n)).value().has_value()) << n;
    EXPECT_EQ(parse_batch(std::span(batch).first(n)).error().code, ErrorCode::corrupt_message) << n;
  }
}

TEST(RecordBatch, ImpossibleLengthsAndMagicsAreRefused) {
  const Raw good = batch_of({}, {"v"});
  for (const std::int32_t length : {-1, std::numeric_limits<std::int32_t>::min(), 0, 13}) {
    Raw bad = good;
    base::store_be(bad.data() + 8, length);
    EXPECT_EQ(peek_batch(bad).error().code, ErrorCode::corrupt_message) << length;
    EXPECT_FALSE(parse_batch(bad).has_value()) << length;
  }
  Raw short_one = good;
  base::store_be(short_one.data() + 8, std::int32_t{48});
  EXPECT_FALSE(parse_batch(short_one).has_value());
  for (const std::uint8_t magic : {3, 255}) {
    Raw bad = good;
    bad[kMagicPosition] = magic;
    EXPECT_EQ(peek_batch(bad).error().code, ErrorCode::corrupt_message);
    EXPECT_FALSE(parse_batch(bad).has_value());
  }
  Raw old = good;
  old[kMagicPosition] = 1;
  EXPECT_TRUE(peek_batch(old).has_value());
  EXPECT_FALSE(parse_batch(old).has_value());
}

TEST(RecordBatch, TheChecksumSeesEveryBitFromTheAttributesOn) {
  Raw batch = batch_of({}, {"value"});
  ASSERT_TRUE(validate_crc(BatchView(batch.data())).has_value());
  for (std::size_t i = kCrcPosition; i < batch.size(); ++i) {
    batch[i] ^= 0x10;
    EXPECT_EQ(validate_crc(BatchView(batch.data())).error().code, ErrorCode::corrupt_message) << i;
    batch[i] ^= 0x10;
  }
  patch_base_offset(batch.data(), 77);
  patch_leader_epoch(batch.data(), 5);
  EXPECT_TRUE(validate_crc(BatchView(batch.data())).has_value());
}

TEST(RecordReader, GivesEveryFieldOfARecord) {
  BatchOptions options;
  options.base_offset = 1LL << 40;
  options.producer_id = 9;
  options.producer_epoch = 3;
  options.base_sequence = std::numeric_limits<std::int32_t>::max();
  RecordBatchBuilder builder(options);
  const std::array headers = {RecordHeader{.key = "a", .value = span_of("1")},
                              RecordHeader{.key = "", .value = std::nullopt},
                              RecordHeader{.key = "c", .value = span_of("")}};
  RecordInput full = input("value", 5000);
  full.key = span_of("key");
  full.headers = headers;
  builder.append(full);
  RecordInput bare;
  bare.timestamp = 4000;
  builder.append(bare);
  const base::Bytes bytes = builder.build();

  const BatchView batch = parse_batch(bytes.span()).value();
  RecordReader reader(batch, batch.records());
  Record record;
  ASSERT_TRUE(reader.next(record).value());
  EXPECT_EQ(record.offset, 1LL << 40);
  EXPECT_EQ(record.timestamp, 5000);
  EXPECT_EQ(record.sequence, std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(text_of(*record.key), "key");
  EXPECT_EQ(text_of(*record.value), "value");
  ASSERT_EQ(record.headers.size(), 3);
  std::vector<std::string> seen;
  for (const RecordHeader& header : record.headers) {
    seen.push_back(std::string(header.key) + "=" + (header.value ? text_of(*header.value) : "null"));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"a=1", "=null", "c="}));
  ASSERT_TRUE(reader.next(record).value());
  EXPECT_EQ(record.offset, (1LL << 40) + 1);
  EXPECT_EQ(record.timestamp, 4000);
  EXPECT_EQ(record.sequence, 0) << "sequences wrap";
  EXPECT_FALSE(record.key.has_value());
  EXPECT_FALSE(record.value.has_value());
  EXPECT_TRUE(record.headers.empty());
  EXPECT_FALSE(reader.next(record).value());
}

TEST(RecordReader, GivesTheAppendTimeToAllRecords) {
  Raw batch = batch_of({}, {"a", "b"});
  apply_log_append_time(batch.data(), 123456);
  ASSERT_TRUE(validate_crc(BatchView(batch.data())).has_value());
  Decompressor decompressor;
  int seen = 0;
  ASSERT_TRUE(for_each_record(BatchView(batch.data()), decompressor, [&](const Record& record) {
                EXPECT_EQ(record.timestamp, 123456);
                ++seen;
              }).has_value());
  EXPECT_EQ(seen, 2);
}

TEST(RecordReader, EveryNegativeLengthIsNull) {
  // key -2, value -9; then the value of a header -3
  EXPECT_EQ(values_of(batch_with_section(hex("0c 00 00 00 03 11 00"))).value(), std::vector<std::string>{"null"});
  const auto read = values_of(batch_with_section(hex("14 00 00 00 01 02 76 02 02 6b 05")));
  EXPECT_EQ(read.value(), std::vector<std::string>{"v"});
}

TEST(RecordReader, OverlongVarintsAndSpareBitsPass) {
  EXPECT_TRUE(values_of(batch_with_section(hex("8e8000 00 00 00 01 02 76 00"))).has_value());
  EXPECT_TRUE(values_of(batch_with_section(hex("16 00 00 8080808070 01 02 76 00"))).has_value());
  EXPECT_TRUE(values_of(batch_with_section(hex("20 00 8080808080808080807e 00 01 02 76 00"))).has_value());
  EXPECT_FALSE(values_of(batch_with_section(hex("8e8080808000 00 00 00 01 02 76 00"))).has_value()) << "six bytes";
  EXPECT_FALSE(values_of(batch_with_section(hex("22 00 8080808080808080808000 00 01 02 76 00"))).has_value())
      << "eleven bytes";
}

TEST(RecordReader, RefusesRecordsThatBreakTheFormat) {
  const std::array<std::pair<const char*, const char*>, 14> bad = {{
      {"nothing", ""},
      {"length 0", "00"},
      {"length -1", "01 00 00 00 01 02 76 00"},
      {"length one too many", "10 00 00 00 01 02 76 00"},
      {"a byte behind the headers", "10 00 00 00 01 02 76 00 00"},
      {"length one too few", "0c 00 00 00 01 02 76 00"},
      {"value too long", "0e 00 00 00 01 12 76 00"},
      {"key too long", "0e 00 00 00 7e 02 76 00"},
      {"headers -1", "0e 00 00 00 01 02 76 01"},
      {"headers 9", "0e 00 00 00 01 02 76 12"},
      {"header key null", "12 00 00 00 01 02 76 02 01 01"},
      {"header cut off", "10 00 00 00 01 02 76 02 02"},
      {"header value too long", "14 00 00 00 01 02 76 02 02 6b 08"},
      {"ends in the offset", "06 00 00 80"},
  }};
  for (const auto& [name, section] : bad) {
    const auto read = values_of(batch_with_section(hex(section)));
    ASSERT_FALSE(read.has_value()) << name;
    EXPECT_EQ(read.error().code, ErrorCode::invalid_record) << name;
  }
}

TEST(RecordReader, RefusesACountThatDoesNotHold) {
  const Raw section = hex("0e 00 00 00 01 02 76 00  0e 00 00 02 01 02 77 00");
  EXPECT_EQ(values_of(batch_with_section(section, 2)).value(), (std::vector<std::string>{"v", "w"}));
  EXPECT_FALSE(values_of(batch_with_section(section, 1)).has_value());
  EXPECT_FALSE(values_of(batch_with_section(section, 3)).has_value());
  EXPECT_FALSE(values_of(batch_with_section(section, std::numeric_limits<std::int32_t>::max())).has_value());
  EXPECT_FALSE(values_of(batch_with_section(section, -1)).has_value());
  EXPECT_TRUE(values_of(batch_with_section(section, 0)).value().empty()) << "an empty batch holds nothing";
}

TEST(RecordReader, HostileDeltasWrap) {
  // The least timestamp delta and the greatest offset delta, on a base offset near the end.
  Raw batch = batch_with_section(hex("2e 00 ffffffffffffffffff01 feffffff0f 01 02 76 00"));
  batch[kBatchHeaderSize] = 0x28;
  base::store_be(batch.data(), std::numeric_limits<std::int64_t>::max());
  base::store_be(batch.data() + 27, std::int64_t{-5});
  Decompressor decompressor;
  EXPECT_TRUE(for_each_record(parse_batch(batch).value(), decompressor, [](const Record& record) {
                EXPECT_LT(record.offset, 0);
                EXPECT_GT(record.timestamp, 0);
              }).has_value());
}

TEST(RecordReader, EveryTruncationOfASectionIsRefused) {
  const Raw batch = batch_of({}, {"a", "bb", "ccc"});
  for (std::size_t n = kBatchHeaderSize; n < batch.size(); ++n) {
    Raw cut(batch.begin(), batch.begin() + static_cast<std::ptrdiff_t>(n));
    base::store_be(cut.data() + 8, static_cast<std::int32_t>(n - kLogOverhead));
    EXPECT_FALSE(values_of(cut).has_value()) << n;
  }
}

TEST(RecordBatch, PatchedTimestampsKeepTheChecksumRight) {
  const Raw original = batch_of({}, {"a", "b"});
  Raw batch = original;
  apply_log_append_time(batch.data(), 42);
  const BatchView view(batch.data());
  EXPECT_EQ(view.timestamp_type(), TimestampType::log_append_time);
  EXPECT_EQ(view.max_timestamp(), 42);
  EXPECT_TRUE(validate_crc(view).has_value());
  EXPECT_NE(batch, original);
  apply_create_time(batch.data(), 1000);
  EXPECT_EQ(batch, original) << "and all else as it was";
}

TEST(RecordBatch, ATimestampThatIsRightIsNotWrittenAgain) {
  Raw batch = batch_of({}, {"a"});
  batch[kCrcPosition] ^= 1;  // would be put right if the header were written
  const Raw before = batch;
  apply_create_time(batch.data(), 1000);
  EXPECT_EQ(batch, before);
}

TEST(RecordBatchBuilder, WritesEveryCodecWithAllItsFields) {
  for (int codec = 0; codec <= 4; ++codec) {
    BatchOptions options;
    options.compression = static_cast<CompressionType>(codec);
    options.base_offset = 10;
    options.last_offset = 99;
    options.leader_epoch = 4;
    options.producer_id = 5;
    options.producer_epoch = 6;
    options.base_sequence = 7;
    options.transactional = true;
    options.delete_horizon_ms = 999;
    const Raw batch = batch_of(options, {"one", "two", "three"});
    const BatchView view = parse_batch(batch).value();
    EXPECT_TRUE(validate_crc(view).has_value());
    EXPECT_EQ(view.codec(), codec);
    EXPECT_EQ(view.base_offset(), 10);
    EXPECT_EQ(view.last_offset(), 99);
    EXPECT_EQ(view.leader_epoch(), 4);
    EXPECT_EQ(view.producer_id(), 5);
    EXPECT_EQ(view.producer_epoch(), 6);
    EXPECT_EQ(view.base_sequence(), 7);
    EXPECT_EQ(view.record_count(), 3);
    EXPECT_TRUE(view.is_transactional());
    EXPECT_FALSE(view.is_control());
    EXPECT_TRUE(view.has_delete_horizon());
    EXPECT_EQ(view.base_timestamp(), 999);
    EXPECT_EQ(view.max_timestamp(), 1000);
    EXPECT_EQ(values_of(batch).value(), (std::vector<std::string>{"one", "two", "three"}));
  }
}

TEST(RecordBatchBuilder, TakesRecordsFromAnotherBatchWithGaps) {
  BatchOptions options;
  options.base_offset = 100;
  RecordBatchBuilder first(options);
  const std::array headers = {RecordHeader{.key = "h", .value = span_of("v")}};
  for (int i = 0; i < 5; ++i) {
    RecordInput record = input(std::string_view("01234").substr(static_cast<std::size_t>(i), 1), 1000 + i);
    record.headers = headers;
    first.append(record);
  }
  const base::Bytes original = first.build();
  RecordBatchBuilder second(options);
  Decompressor decompressor;
  ASSERT_TRUE(for_each_record(parse_batch(original.span()).value(), decompressor, [&](const Record& record) {
                if (record.offset % 2 == 0) second.append(record);
              }).has_value());
  const base::Bytes kept = second.build();
  EXPECT_EQ(kept.size(), second.size_bytes());
  std::vector<std::int64_t> offsets;
  ASSERT_TRUE(for_each_record(parse_batch(kept.span()).value(), decompressor, [&](const Record& record) {
                offsets.push_back(record.offset);
                EXPECT_EQ(record.timestamp, 1000 + record.offset - 100);
                EXPECT_EQ(record.headers.begin()->key, "h");
              }).has_value());
  EXPECT_EQ(offsets, (std::vector<std::int64_t>{100, 102, 104}));
}

TEST(RecordBatchBuilder, AnEmptyBatchKeepsItsOffsets) {
  BatchOptions options;
  options.compression = CompressionType::zstd;
  options.base_offset = 10;
  options.last_offset = 14;
  options.producer_id = 7;
  options.producer_epoch = 1;
  options.base_sequence = 3;
  options.empty_max_timestamp = 500;
  const base::Bytes batch = RecordBatchBuilder(options).build();
  const BatchView view = parse_batch(batch.span()).value();
  EXPECT_EQ(view.size_bytes(), kBatchHeaderSize);
  EXPECT_EQ(view.codec(), 0);
  EXPECT_EQ(view.last_offset(), 14);
  EXPECT_EQ(view.last_sequence(), 7);
  EXPECT_EQ(view.max_timestamp(), 500);
  EXPECT_EQ(view.base_timestamp(), kNoTimestamp);
  EXPECT_TRUE(validate_crc(view).has_value());
}

TEST(RecordBatchBuilder, ControlBatchesSayHowATransactionEnded) {
  for (const bool commit : {false, true}) {
    const base::Bytes batch = build_control_batch({.commit = commit,
                                                   .offset = 12,
                                                   .timestamp = 1700000000000,
                                                   .leader_epoch = 3,
                                                   .producer_id = 9000,
                                                   .producer_epoch = 5,
                                                   .coordinator_epoch = 17});
    const BatchView view = parse_batch(batch.span()).value();
    EXPECT_TRUE(view.is_control());
    EXPECT_TRUE(view.is_transactional());
    EXPECT_EQ(view.base_sequence(), kNoSequence);
    RecordReader reader(view, view.records());
    Record record;
    ASSERT_TRUE(reader.next(record).value());
    EXPECT_EQ(control_type(record).value(), commit ? 1 : 0);
    EXPECT_EQ(base::hex_encode(*record.value), "000000000011");
    // The reference's own bytes of this marker.
    if (commit) {
      EXPECT_EQ(base::hex_encode(batch.span()),
                "000000000000000c000000420000000302b8fbd3bc0030000000000000018bcfe568000000018bcfe56800"
                "00000000000023280005ffffffff000000012000000008000000010c00000000001100");
    }
  }
}

TEST(RecordBatch, AControlRecordNeedsAType) {
  Record record;
  EXPECT_FALSE(control_type(record).has_value());
  for (const auto& [key, fine] :
       {std::pair{"000000", false}, {"ffff0001", false}, {"00000001", true}, {"00050063", true}}) {
    const Raw bytes = hex(key);
    record.key = bytes;
    EXPECT_EQ(control_type(record).has_value(), fine) << key;
  }
}

}  // namespace
}  // namespace thalweg::protocol
