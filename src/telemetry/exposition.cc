#include "telemetry/exposition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <set>
#include <string_view>

namespace thalweg::telemetry {

namespace {

constexpr std::string_view kInfo = "kafka_client_info";

std::string_view type_name(SeriesKind kind) {
  switch (kind) {
    case SeriesKind::counter:
      return "counter";
    case SeriesKind::histogram:
      return "histogram";
    case SeriesKind::summary:
      return "summary";
    case SeriesKind::gauge:
      break;
  }
  return "gauge";
}

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return fmt::format("{}", value);
}

struct Line {
  const ClientReport* report;
  std::string_view labels;
  const Measurement* measurement;
};

struct Family {
  SeriesKind kind = SeriesKind::gauge;
  std::string_view origin;
  std::vector<Line> lines;
};

class Printer {
 public:
  void head(std::string_view name, std::string_view type, std::string_view help) {
    fmt::format_to(out_, "# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
  }

  void family(std::string_view name, const Family& family) {
    head(name, type_name(family.kind), fmt::format("Pushed by clients: {}.", family.origin));
    for (const Line& line : family.lines) this->line(name, line);
  }

  void info(const ClientReport& report) {
    fmt::format_to(out_, "{}{{{}{}{}}} 1\n", kInfo, report.labels, report.resource.empty() ? "" : ",", report.resource);
  }

  std::string take() && { return std::move(text_); }

 private:
  void line(std::string_view name, const Line& line) {
    const Measurement& m = *line.measurement;
    switch (m.kind) {
      case SeriesKind::histogram: {
        std::uint64_t seen = 0;
        for (std::size_t i = 0; i < m.bounds.size(); ++i) {
          seen += m.buckets[i];
          sample(name, "_bucket", line, fmt::format("le=\"{}\"", number(m.bounds[i])), static_cast<double>(seen));
        }
        sample(name, "_bucket", line, "le=\"+Inf\"", static_cast<double>(m.count));
        break;
      }
      case SeriesKind::summary:
        for (std::size_t i = 0; i < m.bounds.size(); ++i)
          sample(name, "", line, fmt::format("quantile=\"{}\"", number(m.bounds[i])), m.quantile_values[i]);
        break;
      default:
        return sample(name, "", line, "", m.value);
    }
    sample(name, "_sum", line, "", m.value);
    sample(name, "_count", line, "", static_cast<double>(m.count));
  }

  void sample(std::string_view name, std::string_view suffix, const Line& line, std::string_view more, double value) {
    fmt::format_to(out_, "{}{}{{{}", name, suffix, line.report->labels);
    if (!line.labels.empty()) fmt::format_to(out_, ",{}", line.labels);
    if (!more.empty()) fmt::format_to(out_, ",{}", more);
    fmt::format_to(out_, "}} {}\n", number(value));
  }

  std::string text_;
  std::back_insert_iterator<std::string> out_{text_};
};

// Whether the names that the family's lines carry are free, and takes them.
bool claim(std::set<std::string, std::less<>>& names, std::string_view family, SeriesKind kind) {
  std::vector<std::string> wanted = {std::string(family)};
  if (kind == SeriesKind::histogram || kind == SeriesKind::summary)
    for (const char* const suffix : {"_bucket", "_sum", "_count"}) wanted.push_back(std::string(family) + suffix);
  for (const std::string& name : wanted)
    if (names.contains(name)) return false;
  names.insert(wanted.begin(), wanted.end());
  return true;
}

}  // namespace

std::string print_clients(std::vector<std::shared_ptr<const ClientReport>> reports) {
  std::ranges::sort(reports, {}, [](const auto& report) { return std::string_view(report->labels); });
  std::map<std::string_view, Family> families;
  for (const auto& report : reports) {
    for (const auto& [key, series] : report->series) {
      const auto [family, is_new] = families.try_emplace(key.first);
      if (is_new) family->second = {.kind = series.measurement.kind, .origin = series.origin, .lines = {}};
      if (family->second.kind != series.measurement.kind) continue;
      family->second.lines.push_back({report.get(), key.second, &series.measurement});
    }
  }
  Printer printer;
  if (!reports.empty()) printer.head(kInfo, "gauge", "Clients that push metrics, with what they say of themselves.");
  for (const auto& report : reports) printer.info(*report);
  std::set<std::string, std::less<>> names = {std::string(kInfo)};
  for (const auto& [name, family] : families)
    if (claim(names, name, family.kind)) printer.family(name, family);
  return std::move(printer).take();
}

}  // namespace thalweg::telemetry
