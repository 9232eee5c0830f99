#include "telemetry/client_metrics.h"

#include <fmt/format.h>

#include <algorithm>

namespace thalweg::telemetry {

namespace {

constexpr std::int64_t kIntervalsKept = 2;
// Clients look at their clocks once in a while, and a push takes its time.
constexpr std::int64_t kGraceMs = 1000;
constexpr std::size_t kMostLabelBytes = 200;

bool is_stale(std::int64_t pushed_ms, std::int64_t interval_ms, std::int64_t now_ms) {
  return now_ms - pushed_ms > kIntervalsKept * interval_ms + kGraceMs;
}

std::string labels_of(const ClientFacts& client) {
  const auto value = [](std::string_view text) { return label_value(text, kMostLabelBytes); };
  return fmt::format(
      "client_id=\"{}\",client_instance_id=\"{}\",client_software_name=\"{}\",client_software_version=\"{}\","
      "listener=\"{}\"",
      value(client.client_id), client.instance_id.str(), value(client.software_name), value(client.software_version),
      value(client.listener));
}

std::size_t size_of(const ClientReport::Key& key, const ClientReport::Series& series) {
  const Measurement& m = series.measurement;
  return sizeof(key) + sizeof(series) + key.first.size() + key.second.size() + series.origin.size() +
         (m.bounds.size() + m.buckets.size() + m.quantile_values.size()) * sizeof(double);
}

// `more` on top of what there is.
void accumulate(Measurement& total, Measurement more) {
  if (total.kind != more.kind || total.bounds != more.bounds || total.buckets.size() != more.buckets.size()) {
    total = std::move(more);
    return;
  }
  total.value += more.value;
  total.count += more.count;
  for (std::size_t i = 0; i < total.buckets.size(); ++i) total.buckets[i] += more.buckets[i];
}

}  // namespace

std::size_t ClientMetrics::take(const ClientFacts& client, std::int64_t interval_ms, Samples samples,
                                std::int64_t now_ms) {
  const auto known = reports_.find(client.instance_id);
  if (known == reports_.end() && reports_.size() >= limits_.max_clients) return samples.samples.size();
  // Those that were handed out may be read right now, so the next one is made beside them.
  auto report =
      known == reports_.end() ? std::make_shared<ClientReport>() : std::make_shared<ClientReport>(*known->second);
  report->labels = labels_of(client);
  report->resource = std::move(samples.resource);
  report->pushed_ms = now_ms;
  report->interval_ms = interval_ms;
  std::size_t refused = 0;
  for (Sample& sample : samples.samples)
    if (!add(*report, std::move(sample), now_ms)) ++refused;
  drop_stale(*report, now_ms);
  reports_[client.instance_id] = std::move(report);
  return refused;
}

bool ClientMetrics::add(ClientReport& report, Sample sample, std::int64_t now_ms) {
  ClientReport::Key key{std::move(sample.family), std::move(sample.labels)};
  if (const auto found = report.series.find(key); found != report.series.end()) {
    ClientReport::Series& series = found->second;
    bytes_ -= size_of(found->first, series);
    if (sample.is_delta) {
      accumulate(series.measurement, std::move(sample.measurement));
    } else {
      series.measurement = std::move(sample.measurement);
    }
    series.pushed_ms = now_ms;
    bytes_ += size_of(found->first, series);
    return true;
  }
  ClientReport::Series series{
      .origin = std::move(sample.origin), .measurement = std::move(sample.measurement), .pushed_ms = now_ms};
  const std::size_t size = size_of(key, series);
  if (report.series.size() >= limits_.max_series_per_client || series_ >= limits_.max_series ||
      bytes_ + size > limits_.max_bytes)
    return false;
  ++series_;
  bytes_ += size;
  report.series.emplace(std::move(key), std::move(series));
  return true;
}

void ClientMetrics::forget_series(const ClientReport::Key& key, const ClientReport::Series& series) {
  --series_;
  bytes_ -= size_of(key, series);
}

bool ClientMetrics::drop_stale(ClientReport& report, std::int64_t now_ms) {
  return std::erase_if(report.series, [&](const auto& entry) {
           const auto& [key, series] = entry;
           if (!is_stale(series.pushed_ms, report.interval_ms, now_ms)) return false;
           forget_series(key, series);
           return true;
         }) > 0;
}

void ClientMetrics::expire(std::int64_t now_ms) {
  std::erase_if(reports_, [&](const auto& entry) {
    const ClientReport& report = *entry.second;
    if (!is_stale(report.pushed_ms, report.interval_ms, now_ms)) return false;
    for (const auto& [key, series] : report.series) forget_series(key, series);
    return true;
  });
}

std::vector<std::shared_ptr<const ClientReport>> ClientMetrics::reports() const {
  std::vector<std::shared_ptr<const ClientReport>> all;
  all.reserve(reports_.size());
  for (const auto& [id, report] : reports_) all.push_back(report);
  return all;
}

}  // namespace thalweg::telemetry
