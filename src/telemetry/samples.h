// Samples: what one push of a client says, made flat: one value, or one distribution, for each metric and set of
// labels, named as Prometheus names things.
//
// A metric `org.apache.kafka.producer.record.send.total` becomes `kafka_client_producer_record_send_total`. What is no
// letter, digit or underscore becomes an underscore, and what only ever grows ends in `_total`. Values are in the unit
// that the client counts in.
//
// source: the data model of OTLP metrics; Prometheus' text format 0.0.4
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "telemetry/otlp.h"

namespace thalweg::telemetry {

enum class SeriesKind : std::uint8_t { gauge, counter, histogram, summary };

// A value, or a distribution of values.
struct Measurement {
  SeriesKind kind = SeriesKind::gauge;
  double value = 0;                     // of a distribution: the sum
  std::uint64_t count = 0;              // from here on: distributions
  std::vector<double> bounds;           // upper bounds of a histogram's buckets but the last; quantiles of a summary
  std::vector<std::uint64_t> buckets;   // one more than bounds
  std::vector<double> quantile_values;  // as many as bounds
};

struct Sample {
  std::string family;  // kafka_client_...
  std::string labels;  // node_id="1",topic="a": as Prometheus writes them, in the order of their names; or empty
  std::string origin;  // the client's own name of the metric, and its unit where it says one
  Measurement measurement;
  bool is_delta = false;  // what has been added since the push before
};

struct Samples {
  std::vector<Sample> samples;
  std::string resource;      // labels that stand for the client itself, such as its group
  std::size_t left_out = 0;  // samples beyond the limits, or of a kind that cannot be shown
};

struct SampleLimits {
  std::size_t max_samples = 2000;
  std::size_t max_name_bytes = 200;
  std::size_t max_labels = 16;
  std::size_t max_value_bytes = 200;
  std::size_t max_buckets = 64;
};

// Names under which every series of a client says whose it is; labels of its own get `exported_` in front.
bool is_client_label(std::string_view name);

// `text` as the value of a label, without its quotes: escaped, cut to `max_bytes`, with question marks for what is not
// UTF-8 and for control characters.
std::string label_value(std::string_view text, std::size_t max_bytes);

// Nothing of the result refers to `metrics`.
Samples flatten(const MetricsData& metrics, const SampleLimits& limits = {});

}  // namespace thalweg::telemetry
