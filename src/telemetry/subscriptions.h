// Subscriptions: which metrics are asked of which clients, and how often they push them.
//
// source: KIP-714; Apache Kafka 4.4
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.h"

namespace re2 {
class RE2;
}

namespace thalweg::telemetry {

// What is known of a client instance: what selectors look at, and what its metrics are labelled with.
struct ClientFacts {
  base::Uuid instance_id;
  std::string client_id;  // empty where it sent none
  std::string software_name;
  std::string software_version;
  std::string source_address;
  std::string source_port;
  std::string listener;
};

// One subscription, as its configuration says it.
struct Subscription {
  std::string name;
  std::vector<std::string> metrics;  // prefixes of names; one that is "*" means all
  std::int32_t interval_ms = 300'000;
  std::vector<std::string> match;  // ATTRIBUTE=PATTERN, of which all must hold; none: every client
};

// What one client is asked for.
struct Wanted {
  std::vector<std::string> metrics;  // in the order of the alphabet, each once; or "*" alone; empty: nothing
  std::int32_t interval_ms = 300'000;
  friend bool operator==(const Wanted&, const Wanted&) = default;
};

// The subscriptions in force, ready to be matched.
class Subscriptions {
 public:
  Subscriptions() = default;
  // `fallback` is for clients that none of the others matches. A pattern that cannot be read matches nobody.
  explicit Subscriptions(const std::vector<Subscription>& configured,
                         const std::optional<Subscription>& fallback = std::nullopt);

  // What a client is asked for: the metrics of all subscriptions that match it, at the shortest of their intervals,
  // which Kafka also holds to its default of five minutes.
  [[nodiscard]] Wanted wanted_by(const ClientFacts& client) const;

 private:
  struct Compiled {
    std::vector<std::string> metrics;
    std::int32_t interval_ms = 0;
    // By attribute: as in Kafka the last pattern for one counts.
    std::map<std::string, std::shared_ptr<const re2::RE2>, std::less<>> patterns;
  };
  static Compiled compile(const Subscription& subscription);
  static bool matches(const Compiled& subscription, const ClientFacts& client);

  std::vector<Compiled> configured_;
  std::optional<Compiled> fallback_;
};

// The number of a set of wanted metrics for one client: a CRC of what is asked for, mixed with who is asked.
std::int32_t subscription_id(const Wanted& wanted, const base::Uuid& instance_id);

// Whether the id is one of those that stand for no client: all zeros, and the one that Kafka reserves.
bool is_reserved(const base::Uuid& instance_id);

}  // namespace thalweg::telemetry
