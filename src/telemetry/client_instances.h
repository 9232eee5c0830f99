// ClientInstances: the clients that ask for subscriptions and push metrics, and the rules for when they may. A pure
// state machine: the time is handed in.
//
// An instance is known from its first request on, as Kafka knows it: until it was silent for three intervals and at
// least a minute, until the connection that made it known ends, or until so many others came that it is the one that
// has been silent for longest. What is forgotten costs a client nothing but one more question.
//
// source: KIP-714; Apache Kafka 4.4
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>

#include "base/uuid.h"
#include "protocol/error.h"
#include "telemetry/subscriptions.h"

namespace thalweg::telemetry {

class ClientInstances {
 public:
  struct Options {
    std::size_t max_instances = 16384;
    std::int32_t max_push_bytes = 1 << 20;  // telemetry.max.bytes
  };
  // Names one appearance of an instance, so that the end of an old connection does not forget a newer one.
  using Serial = std::uint64_t;

  // What a client is told about its subscriptions.
  struct Subscribed {
    protocol::ErrorCode error = protocol::ErrorCode::none;
    std::int32_t subscription_id = 0;
    Wanted wanted{};
    Serial made_known = 0;  // where this request made the instance known; else 0
  };

  struct Push {
    std::int32_t subscription_id = 0;
    bool terminating = false;
    std::int8_t codec = 0;
    std::size_t size_bytes = 0;  // as it came, compressed
  };
  // Whether a push is taken.
  struct Admitted {
    protocol::ErrorCode error = protocol::ErrorCode::none;
    std::int32_t interval_ms = 0;
    Serial made_known = 0;
  };

  explicit ClientInstances(Options options) : options_(options) {}

  // From now on these are in force. What an instance is asked for is looked up anew with its next request.
  void set_subscriptions(std::shared_ptr<const Subscriptions> subscriptions);

  // GetTelemetrySubscriptions; the id in `client` is the one that it asked with or that was drawn for it.
  //   errors   throttling_quota_exceeded: too early
  Subscribed get(const ClientFacts& client, std::int64_t now_ms);

  // The checks of PushTelemetry, in Kafka's order.
  //   errors   invalid_request: a reserved id, or the push before it said that it was the last;
  //   throttling_quota_exceeded;
  //            unknown_subscription_id; unsupported_compression_type; telemetry_too_large
  Admitted push(const ClientFacts& client, const Push& push, std::int64_t now_ms);
  // What came of a push that was admitted: none, or why its metrics were not taken.
  void pushed(const base::Uuid& instance_id, protocol::ErrorCode error);

  // The connection that made it known has ended.
  void forget(const base::Uuid& instance_id, Serial serial);
  // Forgets those that were silent for too long.
  void expire(std::int64_t now_ms);
  [[nodiscard]] bool knows(const base::Uuid& instance_id) const { return instances_.contains(instance_id); }
  [[nodiscard]] std::size_t size() const { return instances_.size(); }

 private:
  static constexpr std::int64_t kNever = -(std::int64_t{1} << 60);
  struct Instance {
    ClientFacts client;
    Serial serial = 0;
    std::uint64_t version = 0;  // of the subscriptions it was matched with
    Wanted wanted;
    std::int32_t subscription_id = 0;
    std::int64_t last_get_ms = kNever;
    std::int64_t last_push_ms = kNever;
    std::int64_t expires_ms = 0;
    bool terminating = false;
    protocol::ErrorCode last_error = protocol::ErrorCode::none;
  };
  using Order = std::list<Instance>;  // the one heard of last is at the end

  // The instance as of now, made known where it is not; `made_known` tells.
  Instance& instance_of(const ClientFacts& client, std::int64_t now_ms, Serial& made_known);
  void match(Instance& instance);
  [[nodiscard]] protocol::ErrorCode check(Instance& instance, const Push& push, std::int64_t now_ms) const;

  const Options options_;
  std::shared_ptr<const Subscriptions> subscriptions_ = std::make_shared<Subscriptions>();
  std::uint64_t version_ = 0;
  Serial next_serial_ = 1;
  Order order_;
  std::unordered_map<base::Uuid, Order::iterator> instances_;
};

}  // namespace thalweg::telemetry
