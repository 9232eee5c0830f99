#include "telemetry/samples.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace thalweg::telemetry {
namespace {

namespace otlp = opentelemetry::proto::metrics::v1;
using testing::ElementsAre;
using testing::IsEmpty;

otlp::Metric& add_metric(MetricsData& data, const std::string& name) {
  if (data.resource_metrics_size() == 0) data.add_resource_metrics()->add_scope_metrics();
  otlp::Metric& metric = *data.mutable_resource_metrics(0)->mutable_scope_metrics(0)->add_metrics();
  metric.set_name(name);
  return metric;
}

template <class Point>
void attribute(Point& point, const std::string& key, const std::string& value) {
  auto& added = *point.add_attributes();
  added.set_key(key);
  added.mutable_value()->set_string_value(value);
}

TEST(Samples, ACounterIsNamedAndKnowsWhetherItIsADelta) {
  MetricsData data;
  otlp::Sum& sum = *add_metric(data, "org.apache.kafka.producer.record.send").mutable_sum();
  sum.set_is_monotonic(true);
  sum.set_aggregation_temporality(otlp::AGGREGATION_TEMPORALITY_DELTA);
  sum.add_data_points()->set_as_int(-7);
  const Samples samples = flatten(data);
  ASSERT_EQ(samples.samples.size(), 1U);
  EXPECT_EQ(samples.samples[0].family, "kafka_client_producer_record_send_total");
  EXPECT_EQ(samples.samples[0].origin, "org.apache.kafka.producer.record.send");
  EXPECT_EQ(samples.samples[0].measurement.kind, SeriesKind::counter);
  EXPECT_EQ(samples.samples[0].measurement.value, -7);
  EXPECT_TRUE(samples.samples[0].is_delta);
}

TEST(Samples, TotalIsNotSaidTwiceAndOtherNamespacesStay) {
  MetricsData data;
  for (const char* const name : {"org.apache.kafka.consumer.x.total", "com.example-1:y"}) {
    otlp::Sum& sum = *add_metric(data, name).mutable_sum();
    sum.set_is_monotonic(true);
    sum.add_data_points()->set_as_double(1);
  }
  const Samples samples = flatten(data);
  ASSERT_EQ(samples.samples.size(), 2U);
  EXPECT_EQ(samples.samples[0].family, "kafka_client_consumer_x_total");
  EXPECT_EQ(samples.samples[1].family, "kafka_client_com_example_1_y_total");
}

TEST(Samples, LabelsAreSortedCleanedAndNeverTheClientsOwn) {
  MetricsData data;
  otlp::Gauge& gauge = *add_metric(data, "org.apache.kafka.x").mutable_gauge();
  otlp::NumberDataPoint& point = *gauge.add_data_points();
  point.set_as_double(1.5);
  attribute(point, "topic", "a\"b\\c\nd\xff\xc3\xa9");
  attribute(point, "node-id", "1");
  attribute(point, "node_id", "2");
  attribute(point, "client_id", "me");
  attribute(point, "le", "3");
  attribute(point, "9th", "n");
  attribute(point, "__name__", "evil");
  attribute(point, "", "nobody");
  const Samples samples = flatten(data);
  ASSERT_EQ(samples.samples.size(), 1U);
  EXPECT_EQ(samples.samples[0].labels,
            "exported_client_id=\"me\",exported_le=\"3\",label_9th=\"n\",label___name__=\"evil\",node_id=\"1\","
            "topic=\"a\\\"b\\\\c\\nd?\xc3\xa9\"");
}

TEST(Samples, TextThatIsNoUtf8IsShownWithQuestionMarks) {
  EXPECT_EQ(label_value("\xc0\xaf|\xed\xa0\x80|\xf4\x90\x80\x80|\xe2\x82|\xf0\x9f\x98\x80", 100),
            "??|???|????|??|\xf0\x9f\x98\x80");
  EXPECT_EQ(label_value("abc", 2), "ab");
}

TEST(Samples, AHistogramKeepsItsBucketsWhereTheyFit) {
  MetricsData data;
  otlp::Histogram& histogram = *add_metric(data, "h").mutable_histogram();
  histogram.set_aggregation_temporality(otlp::AGGREGATION_TEMPORALITY_CUMULATIVE);
  for (const bool fits : {true, false}) {
    otlp::HistogramDataPoint& point = *histogram.add_data_points();
    point.set_count(3);
    point.set_sum(9);
    point.add_explicit_bounds(1);
    point.add_explicit_bounds(fits ? 2 : 1);
    for (const std::uint64_t n : {1, 0, 2}) point.add_bucket_counts(n);
  }
  const Samples samples = flatten(data);
  ASSERT_EQ(samples.samples.size(), 2U);
  EXPECT_EQ(samples.samples[0].measurement.kind, SeriesKind::histogram);
  EXPECT_EQ(samples.samples[0].measurement.count, 3U);
  EXPECT_EQ(samples.samples[0].measurement.value, 9);
  EXPECT_THAT(samples.samples[0].measurement.bounds, ElementsAre(1, 2));
  EXPECT_THAT(samples.samples[0].measurement.buckets, ElementsAre(1, 0, 2));
  EXPECT_FALSE(samples.samples[0].is_delta);
  EXPECT_THAT(samples.samples[1].measurement.bounds, IsEmpty());
  EXPECT_THAT(samples.samples[1].measurement.buckets, IsEmpty());
}

TEST(Samples, ASummaryKeepsItsQuantilesInOrder) {
  MetricsData data;
  otlp::SummaryDataPoint& point = *add_metric(data, "s").mutable_summary()->add_data_points();
  point.set_count(2);
  for (const double quantile : {0.9, 0.5, 7.0, std::numeric_limits<double>::quiet_NaN()}) {
    auto& at = *point.add_quantile_values();
    at.set_quantile(quantile);
    at.set_value(quantile * 10);
  }
  const Samples samples = flatten(data);
  ASSERT_EQ(samples.samples.size(), 1U);
  EXPECT_THAT(samples.samples[0].measurement.bounds, ElementsAre(0.5, 0.9));
  EXPECT_THAT(samples.samples[0].measurement.quantile_values, ElementsAre(5, 9));
}

TEST(Samples, WhatIsBeyondTheLimitsIsCounted) {
  MetricsData data;
  otlp::Gauge& gauge = *add_metric(data, "g").mutable_gauge();
  for (int i = 0; i < 5; ++i) gauge.add_data_points()->set_as_int(i);
  gauge.add_data_points()->set_flags(1);
  add_metric(data, std::string(300, 'x')).mutable_gauge()->add_data_points()->set_as_int(1);
  const Samples samples = flatten(data, {.max_samples = 3});
  EXPECT_EQ(samples.samples.size(), 3U);
  EXPECT_EQ(samples.left_out, 3U);
}

TEST(Samples, TheResourceSaysWhatTheClientSaysOfItself) {
  MetricsData data;
  add_metric(data, "g");
  attribute(*data.mutable_resource_metrics(0)->mutable_resource(), "group_id", "g1");
  EXPECT_EQ(flatten(data).resource, "group_id=\"g1\"");
}

TEST(Samples, TheUnitIsTold) {
  MetricsData data;
  otlp::Metric& metric = add_metric(data, "g\"");
  metric.set_unit("ms\n");
  metric.mutable_gauge()->add_data_points()->set_as_int(1);
  EXPECT_EQ(flatten(data).samples[0].origin, "g? (ms?)");
}

}  // namespace
}  // namespace thalweg::telemetry
