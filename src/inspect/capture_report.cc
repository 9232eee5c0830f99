#include "inspect/capture_report.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iterator>
#include <utility>

#include "inspect/value_text.h"
#include "protocol/error.h"

namespace thalweg::inspect {

namespace {

constexpr std::int64_t kNsPerUs = 1'000;
constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kNsPerSecond = 1'000'000'000;

// Columns of lines that can be millions: their widths, of what is most often narrower; wider values push the rest.
constexpr std::size_t kTimeWidth = 27;
constexpr std::size_t kClientWidth = 21;
constexpr std::size_t kIdWidth = 20;
constexpr std::size_t kApiWidth = 28;
constexpr std::size_t kSizeWidth = 9;
constexpr std::size_t kLatencyWidth = 11;
constexpr std::string_view kBetween = "  ";
constexpr std::string_view kNothing = "-";
constexpr const char* kRow = "{:<24}  {:<15}  {:<28}  {:>9}  {:>7}  {:>10}  {:>13}  {:>14}  {:>11}  {:>11}  {:>11}\n";

// Ends the column that begins at `begin`.
void end_left(std::string& line, std::size_t begin, std::size_t width) {
  line.append(width - std::min(width, line.size() - begin) + kBetween.size(), ' ');
}
void left(std::string& line, std::string_view text, std::size_t width) {
  const std::size_t begin = line.size();
  line += text;
  end_left(line, begin, width);
}
void right(std::string& line, std::string_view text, std::size_t width) {
  line.append(width - std::min(width, text.size()), ' ');
  line += text;
  line += kBetween;
}

void add_number(std::string& text, std::uint64_t value) {
  const fmt::format_int digits(value);
  text.append(digits.data(), digits.size());
}
// With zeros in front, three or six digits.
void add_fraction(std::string& text, std::uint64_t value, std::size_t digits) {
  const fmt::format_int written(value);
  text.append(digits - std::min(digits, written.size()), '0');
  text.append(written.data(), written.size());
}

void add_note(std::string& notes, std::string_view separator, std::string_view note) {
  if (!notes.empty()) notes += separator;
  notes += note;
}

void add_errors(std::string& notes, const Exchange& exchange, bool top_level) {
  std::string names;
  for (const ErrorCount& error : exchange.errors) {
    if (error.top_level != top_level) continue;
    const std::string_view name = protocol::error_name(static_cast<protocol::ErrorCode>(error.code));
    std::string text = name.empty() ? fmt::format("error {}", error.code) : std::string(name);
    if (error.count > 1) text += fmt::format(" x{}", error.count);
    add_note(names, ", ", text);
  }
  if (!names.empty()) add_note(notes, " ", top_level ? names : "[" + names + "]");
}

void add_damage(std::string& notes, std::string_view which, const CapturedMessage& message) {
  if (message.fault != nullptr) add_note(notes, "; ", fmt::format("{} breaks its schema: {}", which, message.fault));
  if (message.missing > 0)
    add_note(notes, "; ", fmt::format("the capture lacks {} of the {}", counted(message.missing, "byte"), which));
}

void add_size(std::string& line, const CapturedMessage& message) {
  if (message.size == 0) return right(line, kNothing, kSizeWidth);
  const fmt::format_int digits(message.size);
  right(line, {digits.data(), digits.size()}, kSizeWidth);
}

// The time as 2026-03-01T12:00:00.123456Z.
void append_time(std::string& text, std::int64_t time_ns) {
  std::int64_t seconds = time_ns / kNsPerSecond;
  std::int64_t rest = time_ns % kNsPerSecond;
  if (rest < 0) {
    rest += kNsPerSecond;
    --seconds;
  }
  // Years beyond those that the library prints come from damaged files.
  constexpr std::int64_t kMostSeconds = 253'402'300'799;  // the end of 9999
  seconds = std::clamp<std::int64_t>(seconds, 0, kMostSeconds);
  // The date changes rarely from line to line.
  thread_local std::int64_t last_seconds = -1;
  thread_local std::string last;
  if (seconds != last_seconds) {
    last = fmt::format("{:%Y-%m-%dT%H:%M:%S}", fmt::gmtime(static_cast<std::time_t>(seconds)));
    last_seconds = seconds;
  }
  text += last;
  text += '.';
  add_fraction(text, static_cast<std::uint64_t>(rest / kNsPerUs), 6);
  text += 'Z';
}

}  // namespace

bool CaptureFilter::passes(const Exchange& exchange) const {
  if (!api_keys.empty() && std::ranges::find(api_keys, exchange.api_key) == api_keys.end()) return false;
  if (errors && exchange.errors.empty()) return false;
  if (slower_than_ns >= 0 && exchange.latency_ns() <= slower_than_ns) return false;
  if (client_ids.empty()) return true;
  const char* id = exchange.client_id ? exchange.client_id->c_str() : "";
  return std::ranges::any_of(client_ids,
                             [id](const std::string& pattern) { return fnmatch(pattern.c_str(), id, 0) == 0; });
}

std::optional<std::int64_t> parse_duration_ns(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !(value >= 0)) return std::nullopt;
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  std::int64_t scale = 0;
  if (unit.empty() || unit == "ms") scale = kNsPerMs;
  if (unit == "us") scale = kNsPerUs;
  if (unit == "s") scale = kNsPerSecond;
  constexpr double kMost = 9e18;
  const double result = value * static_cast<double>(scale);
  if (scale == 0 || result > kMost) return std::nullopt;
  return static_cast<std::int64_t>(std::llround(result));
}

std::string packet_time_text(std::int64_t time_ns) {
  std::string text;
  append_time(text, time_ns);
  return text;
}

std::string duration_text(std::int64_t duration_ns) {
  if (duration_ns < 0) return "-";
  const auto us = static_cast<std::uint64_t>(duration_ns / kNsPerUs);
  std::string text;
  add_number(text, us / 1000);
  text += '.';
  add_fraction(text, us % 1000, 3);
  text += "ms";
  return text;
}

// -- the histogram --

// Below 32 each value has a bucket; above, each doubling has 32.
namespace {

constexpr unsigned kBits = 5;
constexpr std::uint64_t kSteps = 1U << kBits;

std::size_t bucket_of(std::uint64_t value) {
  if (value < kSteps) return value;
  const unsigned shift = static_cast<unsigned>(std::bit_width(value)) - 1 - kBits;
  return (shift + 1) * kSteps + ((value >> shift) & (kSteps - 1));
}

// The largest value in it.
std::uint64_t bucket_end(std::size_t bucket) {
  if (bucket < kSteps) return bucket;
  const std::size_t shift = bucket / kSteps - 1;
  return ((kSteps + bucket % kSteps + 1) << shift) - 1;
}

}  // namespace

void LatencyHistogram::add(std::int64_t duration_ns) {
  if (duration_ns < 0) return;
  const std::size_t bucket = bucket_of(static_cast<std::uint64_t>(duration_ns));
  if (buckets_.size() <= bucket) buckets_.resize(bucket + 1);
  ++buckets_[bucket];
  ++count_;
  largest_ = std::max(largest_, duration_ns);
}

std::int64_t LatencyHistogram::percentile(double share) const {
  if (count_ == 0) return -1;
  const auto wanted = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  std::uint64_t seen = 0;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    seen += buckets_[i];
    if (seen >= std::max<std::uint64_t>(wanted, 1)) return std::min(static_cast<std::int64_t>(bucket_end(i)), largest_);
  }
  return largest_;
}

// -- the report --

std::string CaptureReport::heading() {
  std::string line;
  left(line, "TIME", kTimeWidth);
  left(line, "CLIENT", kClientWidth);
  left(line, "CLIENT-ID", kIdWidth);
  left(line, "API", kApiWidth);
  right(line, "REQUEST", kSizeWidth);
  right(line, "RESPONSE", kSizeWidth);
  right(line, "LATENCY", kLatencyWidth);
  return line + "ERRORS\n";
}

// The API's name, or its number where it is unknown, and the version.
void CaptureReport::append_api(std::string& text, const Exchange& exchange) const {
  const CaptureApi* api = capture_.api(exchange.api_key);
  if (api != nullptr) {
    text += api->name;
  } else {
    fmt::format_to(std::back_inserter(text), "API {}", exchange.api_key);
  }
  text += " v";
  if (exchange.version < 0) text += '-';
  add_number(text, static_cast<std::uint64_t>(std::abs(int{exchange.version})));
}

std::size_t CaptureReport::RowHash::operator()(const RowName& name) const {
  constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15U;
  std::uint64_t words[2];
  std::memcpy(words, name.host.data(), sizeof words);
  std::uint64_t hash = std::hash<std::string_view>{}(name.client_id);
  for (const std::uint64_t word : {words[0], words[1], static_cast<std::uint64_t>(name.api_key)})
    hash = (hash ^ word) * kOdd ^ hash >> 29U;
  return hash;
}

CaptureReport::Row& CaptureReport::row_of(const Exchange& exchange) {
  RowName name{.client_id = exchange.client_id ? std::string_view(*exchange.client_id) : kNothing,
               .host = exchange.client.address,
               .v6 = exchange.client.v6,
               .api_key = exchange.api_key};
  const auto found = rows_.find(name);
  if (found != rows_.end()) return found->second;
  if (rows_.size() >= kMostRows) return others_;
  RowKey key{.client_id = std::string(name.client_id), .rest = name};
  key.rest.client_id = {};
  return rows_[std::move(key)];
}

void CaptureReport::count(const Exchange& exchange) {
  Row& row = row_of(exchange);
  ++row.count;
  if (!exchange.errors.empty()) ++row.errors;
  if (exchange.outcome == Exchange::Outcome::unanswered) ++row.unanswered;
  row.request_bytes += exchange.request.size;
  row.response_bytes += exchange.response.size;
  row.latency.add(exchange.latency_ns());
  if (exchange.request.fault != nullptr || exchange.response.fault != nullptr) ++faults_;
}

std::string CaptureReport::notes_of(const Exchange& exchange) const {
  std::string notes;
  add_errors(notes, exchange, true);
  add_errors(notes, exchange, false);
  const CaptureApi* api = capture_.api(exchange.api_key);
  if (api == nullptr) {
    add_note(notes, "; ", "unknown API");
  } else if (!api->request->message.versions.contains(exchange.version)) {
    add_note(notes, "; ", "unknown version");
  }
  if (exchange.outcome == Exchange::Outcome::unwanted) add_note(notes, "; ", "no answer wanted");
  if (exchange.outcome == Exchange::Outcome::unanswered) add_note(notes, "; ", "no answer in the capture");
  add_damage(notes, "request", exchange.request);
  if (exchange.outcome == Exchange::Outcome::answered) add_damage(notes, "response", exchange.response);
  return notes;
}

const std::string& CaptureReport::line(const Exchange& exchange) {
  count(exchange);
  std::string& line = line_;
  line.clear();
  append_time(line, exchange.request.begin_ns);
  end_left(line, 0, kTimeWidth);
  std::size_t begin = line.size();
  exchange.client.append_to(line);
  end_left(line, begin, kClientWidth);
  left(line, exchange.client_id ? std::string_view(*exchange.client_id) : kNothing, kIdWidth);
  begin = line.size();
  append_api(line, exchange);
  end_left(line, begin, kApiWidth);
  add_size(line, exchange.request);
  add_size(line, exchange.response);
  right(line, duration_text(exchange.latency_ns()), kLatencyWidth);
  const std::string notes = notes_of(exchange);
  line += notes.empty() ? kNothing : std::string_view(notes);
  line += '\n';
  return line;
}

std::string CaptureReport::summary() const {
  std::string text = fmt::format(fmt::runtime(kRow), "CLIENT-ID", "HOST", "API", "COUNT", "ERRORS", "UNANSWERED",
                                 "REQUEST BYTES", "RESPONSE BYTES", "P50", "P99", "MAX");
  Row all;
  const auto add = [&](const std::string& id, const std::string& host, const std::string& api, const Row& row) {
    constexpr double kMedian = 0.5;
    constexpr double kNearlyAll = 0.99;
    text += fmt::format(fmt::runtime(kRow), id, host, api, row.count, row.errors, row.unanswered, row.request_bytes,
                        row.response_bytes, duration_text(row.latency.percentile(kMedian)),
                        duration_text(row.latency.percentile(kNearlyAll)), duration_text(row.latency.largest()));
    all.count += row.count;
    all.errors += row.errors;
    all.unanswered += row.unanswered;
    all.request_bytes += row.request_bytes;
    all.response_bytes += row.response_bytes;
  };
  std::vector<std::pair<RowName, const Row*>> sorted;
  sorted.reserve(rows_.size());
  for (const auto& [key, row] : rows_) sorted.emplace_back(key.name(), &row);
  std::ranges::sort(sorted, {}, [](const auto& entry) { return entry.first; });
  for (const auto& [name, row] : sorted) {
    const CaptureApi* api = capture_.api(name.api_key);
    const Endpoint client{.address = name.host, .v6 = name.v6};
    add(std::string(name.client_id), client.host(), api == nullptr ? fmt::format("API {}", name.api_key) : api->name,
        *row);
  }
  if (others_.count > 0) add("(others)", "", "", others_);

  const CaptureCounts& counts = capture_.counts();
  text += fmt::format("\n{}: {} of requests, {} of responses; {} with errors, {} without an answer\n",
                      counted(all.count, "exchange"), counted(all.request_bytes, "byte"),
                      counted(all.response_bytes, "byte"), all.errors, all.unanswered);
  text += fmt::format("{}, {} of TCP; {}, {} of them with Kafka\n", counted(counts.packets, "packet"), counts.segments,
                      counted(counts.connections, "connection"), counts.kafka_connections);
  const auto say = [&](std::uint64_t count, std::string_view what, std::string_view rest) {
    if (count > 0) text += fmt::format("{}{}\n", counted(count, what), rest);
  };
  if (counts.gaps > 0)
    text += fmt::format("{} with {} that the capture lacks\n", counted(counts.gaps, "gap"),
                        counted(counts.missing_bytes, "byte"));
  say(counts.resynchronised, "time", " the next frame had to be looked for");
  say(counts.orphans, "response", " to requests that the capture lacks");
  say(counts.tls_connections, "connection", " of TLS, which hides what is said");
  say(counts.fragments, "packet", " in fragments, not put together");
  say(counts.damaged_packets, "packet", " whose headers are damaged or cut off");
  say(faults_, "exchange", " with a message that breaks its schema");
  return text;
}

}  // namespace thalweg::inspect
