// ClientTelemetry: what one core knows of the clients that push metrics: who may push what when, and what was pushed.
//
// A client instance belongs to one core, by its id, whichever connections its requests come on. Payloads are unpacked
// where the request came in, large ones on a pool; only the outcome goes to the owner.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/uuid.h"
#include "broker/metrics.h"
#include "protocol/error.h"
#include "records/record.h"
#include "runtime/await.h"
#include "telemetry/client_instances.h"
#include "telemetry/client_metrics.h"

namespace thalweg::metadata {
class Snapshot;
}

namespace thalweg::broker {

class Broker;
class Shard;
struct RequestContext;

// The client metrics subscriptions that are stored.
std::vector<telemetry::Subscription> stored_subscriptions(const metadata::Snapshot& snapshot);

// For /metrics; read by any thread.
struct TelemetryMetrics {
  Counter pushes;     // that were taken
  Counter bytes;      // of them, as they came
  Counter throttled;  // requests that came too early
  Counter refused;    // pushes refused for another reason
  Counter dropped;    // pushes that were not written to the topic
  Counter left_out;   // samples without room, or that cannot be shown
  // A push that was checked, and what came of it.
  void count_push(protocol::ErrorCode error, std::size_t size_bytes) {
    if (error == protocol::ErrorCode::throttling_quota_exceeded) return throttled.add();
    if (error != protocol::ErrorCode::none) return refused.add();
    pushes.add();
    bytes.add(static_cast<std::int64_t>(size_bytes));
  }
  std::atomic<std::int64_t> instances{0};
  std::atomic<std::int64_t> series{0};
};

class ClientTelemetry {
 public:
  explicit ClientTelemetry(Shard& shard);
  ClientTelemetry(const ClientTelemetry&) = delete;
  ClientTelemetry& operator=(const ClientTelemetry&) = delete;

  // From now on what is silent is forgotten.
  void start();
  // The shard has a new view of the metadata that changes configs of this resource; the first time: null.
  void config_changed(const records::ConfigResource* resource);

  [[nodiscard]] telemetry::ClientInstances& instances() { return instances_; }
  // Takes what a client has pushed.
  void take(const telemetry::ClientFacts& client, std::int64_t interval_ms, telemetry::Samples samples);
  // What all clients of this core have said.
  [[nodiscard]] std::vector<std::shared_ptr<const telemetry::ClientReport>> reports() const {
    return metrics_.reports();
  }
  [[nodiscard]] TelemetryMetrics& counters() { return counters_; }
  // Brings the counters in line with what is known now.
  void count();
  // For intervals and expiry.
  [[nodiscard]] std::int64_t now_ms() const;

 private:
  void sweep();

  Shard& shard_;
  telemetry::ClientInstances instances_;
  telemetry::ClientMetrics metrics_;
  TelemetryMetrics counters_;
};

// GetTelemetrySubscriptions of the client of a request. An id of zero: one is drawn, and returned in `instance_id`.
//   awaits   the core that the instance belongs to
runtime::Awaitable<telemetry::ClientInstances::Subscribed> subscriptions_of_client(RequestContext& context,
                                                                                   base::Uuid& instance_id);

// PushTelemetry of the client of a request.
//   errors   those of ClientInstances::push; telemetry_too_large: once it is decompressed; invalid_record: unreadable
//   awaits   the core that the instance belongs to; a pool, for a large payload
runtime::Awaitable<protocol::ErrorCode> push_of_client(RequestContext& context, const base::Uuid& instance_id,
                                                       telemetry::ClientInstances::Push push, base::Bytes payload);

// What all clients have said, gathered from every core, as Prometheus reads it.
//   awaits   every core; a pool, which prints it
runtime::Awaitable<std::string> client_metrics_page(Broker& broker);

// Tells the owner of the instance that the connection which made it known has ended.
void telemetry_connection_ended(Broker& broker, const base::Uuid& instance_id, std::uint64_t serial);

}  // namespace thalweg::broker
