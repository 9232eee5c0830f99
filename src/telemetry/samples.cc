#include "telemetry/samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "telemetry/utf8.h"

namespace thalweg::telemetry {

namespace {

namespace otlp = opentelemetry::proto;
using Attributes = google::protobuf::RepeatedPtrField<otlp::common::v1::KeyValue>;
using otlp::metrics::v1::Metric;

constexpr std::string_view kFamilyPrefix = "kafka_client_";
constexpr std::string_view kNamespace = "org.apache.kafka.";
constexpr std::uint32_t kNoValueFlag = 1;

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Of the names of metrics and labels.
std::string plain_name(std::string_view text) {
  std::string name(text);
  for (char& c : name)
    if (!is_letter(c) && !is_digit(c)) c = '_';
  return name;
}

std::string text_of(const otlp::common::v1::AnyValue& value) {
  if (value.has_string_value()) return value.string_value();
  if (value.has_int_value()) return std::to_string(value.int_value());
  if (value.has_bool_value()) return value.bool_value() ? "true" : "false";
  if (value.has_double_value()) return fmt::format("{}", value.double_value());
  return {};
}

// NAME="VALUE",... in the order of the names; attributes that cannot be shown, or are one too many, are left out.
std::string labels_of(const Attributes& attributes, const SampleLimits& limits) {
  std::map<std::string, std::string> labels;
  for (const auto& attribute : attributes) {
    if (labels.size() >= limits.max_labels) break;
    if (attribute.key().empty() || attribute.key().size() > limits.max_name_bytes) continue;
    std::string name = plain_name(attribute.key());
    if (is_digit(name.front()) || name.starts_with("__")) name.insert(0, "label_");
    if (is_client_label(name) || name == "le" || name == "quantile") name.insert(0, "exported_");
    labels.emplace(std::move(name), label_value(text_of(attribute.value()), limits.max_value_bytes));
  }
  std::string text;
  for (const auto& [name, value] : labels)
    fmt::format_to(std::back_inserter(text), "{}{}=\"{}\"", text.empty() ? "" : ",", name, value);
  return text;
}

std::string family_of(const Metric& metric, bool is_counter) {
  std::string_view name = metric.name();
  if (name.starts_with(kNamespace)) name.remove_prefix(kNamespace.size());
  std::string family = std::string(kFamilyPrefix) + plain_name(name);
  if (is_counter && !family.ends_with("_total")) family += "_total";
  return family;
}

// Fit for a help text, where neither quotes nor backslashes nor ends of lines may stand.
std::string origin_of(const Metric& metric, const SampleLimits& limits) {
  std::string origin = metric.name();
  if (!metric.unit().empty()) origin += " (" + metric.unit().substr(0, limits.max_value_bytes) + ")";
  for (char& c : origin)
    if (c < ' ' || c > '~' || c == '\\' || c == '"') c = '?';
  return origin;
}

bool is_delta(otlp::metrics::v1::AggregationTemporality temporality) {
  return temporality == otlp::metrics::v1::AGGREGATION_TEMPORALITY_DELTA;
}

template <class Point>
double number_of(const Point& point) {
  return point.has_as_int() ? static_cast<double>(point.as_int()) : point.as_double();
}

// Goes through metrics and collects their points.
class Flattener {
 public:
  Flattener(Samples& out, const SampleLimits& limits) : out_(out), limits_(limits) {}

  void add(const Metric& metric) {
    if (metric.name().empty() || metric.name().size() > limits_.max_name_bytes) return leave_out(points_of(metric));
    if (metric.has_gauge()) return add_numbers(metric, metric.gauge().data_points(), SeriesKind::gauge, false);
    if (metric.has_sum())
      return add_numbers(metric, metric.sum().data_points(),
                         metric.sum().is_monotonic() ? SeriesKind::counter : SeriesKind::gauge,
                         is_delta(metric.sum().aggregation_temporality()));
    if (metric.has_histogram()) return add_histogram(metric);
    if (metric.has_exponential_histogram()) return add_exponential_histogram(metric);
    if (metric.has_summary()) return add_summary(metric);
  }

 private:
  void leave_out(std::size_t points) { out_.left_out += points; }

  static std::size_t points_of(const Metric& metric) {
    return static_cast<std::size_t>(
        metric.gauge().data_points_size() + metric.sum().data_points_size() + metric.histogram().data_points_size() +
        metric.exponential_histogram().data_points_size() + metric.summary().data_points_size());
  }

  // Room for one more sample of the metric; null where there is none, or the point holds no value.
  template <class Point>
  Sample* next(const Metric& metric, const Point& point, SeriesKind kind) {
    if ((point.flags() & kNoValueFlag) != 0) return nullptr;
    if (out_.samples.size() >= limits_.max_samples) {
      leave_out(1);
      return nullptr;
    }
    Sample& sample = out_.samples.emplace_back();
    sample.family = family_of(metric, kind == SeriesKind::counter);
    sample.labels = labels_of(point.attributes(), limits_);
    sample.origin = origin_of(metric, limits_);
    sample.measurement.kind = kind;
    return &sample;
  }

  template <class Points>
  void add_numbers(const Metric& metric, const Points& points, SeriesKind kind, bool delta) {
    for (const auto& point : points) {
      if (!point.has_as_int() && !point.has_as_double()) continue;
      if (Sample* const sample = next(metric, point, kind)) {
        sample->measurement.value = number_of(point);
        sample->is_delta = delta;
      }
    }
  }

  void add_histogram(const Metric& metric) {
    const bool delta = is_delta(metric.histogram().aggregation_temporality());
    for (const auto& point : metric.histogram().data_points()) {
      Sample* const sample = next(metric, point, SeriesKind::histogram);
      if (sample == nullptr) continue;
      sample->is_delta = delta;
      sample->measurement.value = point.sum();
      sample->measurement.count = point.count();
      // Bounds that do not rise, or do not fit the buckets, leave a histogram of one bucket.
      const auto& bounds = point.explicit_bounds();
      if (static_cast<std::size_t>(bounds.size()) >= limits_.max_buckets ||
          point.bucket_counts_size() != bounds.size() + 1 ||
          std::ranges::adjacent_find(bounds, [](double a, double b) { return !(a < b); }) != bounds.end())
        continue;
      sample->measurement.bounds.assign(bounds.begin(), bounds.end());
      sample->measurement.buckets.assign(point.bucket_counts().begin(), point.bucket_counts().end());
    }
  }

  // Its buckets have no counterpart in the text format; count and sum have.
  void add_exponential_histogram(const Metric& metric) {
    const bool delta = is_delta(metric.exponential_histogram().aggregation_temporality());
    for (const auto& point : metric.exponential_histogram().data_points()) {
      if (Sample* const sample = next(metric, point, SeriesKind::histogram)) {
        sample->is_delta = delta;
        sample->measurement.value = point.sum();
        sample->measurement.count = point.count();
      }
    }
  }

  void add_summary(const Metric& metric) {
    for (const auto& point : metric.summary().data_points()) {
      Sample* const sample = next(metric, point, SeriesKind::summary);
      if (sample == nullptr) continue;
      sample->measurement.value = point.sum();
      sample->measurement.count = point.count();
      std::map<double, double> quantiles;
      for (const auto& at : point.quantile_values())
        if (at.quantile() >= 0 && at.quantile() <= 1 && quantiles.size() < limits_.max_buckets)
          quantiles.emplace(at.quantile(), at.value());
      for (const auto& [quantile, value] : quantiles) {
        sample->measurement.bounds.push_back(quantile);
        sample->measurement.quantile_values.push_back(value);
      }
    }
  }

  Samples& out_;
  const SampleLimits& limits_;
};

}  // namespace

bool is_client_label(std::string_view name) {
  constexpr std::array<std::string_view, 5> kLabels = {"client_id", "client_instance_id", "client_software_name",
                                                       "client_software_version", "listener"};
  return std::ranges::find(kLabels, name) != kLabels.end();
}

std::string label_value(std::string_view text, std::size_t max_bytes) {
  std::string value;
  for (std::size_t i = 0; i < text.size() && value.size() < max_bytes;) {
    const std::size_t size = character_bytes(text, i);
    const bool is_control = size == 1 && (text[i] < ' ' || text[i] == '\x7f') && text[i] != '\n';
    if (size == 0 || is_control) {
      value += '?';
    } else if (text[i] == '\\' || text[i] == '"') {
      value.append({'\\', text[i]});
    } else if (text[i] == '\n') {
      value += "\\n";
    } else {
      value += text.substr(i, size);
    }
    i += std::max<std::size_t>(size, 1);
  }
  return value;
}

Samples flatten(const MetricsData& metrics, const SampleLimits& limits) {
  Samples samples;
  Flattener flattener(samples, limits);
  for (const auto& resource : metrics.resource_metrics()) {
    if (samples.resource.empty()) samples.resource = labels_of(resource.resource().attributes(), limits);
    for (const auto& scope : resource.scope_metrics())
      for (const Metric& metric : scope.metrics()) flattener.add(metric);
  }
  return samples;
}

}  // namespace thalweg::telemetry
