#include "broker/recompress.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "protocol/record_batch.h"
#include "protocol/record_batch_builder.h"

namespace thalweg::broker {
namespace {

using protocol::BatchView;
using protocol::CompressionType;

struct Seen {
  std::int64_t offset;
  std::int64_t timestamp;
  std::string key;
  std::string value;
  std::int32_t headers;
  friend bool operator==(const Seen&, const Seen&) = default;
};

std::vector<Seen> records_of(BatchView batch) {
  std::vector<Seen> seen;
  protocol::Decompressor decompressor;
  const auto text = [](const auto& bytes) {
    return bytes ? std::string(bytes->begin(), bytes->end()) : std::string("null");
  };
  const auto read = protocol::for_each_record(batch, decompressor, [&](const protocol::Record& record) {
    seen.push_back({record.offset, record.timestamp, text(record.key), text(record.value), record.headers.size()});
  });
  EXPECT_TRUE(read);
  return seen;
}

base::Bytes batch_in(CompressionType codec) {
  protocol::RecordBatchBuilder builder(
      {.compression = codec, .producer_id = 77, .producer_epoch = 3, .base_sequence = 12});
  const std::string value(500, 'v');
  const protocol::RecordHeader header{.key = "h", .value = std::nullopt};
  const auto bytes = [](const std::string& text) {
    return std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  };
  builder.append(protocol::RecordInput{.timestamp = 1000, .value = bytes(value)});
  builder.append(protocol::RecordInput{.timestamp = 900, .key = bytes(value), .headers = std::span(&header, 1)});
  return builder.build();
}

class Recompress : public testing::TestWithParam<std::tuple<CompressionType, CompressionType>> {};

TEST_P(Recompress, KeepsEverythingButTheCodec) {
  const auto [from, to] = GetParam();
  const base::Bytes source = batch_in(from);
  const BatchView before(source.data());
  protocol::Decompressor decompressor;
  protocol::Compressor compressor;
  const auto result = recompress(before, {.codec = to}, decompressor, compressor);
  ASSERT_TRUE(result);
  const BatchView after(result->data());
  ASSERT_EQ(after.size_bytes(), result->size());
  EXPECT_TRUE(protocol::validate_crc(after));
  EXPECT_EQ(after.compression(), to);
  EXPECT_EQ(after.producer_id(), 77);
  EXPECT_EQ(after.producer_epoch(), 3);
  EXPECT_EQ(after.base_sequence(), 12);
  EXPECT_EQ(after.last_offset_delta(), 1);
  EXPECT_EQ(after.max_timestamp(), 1000);
  EXPECT_EQ(records_of(after), records_of(before));
}

constexpr auto kCodecs = {CompressionType::none, CompressionType::gzip, CompressionType::snappy, CompressionType::lz4,
                          CompressionType::zstd};
INSTANTIATE_TEST_SUITE_P(EveryPair, Recompress,
                         testing::Combine(testing::ValuesIn(kCodecs), testing::ValuesIn(kCodecs)));

}  // namespace
}  // namespace thalweg::broker
