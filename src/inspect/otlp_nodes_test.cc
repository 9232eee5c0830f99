#include "inspect/otlp_nodes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/varint.h"
#include "inspect/catalog.h"
#include "inspect/decode.h"
#include "inspect/tree.h"
#include "protocol/compression.h"
#include "telemetry/otlp.h"

namespace thalweg::inspect {
namespace {

using telemetry::MetricsData;
using testing::HasSubstr;

// One metric of each kind, as clients and other senders of OTLP make them.
MetricsData every_kind() {
  MetricsData data;
  auto* resource = data.add_resource_metrics();
  auto* attribute = resource->mutable_resource()->add_attributes();
  attribute->set_key("transactional_id");
  attribute->mutable_value()->set_string_value("tx-\"1\"");
  resource->mutable_resource()->add_attributes()->mutable_value()->mutable_array_value()->add_values()->set_bool_value(
      true);
  auto* scope = resource->add_scope_metrics();
  scope->mutable_scope()->set_name("clients");
  auto* gauge = scope->add_metrics();
  gauge->set_name("org.apache.kafka.producer.record.queue.time.avg");
  gauge->mutable_gauge()->add_data_points()->set_as_double(1.5);
  auto* sum = scope->add_metrics()->mutable_sum();
  sum->set_is_monotonic(true);
  sum->set_aggregation_temporality(opentelemetry::proto::metrics::v1::AGGREGATION_TEMPORALITY_DELTA);
  auto* point = sum->add_data_points();
  point->set_as_int(-7);
  point->set_time_unix_nano(1'700'000'000'123'456'789);
  auto* histogram = scope->add_metrics()->mutable_histogram()->add_data_points();
  for (const std::uint64_t count : {3U, 0U, 300U}) histogram->add_bucket_counts(count);
  histogram->add_explicit_bounds(0.25);
  auto* exponential = scope->add_metrics()->mutable_exponential_histogram()->add_data_points();
  exponential->set_scale(-3);
  exponential->mutable_positive()->add_bucket_counts(300);
  scope->add_metrics()->mutable_summary()->add_data_points()->add_quantile_values()->set_quantile(0.99);
  return data;
}

base::Bytes bytes_of(const MetricsData& data) { return base::Bytes::copy_of(data.SerializeAsString()); }

Walk walk_text(const std::string& bytes) { return walk_metrics(base::Bytes::copy_of(bytes)); }

TEST(OtlpNodes, ShowsEveryFieldWithNameTypeAndPlace) {
  const base::Bytes bytes = bytes_of(every_kind());
  const Walk walk = walk_metrics(bytes);
  ASSERT_FALSE(walk.fault) << walk.fault->path << ": " << walk.fault->reason;
  EXPECT_TRUE(covers(walk.root));
  EXPECT_EQ(walk.root.size, bytes.size());
  const std::string text = tree_text(walk.root);
  EXPECT_THAT(text, HasSubstr("MetricsData message [0x0000, "));
  EXPECT_THAT(text, HasSubstr("resource_metrics[0] ResourceMetrics ["));
  EXPECT_THAT(text, HasSubstr(R"(key string = "transactional_id" (field 1, len=16))"));
  EXPECT_THAT(text, HasSubstr(R"(string_value string = "tx-\"1\"" (field 1, len=6))"));
  EXPECT_THAT(text, HasSubstr("bool_value bool = true (field 2)"));
  EXPECT_THAT(text, HasSubstr("as_double double = 1.5 (field 4)"));
  EXPECT_THAT(text, HasSubstr("as_int sfixed64 = -7 (field 6)"));
  EXPECT_THAT(text, HasSubstr("time_unix_nano fixed64 = 1700000000123456789 (field 3, 2023-11-14T22:13:20.123Z)"));
  EXPECT_THAT(text, HasSubstr("aggregation_temporality AggregationTemporality = 1 (field 2, "
                              "AGGREGATION_TEMPORALITY_DELTA)"));
  EXPECT_THAT(text, HasSubstr("bucket_counts []fixed64 = 3 elements"));
  EXPECT_THAT(text, HasSubstr("[2] fixed64 = 300"));
  EXPECT_THAT(text, HasSubstr("bucket_counts []uint64 = 1 element"));
  EXPECT_THAT(text, HasSubstr("scale sint32 = -3 (field 6)"));
  EXPECT_THAT(text, HasSubstr("metrics[4] Metric ["));
  EXPECT_THAT(text, HasSubstr("quantile double = 0.99 (field 1)"));
}

TEST(OtlpNodes, ShowsFieldsThatTheDescriptorsLack) {
  // Numbers 100 of every wire type; then resource_metrics as a number, which is another field to protobuf.
  const std::string bytes(
      "\xa0\x06\x05"
      "\xa2\x06\x02hi"
      "\xa1\x06\1\0\0\0\0\0\0\0"
      "\xa5\x06\2\0\0\0"
      "\xa3\x06\x08\x01\xa4\x06"
      "\x08\x2a",
      32);
  const Walk walk = walk_text(bytes);
  ASSERT_FALSE(walk.fault) << walk.fault->reason;
  EXPECT_TRUE(covers(walk.root));
  EXPECT_EQ(tree_text(walk.root),
            "MetricsData message [0x0000, 32B] metrics of OTLP\n"
            "+-- unknown number = 5 (field 100) [0x0000, 3B]\n"
            "+-- unknown bytes = 6869 (field 100, len=2) [0x0003, 5B]\n"
            "+-- unknown number = 1 (field 100) [0x0008, 10B]\n"
            "+-- unknown number = 2 (field 100) [0x0012, 6B]\n"
            "+-- unknown group = 6 bytes (field 100) [0x0018, 6B]\n"
            "+-- unknown number = 42 (field 1) [0x001e, 2B]\n");
}

TEST(OtlpNodes, ShowsTheTreeUpToTheFault) {
  const base::Bytes bytes = bytes_of(every_kind());
  const Walk whole = walk_metrics(bytes);
  std::size_t faults = 0;
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    const Walk walk = walk_metrics(bytes.first(size));
    MetricsData data;
    EXPECT_EQ(!walk.fault.has_value(), data.ParseFromArray(bytes.data(), static_cast<int>(size))) << size;
    if (!walk.fault) continue;
    ++faults;
    EXPECT_LE(walk.fault->offset, size);
    EXPECT_FALSE(walk.fault->path.empty());
  }
  EXPECT_GT(faults, bytes.size() / 2);
  const Walk walk = walk_text("\x0a\x06\x12\x04\x12\x02\x0a\x09");
  ASSERT_TRUE(walk.fault);
  EXPECT_EQ(walk.fault->path, "resource_metrics[0].scope_metrics[0].metrics[0].name");
  EXPECT_EQ(walk.fault->offset, 7U);
  EXPECT_EQ(walk.fault->reason, "a length of 9, 0 bytes left");
}

TEST(OtlpNodes, RefusesWhatProtobufRefuses) {
  for (const std::string& bytes :
       {std::string("\x00", 1), std::string("\x03\x04"), std::string("\x0c"), std::string("\x0e\x01"),
        std::string("\x0a\xff\xff\xff\xff\x0f"), std::string("\xa3\x06\xac\x06"), std::string("\x0a\x03\x1a\x01\xff"),
        std::string("\xa0\x06\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01")}) {
    MetricsData data;
    EXPECT_FALSE(data.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())));
    EXPECT_TRUE(walk_text(bytes).fault);
  }
}

TEST(OtlpNodes, GoesAsDeepAsProtobufGoes) {
  for (int depth = 1; depth < 120; ++depth) {
    MetricsData data;
    auto* value = data.add_resource_metrics()->mutable_resource()->add_attributes()->mutable_value();
    for (int i = 0; i < depth; ++i) value = value->mutable_array_value()->add_values();
    const base::Bytes bytes = bytes_of(data);
    MetricsData parsed;
    EXPECT_EQ(!walk_metrics(bytes).fault.has_value(),
              parsed.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
        << depth;
  }
}

TEST(OtlpNodes, AgreesWithProtobufOnSpoiltBytes) {
  google::protobuf::SetLogHandler(nullptr);
  const std::string sound = every_kind().SerializeAsString();
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): the same bytes in every run
  std::size_t refused = 0;
  for (int i = 0; i < 5000; ++i) {
    std::string bytes = sound;
    for (std::uint32_t changes = 1 + random() % 4; changes > 0; --changes)
      bytes[random() % bytes.size()] = static_cast<char>(random());
    MetricsData data;
    const bool parses = data.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()));
    const Walk walk = walk_text(bytes);
    refused += parses ? 0 : 1;
    ASSERT_EQ(walk.fault.has_value(), !parses) << "case " << i;
    if (parses) ASSERT_TRUE(covers(walk.root)) << "case " << i;
  }
  EXPECT_GT(refused, 1000U);
  EXPECT_LT(refused, 4900U);
}

// A PushTelemetry request v0 without header: instance id, subscription id, terminating, codec, metrics, no tagged
// fields.
base::Bytes push_request(std::int8_t codec, const base::Bytes& metrics) {
  std::vector<std::uint8_t> body(16, 1);
  for (const int byte : {0, 0, 0, 5, 0}) body.push_back(static_cast<std::uint8_t>(byte));
  body.push_back(static_cast<std::uint8_t>(codec));
  std::uint8_t length[base::kMaxVarint64Bytes];
  const std::uint8_t* end = base::put_uvarint(length, metrics.size() + 1);
  body.insert(body.end(), static_cast<const std::uint8_t*>(length), end);
  body.insert(body.end(), metrics.begin(), metrics.end());
  body.push_back(0);
  return base::Bytes::copy_of(body);
}

Decoded decode_push(std::int8_t codec, const base::Bytes& metrics) {
  const Catalog& catalog = Catalog::built_in();
  const Envelope envelope{.message = &catalog.find("PushTelemetryRequest")->message, .version = 0};
  return decode(catalog, envelope, push_request(codec, metrics), {.telemetry = open_telemetry});
}

TEST(OtlpNodes, OpensWhatARequestCarries) {
  const base::Bytes plain = bytes_of(every_kind());
  for (std::int8_t codec = 0; codec <= 4; ++codec) {
    const Decoded decoded = decode_push(
        codec, protocol::compress(static_cast<protocol::CompressionType>(codec), std::nullopt, plain.span()));
    ASSERT_FALSE(decoded.fault) << decoded.fault->reason;
    EXPECT_TRUE(covers(decoded.tree));
    const std::string text = tree_text(decoded.tree);
    EXPECT_THAT(text, HasSubstr("MetricsData message ["));
    EXPECT_THAT(text, HasSubstr("name string = \"org.apache.kafka.producer.record.queue.time.avg\""));
  }
  const std::string damaged = tree_text(decode_push(0, plain.first(plain.size() - 1)).tree);
  EXPECT_THAT(damaged, HasSubstr("damaged: resource_metrics[0]"));
}

TEST(OtlpNodes, KeepsNoMoreNodesThanAllowed) {
  MetricsData data;
  for (int i = 0; i < 1000; ++i) data.add_resource_metrics()->set_schema_url("x");
  const Walk walk = walk_metrics(bytes_of(data), {.max_nodes = 50});
  EXPECT_FALSE(walk.fault);
  EXPECT_TRUE(covers(walk.root));
  EXPECT_LT(count_nodes(walk.root), 60U);
  EXPECT_THAT(tree_text(walk.root), HasSubstr("more bytes = "));
}

}  // namespace
}  // namespace thalweg::inspect
