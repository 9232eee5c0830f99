// ClientMetrics: what clients have pushed, summed up and bounded. What was added since the push before is added up, so
// that counters grow as Prometheus wants them; everything else is what was said last.
//
// A series that was not pushed for two intervals is gone, and so is a client. Beyond the limits no new series is taken;
// those that are there go on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/uuid.h"
#include "telemetry/samples.h"
#include "telemetry/subscriptions.h"

namespace thalweg::telemetry {

// All that one client has said, as of its last push. Never changed once it is handed out, so any thread may read it.
struct ClientReport {
  struct Series {
    std::string origin;
    Measurement measurement;
    std::int64_t pushed_ms = 0;
  };
  // By family and labels.
  using Key = std::pair<std::string, std::string>;

  std::string labels;    // whose they are: client_id="a",client_instance_id="...",...
  std::string resource;  // what else the client says of itself
  std::map<Key, Series> series;
  std::int64_t pushed_ms = 0;
  std::int64_t interval_ms = 0;
};

class ClientMetrics {
 public:
  struct Limits {
    std::size_t max_clients = 16384;
    std::size_t max_series = 100'000;
    std::size_t max_series_per_client = 2000;
    std::size_t max_bytes = 64 << 20;  // of all series
  };

  explicit ClientMetrics(Limits limits) : limits_(limits) {}

  // Takes a push.
  //   returns  how many samples found no room
  std::size_t take(const ClientFacts& client, std::int64_t interval_ms, Samples samples, std::int64_t now_ms);
  // Lets go of what has not been pushed for two intervals.
  void expire(std::int64_t now_ms);

  // What all clients have said.
  [[nodiscard]] std::vector<std::shared_ptr<const ClientReport>> reports() const;
  [[nodiscard]] std::size_t client_count() const { return reports_.size(); }
  [[nodiscard]] std::size_t series_count() const { return series_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  using Reports = std::unordered_map<base::Uuid, std::shared_ptr<const ClientReport>>;
  bool add(ClientReport& report, Sample sample, std::int64_t now_ms);
  // Takes series that are overdue out of the report. Whether any was.
  bool drop_stale(ClientReport& report, std::int64_t now_ms);
  void forget_series(const ClientReport::Key& key, const ClientReport::Series& series);

  const Limits limits_;
  Reports reports_;
  std::size_t series_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace thalweg::telemetry
