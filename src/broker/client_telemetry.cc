#include "broker/client_telemetry.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/ip/address_v6.hpp>
#include <chrono>
#include <functional>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "broker/broker.h"
#include "broker/otlp_forwarder.h"
#include "broker/shard.h"
#include "broker/telemetry_topic.h"
#include "config/config.h"
#include "config/table.h"
#include "metadata/snapshot.h"
#include "telemetry/exposition.h"
#include "telemetry/otlp.h"

namespace thalweg::broker {

using protocol::ErrorCode;
using runtime::Awaitable;
using telemetry::ClientFacts;
using telemetry::ClientInstances;

namespace {

constexpr std::size_t kMostInstances = 16384;  // of the broker, as in Kafka
constexpr std::size_t kMostSeriesBytes = 128 << 20;
constexpr std::chrono::seconds kSweep{1};
// A client id is any text of up to 32 KiB. What is kept of one that is longer than anybody would write is its
// beginning.
constexpr std::size_t kMostClientIdBytes = 1024;
// Payloads up to this size, compressed, are unpacked on the loop: what a client of a hundred metrics sends.
constexpr std::size_t kSmallPayload = 8 * 1024;
constexpr std::size_t kSmallOutput = 64 * 1024;
// Payloads that may wait for the pool; one more is refused as too early.
constexpr std::size_t kMostWaiting = 256;

std::size_t share(std::size_t of_all, const Broker& broker) {
  return of_all / static_cast<std::size_t>(broker.settings().cores);
}

std::optional<telemetry::Subscription> default_subscription(const Settings& settings) {
  if (settings.telemetry.default_metrics.empty()) return std::nullopt;
  return telemetry::Subscription{.name = {},
                                 .metrics = settings.telemetry.default_metrics,
                                 .interval_ms = settings.telemetry.interval_ms,
                                 .match = {}};
}

// Java shows an IPv6 address with all its groups, and that is what patterns are written for.
std::string address_of(const std::string& host) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address_v6(host, error);
  if (error) return host;
  const auto bytes = address.to_bytes();
  std::string text;
  for (std::size_t i = 0; i < bytes.size(); i += 2)
    text += fmt::format("{}{:x}", i == 0 ? "" : ":", bytes[i] << 8 | bytes[i + 1]);
  return text;
}

ClientFacts facts_of(const RequestContext& context, const base::Uuid& instance_id) {
  const ConnectionInfo& connection = context.connection;
  const std::string_view peer = connection.peer;
  return {.instance_id = instance_id,
          .client_id = std::string(context.client_id.substr(0, kMostClientIdBytes)),
          .software_name = connection.client_software_name.substr(0, kMostClientIdBytes),
          .software_version = connection.client_software_version.substr(0, kMostClientIdBytes),
          .source_address = address_of(connection.peer_host),
          .source_port = std::string(peer.substr(peer.rfind(':') + 1)),
          .listener = connection.listener->name};
}

Shard& owner_of(Broker& broker, const base::Uuid& instance_id) {
  return broker.shard(
      static_cast<int>(std::hash<base::Uuid>{}(instance_id) % static_cast<std::size_t>(broker.core_count())));
}

// How a payload is unpacked.
struct Unpacking {
  std::int8_t codec = 0;
  std::uint64_t max_bytes = 0;  // once it is decompressed
  // Whose it is, where it is also passed on.
  std::optional<ClientFacts> passed_on_for;
};

struct Unpacked {
  telemetry::Samples samples;
  std::optional<std::string> passed_on;
};

protocol::Result<Unpacked> unpack(const base::Bytes& payload, const Unpacking& how) {
  ASSIGN_OR_RETURN(telemetry::MetricsData metrics,
                   telemetry::decode_metrics(how.codec, payload.span(), {.max_bytes = how.max_bytes}));
  Unpacked unpacked{.samples = telemetry::flatten(metrics), .passed_on = {}};
  if (how.passed_on_for) unpacked.passed_on = telemetry::encode_with(*how.passed_on_for, std::move(metrics));
  return unpacked;
}

bool is_passed_on(const Broker& broker) {
  return broker.settings().telemetry.otlp_endpoint.has_value() || broker.settings().telemetry.topic;
}

Awaitable<protocol::Result<Unpacked>> unpack_anywhere(RequestContext& context, const ClientFacts& client,
                                                      std::int8_t codec, base::Bytes payload) {
  using Result = protocol::Result<Unpacked>;
  Unpacking how{.codec = codec,
                .max_bytes = static_cast<std::uint64_t>(context.broker.settings().telemetry.max_push_bytes),
                .passed_on_for = {}};
  if (is_passed_on(context.broker)) how.passed_on_for = client;
  if (payload.size() <= kSmallPayload) {
    Unpacking small = how;
    small.max_bytes = std::min<std::uint64_t>(how.max_bytes, kSmallOutput);
    Result unpacked = unpack(payload, small);
    // It may only be more than is unpacked here.
    const bool is_large = !unpacked && unpacked.error().code == ErrorCode::telemetry_too_large;
    if (!is_large || small.max_bytes == how.max_bytes) co_return unpacked;
  }
  if (context.broker.telemetry_pool().queued() >= kMostWaiting)
    co_return protocol::fail(ErrorCode::throttling_quota_exceeded, "too many metrics wait to be unpacked");
  Result unpacked =
      co_await runtime::run_on(context.broker.telemetry_pool(),
                               [how = std::move(how), payload = std::move(payload)] { return unpack(payload, how); });
  co_return unpacked;
}

// Hands a push on to whoever wants it beside /metrics.
void pass_on(Shard& here, const base::Uuid& instance_id, std::optional<std::string> metrics) {
  Broker& broker = here.broker();
  if (!metrics) return here.telemetry().counters().dropped.add();
  if (broker.settings().telemetry.topic) write_to_telemetry_topic(here, instance_id, *metrics);
  if (OtlpForwarder* const forwarder = broker.otlp_forwarder())
    broker.core(0).post([forwarder, metrics = std::move(*metrics)]() mutable { forwarder->add(std::move(metrics)); });
}

void remember(ConnectionInfo& connection, const base::Uuid& instance_id, ClientInstances::Serial made_known) {
  if (made_known == 0) return;
  connection.telemetry_instance = instance_id;
  connection.telemetry_serial = made_known;
}

}  // namespace

std::vector<telemetry::Subscription> stored_subscriptions(const metadata::Snapshot& snapshot) {
  std::vector<telemetry::Subscription> subscriptions;
  const auto& resources = snapshot.configured_resources();
  const records::ConfigResource first{.type = records::ResourceType::client_metrics, .name = {}};
  for (auto it = resources.lower_bound(first); it != resources.end(); ++it) {
    const auto& [resource, configs] = *it;
    if (resource.type != records::ResourceType::client_metrics) break;
    std::vector<config::Entry> entries;
    for (const auto& [name, value] : *configs)
      entries.push_back({.name = name, .value = value.value, .origin = {}, .line = 0});
    const auto config = config::Config(config::client_metrics_table()).with(entries, config::Source::client_metrics);
    if (!config) {
      // What is stored was checked when it was set; a value that a later release no longer takes asks for nothing.
      LOG_WARN("telemetry", "client metrics subscription {}: {}", resource.name, config.error());
      continue;
    }
    subscriptions.push_back({.name = resource.name,
                             .metrics = config->get_list("metrics"),
                             .interval_ms = config->get_int("interval.ms"),
                             .match = config->get_list("match")});
  }
  return subscriptions;
}

ClientTelemetry::ClientTelemetry(Shard& shard)
    : shard_(shard),
      instances_({.max_instances = std::max<std::size_t>(1, share(kMostInstances, shard.broker())),
                  .max_push_bytes = shard.broker().settings().telemetry.max_push_bytes}),
      metrics_({.max_clients = share(kMostInstances, shard.broker()),
                .max_series =
                    share(static_cast<std::size_t>(shard.broker().settings().telemetry.max_series), shard.broker()),
                .max_bytes = share(kMostSeriesBytes, shard.broker())}) {}

std::int64_t ClientTelemetry::now_ms() const {
  return std::chrono::duration_cast<std::chrono::milliseconds>(shard_.core().clock().steady().time_since_epoch())
      .count();
}

void ClientTelemetry::start() {
  shard_.core().at(shard_.core().clock().steady() + kSweep, [this] {
    sweep();
    start();
  });
}

void ClientTelemetry::sweep() {
  instances_.expire(now_ms());
  metrics_.expire(now_ms());
  count();
}

void ClientTelemetry::count() {
  counters_.instances.store(static_cast<std::int64_t>(instances_.size()), std::memory_order_relaxed);
  counters_.series.store(static_cast<std::int64_t>(metrics_.series_count()), std::memory_order_relaxed);
}

void ClientTelemetry::config_changed(const records::ConfigResource* resource) {
  if (resource != nullptr && resource->type != records::ResourceType::client_metrics) return;
  instances_.set_subscriptions(std::make_shared<const telemetry::Subscriptions>(
      stored_subscriptions(*shard_.snapshot()), default_subscription(shard_.broker().settings())));
}

void ClientTelemetry::take(const ClientFacts& client, std::int64_t interval_ms, telemetry::Samples samples) {
  const std::size_t left_out = samples.left_out;
  const std::size_t refused = metrics_.take(client, interval_ms, std::move(samples), now_ms());
  counters_.left_out.add(static_cast<std::int64_t>(left_out + refused));
  count();
}

Awaitable<ClientInstances::Subscribed> subscriptions_of_client(RequestContext& context, base::Uuid& instance_id) {
  if (instance_id.is_zero()) instance_id = context.shard.random().next();
  Shard& owner = owner_of(context.broker, instance_id);
  auto ask = [&owner, facts = facts_of(context, instance_id)] {
    ClientTelemetry& telemetry = owner.telemetry();
    ClientInstances::Subscribed subscribed = telemetry.instances().get(facts, telemetry.now_ms());
    if (subscribed.error != ErrorCode::none) telemetry.counters().throttled.add();
    telemetry.count();
    return subscribed;
  };
  ClientInstances::Subscribed subscribed = co_await runtime::call_on(owner.core(), std::move(ask));
  remember(context.connection, instance_id, subscribed.made_known);
  co_return subscribed;
}

Awaitable<ErrorCode> push_of_client(RequestContext& context, const base::Uuid& instance_id, ClientInstances::Push push,
                                    base::Bytes payload) {
  Shard& owner = owner_of(context.broker, instance_id);
  const ClientFacts facts = facts_of(context, instance_id);
  auto ask = [&owner, facts, push] {
    ClientTelemetry& telemetry = owner.telemetry();
    ClientInstances::Admitted admitted = telemetry.instances().push(facts, push, telemetry.now_ms());
    telemetry.counters().count_push(admitted.error, push.size_bytes);
    telemetry.count();
    return admitted;
  };
  const ClientInstances::Admitted admitted = co_await runtime::call_on(owner.core(), std::move(ask));
  remember(context.connection, instance_id, admitted.made_known);
  if (admitted.error != ErrorCode::none || payload.empty()) co_return admitted.error;

  protocol::Result<Unpacked> unpacked = co_await unpack_anywhere(context, facts, push.codec, std::move(payload));
  const ErrorCode error = unpacked ? ErrorCode::none : unpacked.error().code;
  std::optional<telemetry::Samples> samples;
  if (unpacked) {
    samples = std::move(unpacked->samples);
    if (is_passed_on(context.broker)) pass_on(context.shard, instance_id, std::move(unpacked->passed_on));
  } else {
    LOG_DEBUG("telemetry", "metrics of client {} from {}: {}", context.client_id, context.connection.peer,
              unpacked.error().detail);
  }
  auto hand_over = [&owner, facts, error, interval_ms = admitted.interval_ms, samples = std::move(samples)]() mutable {
    ClientTelemetry& telemetry = owner.telemetry();
    telemetry.instances().pushed(facts.instance_id, error);
    if (samples) {
      telemetry.take(facts, interval_ms, std::move(*samples));
    } else {
      telemetry.counters().refused.add();
    }
    return error;
  };
  co_return co_await runtime::call_on(owner.core(), std::move(hand_over));
}

Awaitable<std::string> client_metrics_page(Broker& broker) {
  std::vector<std::shared_ptr<const telemetry::ClientReport>> reports;
  for (int i = 0; i < broker.core_count(); ++i) {
    Shard& shard = broker.shard(i);
    auto more = co_await runtime::call_on(shard.core(), [&shard] { return shard.telemetry().reports(); });
    reports.insert(reports.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }
  if (reports.empty()) co_return std::string();
  std::string page = co_await runtime::run_on(broker.telemetry_pool(), [reports = std::move(reports)]() mutable {
    return telemetry::print_clients(std::move(reports));
  });
  co_return page;
}

void telemetry_connection_ended(Broker& broker, const base::Uuid& instance_id, std::uint64_t serial) {
  Shard& owner = owner_of(broker, instance_id);
  owner.core().post([&owner, instance_id, serial] { owner.telemetry().instances().forget(instance_id, serial); });
}

}  // namespace thalweg::broker
