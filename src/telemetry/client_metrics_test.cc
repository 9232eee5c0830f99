#include "telemetry/client_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>

#include "telemetry/exposition.h"

namespace thalweg::telemetry {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

ClientFacts client(std::uint8_t number) {
  ClientFacts facts;
  facts.instance_id.bytes[0] = number;
  facts.client_id = "c" + std::to_string(number);
  facts.software_name = "lib";
  facts.software_version = "1.2";
  facts.listener = "PLAINTEXT";
  return facts;
}

Sample number(SeriesKind kind, std::string family, double value, std::string labels = {}, bool delta = false) {
  Sample sample;
  sample.origin = family;
  sample.family = std::move(family);
  sample.labels = std::move(labels);
  sample.measurement.kind = kind;
  sample.measurement.value = value;
  sample.is_delta = delta;
  return sample;
}

Samples of(std::vector<Sample> list) { return {.samples = std::move(list), .resource = {}}; }

std::string labels(int number) {
  std::string id = client(static_cast<std::uint8_t>(number)).instance_id.str();
  return "client_id=\"c" + std::to_string(number) + "\",client_instance_id=\"" + id +
         "\",client_software_name=\"lib\",client_software_version=\"1.2\",listener=\"PLAINTEXT\"";
}

TEST(ClientMetrics, DeltasAddUpAndOtherValuesReplace) {
  ClientMetrics metrics({});
  for (const double value : {2.0, 3.0})
    metrics.take(client(1), 1000,
                 of({number(SeriesKind::counter, "kafka_client_a_total", value, "", true),
                     number(SeriesKind::counter, "kafka_client_b_total", value, "", false),
                     number(SeriesKind::gauge, "kafka_client_c", value, "x=\"1\"")}),
                 1000);
  const std::string page = print_clients(metrics.reports());
  EXPECT_EQ(page,
            "# HELP kafka_client_info Clients that push metrics, with what they say of themselves.\n"
            "# TYPE kafka_client_info gauge\n"
            "kafka_client_info{" +
                labels(1) +
                "} 1\n"
                "# HELP kafka_client_a_total Pushed by clients: kafka_client_a_total.\n"
                "# TYPE kafka_client_a_total counter\n"
                "kafka_client_a_total{" +
                labels(1) +
                "} 5\n"
                "# HELP kafka_client_b_total Pushed by clients: kafka_client_b_total.\n"
                "# TYPE kafka_client_b_total counter\n"
                "kafka_client_b_total{" +
                labels(1) +
                "} 3\n"
                "# HELP kafka_client_c Pushed by clients: kafka_client_c.\n"
                "# TYPE kafka_client_c gauge\n"
                "kafka_client_c{" +
                labels(1) + ",x=\"1\"} 3\n");
}

TEST(ClientMetrics, HistogramsAddUpBucketByBucket) {
  ClientMetrics metrics({});
  for (int i = 0; i < 2; ++i) {
    Sample sample = number(SeriesKind::histogram, "kafka_client_h", 9, "", true);
    sample.measurement.count = 3;
    sample.measurement.bounds = {1, 2.5};
    sample.measurement.buckets = {1, 0, 2};
    metrics.take(client(1), 1000, of({sample}), 0);
  }
  const std::string page = print_clients(metrics.reports());
  EXPECT_THAT(page, HasSubstr("kafka_client_h_bucket{" + labels(1) + ",le=\"1\"} 2\n"));
  EXPECT_THAT(page, HasSubstr("kafka_client_h_bucket{" + labels(1) + ",le=\"2.5\"} 2\n"));
  EXPECT_THAT(page, HasSubstr("kafka_client_h_bucket{" + labels(1) + ",le=\"+Inf\"} 6\n"));
  EXPECT_THAT(page, HasSubstr("kafka_client_h_sum{" + labels(1) + "} 18\n"));
  EXPECT_THAT(page, HasSubstr("kafka_client_h_count{" + labels(1) + "} 6\n"));
}

TEST(ClientMetrics, AHistogramWithOtherBucketsTakesThePlaceOfTheOneBefore) {
  ClientMetrics metrics({});
  const std::pair<std::vector<double>, std::vector<std::uint64_t>> shapes[] = {
      {{}, {}}, {{}, {4}}, {{}, {}}, {{1}, {2, 2}}, {{2}, {3, 1}}};
  for (const auto& [bounds, buckets] : shapes) {
    Sample sample = number(SeriesKind::histogram, "kafka_client_h", 9, "", true);
    sample.measurement.count = 4;
    sample.measurement.bounds = bounds;
    sample.measurement.buckets = buckets;
    metrics.take(client(1), 1000, of({sample}), 0);
  }
  const std::string page = print_clients(metrics.reports());
  EXPECT_THAT(page, HasSubstr("kafka_client_h_bucket{" + labels(1) + ",le=\"2\"} 3\n"));
  EXPECT_THAT(page, HasSubstr("kafka_client_h_count{" + labels(1) + "} 4\n"));
}

TEST(ClientMetrics, ASeriesAndAClientAreGoneAfterTwoIntervals) {
  ClientMetrics metrics({});
  metrics.take(client(1), 1000,
               of({number(SeriesKind::gauge, "kafka_client_a", 1), number(SeriesKind::gauge, "kafka_client_b", 1)}), 0);
  metrics.take(client(1), 1000, of({number(SeriesKind::gauge, "kafka_client_a", 2)}), 3000);
  EXPECT_EQ(metrics.series_count(), 2U);
  metrics.take(client(1), 1000, of({number(SeriesKind::gauge, "kafka_client_a", 3)}), 3001);
  EXPECT_EQ(metrics.series_count(), 1U);
  metrics.expire(6001);
  EXPECT_EQ(metrics.client_count(), 1U);
  metrics.expire(6002);
  EXPECT_EQ(metrics.client_count(), 0U);
  EXPECT_EQ(metrics.series_count(), 0U);
  EXPECT_EQ(metrics.bytes(), 0U);
  EXPECT_THAT(print_clients(metrics.reports()), IsEmpty());
}

TEST(ClientMetrics, WhatWasHandedOutStaysAsItWas) {
  ClientMetrics metrics({});
  metrics.take(client(1), 1000, of({number(SeriesKind::gauge, "kafka_client_a", 1)}), 0);
  const auto before = metrics.reports();
  metrics.take(client(1), 1000, of({number(SeriesKind::gauge, "kafka_client_a", 2)}), 1);
  EXPECT_THAT(print_clients(before), HasSubstr("} 1\n# HELP kafka_client_a"));
  EXPECT_THAT(print_clients(before), HasSubstr("kafka_client_a{" + labels(1) + "} 1\n"));
  EXPECT_THAT(print_clients(metrics.reports()), HasSubstr("kafka_client_a{" + labels(1) + "} 2\n"));
}

TEST(ClientMetrics, AMillionSeriesStayWithinTheLimits) {
  ClientMetrics metrics({.max_clients = 50, .max_series = 1000, .max_series_per_client = 100, .max_bytes = 200'000});
  std::size_t refused = 0;
  std::size_t sent = 0;
  for (int push = 0; push < 1000; ++push) {
    std::vector<Sample> list;
    for (int i = 0; i < 1000; ++i)
      list.push_back(
          number(SeriesKind::gauge, "kafka_client_x" + std::to_string(push), i, "i=\"" + std::to_string(i) + "\""));
    sent += list.size();
    refused += metrics.take(client(static_cast<std::uint8_t>(push % 100)), 1000, of(std::move(list)), push);
  }
  EXPECT_LE(metrics.client_count(), 50U);
  EXPECT_LE(metrics.series_count(), 1000U);
  EXPECT_LE(metrics.bytes(), 200'000U);
  EXPECT_GE(refused, sent - 1000);
  metrics.expire(1'000'000);
  EXPECT_EQ(metrics.bytes(), 0U);
}

TEST(ClientMetrics, NamesThatMeanTwoThingsMeanTheFirst) {
  ClientMetrics metrics({});
  metrics.take(client(1), 1000, of({number(SeriesKind::gauge, "kafka_client_a", 1)}), 0);
  Sample other = number(SeriesKind::summary, "kafka_client_a", 1);
  metrics.take(client(2), 1000, of({other, number(SeriesKind::gauge, "kafka_client_info", 7)}), 0);
  Sample histogram = number(SeriesKind::histogram, "kafka_client_h", 1);
  metrics.take(client(3), 1000, of({histogram, number(SeriesKind::gauge, "kafka_client_h_sum", 7)}), 0);
  const std::string page = print_clients(metrics.reports());
  EXPECT_THAT(page, HasSubstr("# TYPE kafka_client_a gauge\nkafka_client_a{" + labels(1) + "} 1\n#"));
  EXPECT_THAT(page, Not(HasSubstr("} 7\n")));
}

TEST(ClientMetrics, NumbersThatAreNoneAreWrittenAsPrometheusDoes) {
  ClientMetrics metrics({});
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  metrics.take(
      client(1), 1000,
      of({number(SeriesKind::gauge, "kafka_client_a", std::numeric_limits<double>::quiet_NaN()),
          number(SeriesKind::gauge, "kafka_client_b", -kInfinity), number(SeriesKind::gauge, "kafka_client_c", 1e300)}),
      0);
  const std::string page = print_clients(metrics.reports());
  EXPECT_THAT(page, HasSubstr("} NaN\n"));
  EXPECT_THAT(page, HasSubstr("} -Inf\n"));
  EXPECT_THAT(page, HasSubstr("} 1e+300\n"));
}

}  // namespace
}  // namespace thalweg::telemetry
