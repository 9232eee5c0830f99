// What is said of a capture: a line for each exchange that the filters let pass, then a summary for each client and
// API.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "inspect/capture.h"

namespace thalweg::inspect {

struct CaptureFilter {
  std::vector<int> api_keys;            // empty: every API
  std::vector<std::string> client_ids;  // empty: every client; `*` and `?` as in names of files
  bool errors = false;                  // only answers with an error code
  std::int64_t slower_than_ns = -1;     // only those that took longer; below zero: all

  [[nodiscard]] bool passes(const Exchange& exchange) const;
};

// A duration such as 250ms, 1.5s or 80us; without a unit milliseconds. Nothing where it is none.
std::optional<std::int64_t> parse_duration_ns(std::string_view text);
// The time as 2026-03-01T12:00:00.123456Z.
std::string packet_time_text(std::int64_t time_ns);
// A duration with a unit, such as 1.234 ms; below zero: -.
std::string duration_text(std::int64_t duration_ns);

// Durations, of which percentiles are wanted without keeping them all: within 1/32 of the true value, the largest
// exact.
class LatencyHistogram {
 public:
  void add(std::int64_t duration_ns);
  // The smallest duration that `share` (0 .. 1) of all do not exceed; -1 where there is none.
  [[nodiscard]] std::int64_t percentile(double share) const;
  [[nodiscard]] std::int64_t largest() const { return largest_; }

 private:
  std::vector<std::uint32_t> buckets_;
  std::uint64_t count_ = 0;
  std::int64_t largest_ = -1;
};

class CaptureReport {
 public:
  // Clients and APIs that the summary tells apart; those beyond are summed up.
  static constexpr std::size_t kMostRows = 10'000;

  explicit CaptureReport(const Capture& capture) : capture_(capture) {}

  // The names of the columns.
  static std::string heading();
  // Counts the exchange; its line with a line feed, which stands until the next call.
  const std::string& line(const Exchange& exchange);
  // The summary of all that line() was called with, and what the capture lacked.
  [[nodiscard]] std::string summary() const;
  // Whether a message broke its schema.
  [[nodiscard]] bool found_faults() const { return faults_ > 0; }

 private:
  struct Row {
    std::uint64_t count = 0;
    std::uint64_t errors = 0;
    std::uint64_t unanswered = 0;
    std::uint64_t request_bytes = 0;
    std::uint64_t response_bytes = 0;
    LatencyHistogram latency;
  };
  // Looked up with what an exchange has, of which nothing need be copied.
  struct RowName {
    std::string_view client_id;
    std::array<std::uint8_t, 16> host{};
    bool v6 = false;
    int api_key = 0;
    friend auto operator<=>(const RowName&, const RowName&) = default;
  };
  struct RowKey {
    std::string client_id;
    RowName rest;  // its client id is empty
    [[nodiscard]] RowName name() const { return {client_id, rest.host, rest.v6, rest.api_key}; }
  };
  struct RowHash {
    using is_transparent = void;
    std::size_t operator()(const RowName& name) const;
    std::size_t operator()(const RowKey& key) const { return (*this)(key.name()); }
  };
  struct RowEqual {
    using is_transparent = void;
    bool operator()(const RowKey& a, const RowKey& b) const { return a.name() == b.name(); }
    bool operator()(const RowName& a, const RowKey& b) const { return a == b.name(); }
    bool operator()(const RowKey& a, const RowName& b) const { return a.name() == b; }
  };

  Row& row_of(const Exchange& exchange);
  void count(const Exchange& exchange);
  [[nodiscard]] std::string notes_of(const Exchange& exchange) const;
  void append_api(std::string& text, const Exchange& exchange) const;

  const Capture& capture_;
  std::unordered_map<RowKey, Row, RowHash, RowEqual> rows_;
  Row others_;
  std::uint64_t faults_ = 0;
  std::string line_;
};

}  // namespace thalweg::inspect
