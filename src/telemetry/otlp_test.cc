#include "telemetry/otlp.h"

#include <gtest/gtest.h>

#include <string>

#include "protocol/compression.h"

namespace thalweg::telemetry {
namespace {

using protocol::CompressionType;
using protocol::ErrorCode;

// resource_metrics { scope_metrics { metrics { name: "a" unit: "1" gauge { data_points { as_int: 7 } } } } }
constexpr std::uint8_t kWire[] = {0x0a, 0x17, 0x12, 0x15, 0x12, 0x13, 0x0a, 0x01, 'a', 0x1a, 0x01, '1', 0x2a,
                                  0x0b, 0x0a, 0x09, 0x31, 7,    0,    0,    0,    0,   0,    0,    0};

TEST(Otlp, ReadsMetricsAtThePublishedFieldNumbers) {
  const auto metrics = decode_metrics(0, kWire);
  ASSERT_TRUE(metrics) << metrics.error().detail;
  ASSERT_EQ(metrics->resource_metrics_size(), 1);
  ASSERT_EQ(metrics->resource_metrics(0).scope_metrics_size(), 1);
  ASSERT_EQ(metrics->resource_metrics(0).scope_metrics(0).metrics_size(), 1);
  const auto& metric = metrics->resource_metrics(0).scope_metrics(0).metrics(0);
  EXPECT_EQ(metric.name(), "a");
  EXPECT_EQ(metric.unit(), "1");
  ASSERT_EQ(metric.gauge().data_points_size(), 1);
  EXPECT_EQ(metric.gauge().data_points(0).as_int(), 7);
  EXPECT_EQ(metrics->SerializeAsString(), std::string(reinterpret_cast<const char*>(kWire), sizeof kWire));
}

TEST(Otlp, ReadsEveryCodec) {
  for (std::int8_t codec = 0; codec <= 4; ++codec) {
    const base::Bytes payload = protocol::compress(static_cast<CompressionType>(codec), std::nullopt, kWire);
    const auto metrics = decode_metrics(codec, payload.span());
    ASSERT_TRUE(metrics) << "codec " << int{codec};
    EXPECT_EQ(metrics->resource_metrics(0).scope_metrics(0).metrics(0).name(), "a");
  }
}

TEST(Otlp, RefusesCodecsThatDoNotExist) {
  for (const std::int8_t codec : {-1, 5, 127}) {
    const auto metrics = decode_metrics(codec, kWire);
    ASSERT_FALSE(metrics);
    EXPECT_EQ(metrics.error().code, ErrorCode::unsupported_compression_type);
  }
}

TEST(Otlp, RefusesWhatIsCutOffOrNotCompressed) {
  for (std::size_t size = 1; size < sizeof kWire; ++size)
    EXPECT_FALSE(decode_metrics(0, std::span(kWire).first(size))) << size;
  for (std::int8_t codec = 1; codec <= 4; ++codec) {
    const auto metrics = decode_metrics(codec, kWire);
    ASSERT_FALSE(metrics) << int{codec};
    EXPECT_EQ(metrics.error().code, ErrorCode::invalid_record);
  }
}

TEST(Otlp, RefusesMoreBytesThanAreAllowed) {
  const std::vector<std::uint8_t> zeros(100'000);
  for (std::int8_t codec = 0; codec <= 4; ++codec) {
    const base::Bytes payload = protocol::compress(static_cast<CompressionType>(codec), std::nullopt, zeros);
    EXPECT_TRUE(decompress_payload(codec, payload.span(), {.max_bytes = 100'000})) << int{codec};
    const auto refused = decompress_payload(codec, payload.span(), {.max_bytes = 99'999});
    ASSERT_FALSE(refused) << int{codec};
    EXPECT_EQ(refused.error().code, ErrorCode::telemetry_too_large);
  }
}

TEST(Otlp, WhatIsPassedOnSaysWhoseItIs) {
  ClientFacts client;
  client.client_id = "c\xff";
  client.listener = "PLAINTEXT";
  const auto passed_on = encode_with(client, *decode_metrics(0, kWire));
  ASSERT_TRUE(passed_on);
  MetricsData read;
  ASSERT_TRUE(read.ParseFromString(*passed_on));
  const auto& attributes = read.resource_metrics(0).resource().attributes();
  ASSERT_EQ(attributes.size(), 7);
  EXPECT_EQ(attributes[0].key(), "client_id");
  EXPECT_EQ(attributes[0].value().string_value(), "c?");
  EXPECT_EQ(attributes[6].key(), "listener");
  EXPECT_EQ(read.resource_metrics(0).scope_metrics(0).metrics(0).name(), "a");
  MetricsData many;
  for (int i = 0; i < 65; ++i) many.add_resource_metrics();
  EXPECT_FALSE(encode_with(client, many));
}

}  // namespace
}  // namespace thalweg::telemetry
