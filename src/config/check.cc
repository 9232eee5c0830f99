#include "config/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <vector>

#include "config/effective.h"
#include "config/group_bounds.h"
#include "config/listeners.h"
#include "config/value.h"

namespace thalweg::config {
namespace {

using Problem = std::optional<std::string>;

// One line about a key: its place, its value and what must hold.
std::string line(const Config& config, std::string_view key, std::string_view must) {
  return fmt::format("{}{}={}: {}", config.where(key), key, config.text(key).value_or("null"), must);
}

// The value of an INT, SHORT or LONG key that is never null.
std::int64_t number(const Config& config, std::string_view key) {
  return config.table().find(key)->type == Type::long_ ? config.get_long(key) : config.get_int(key);
}

// low <= high. The line is about the key that was set, if only one was.
Problem ordered(const Config& config, std::string_view low, std::string_view high) {
  if (number(config, low) <= number(config, high)) return std::nullopt;
  if (config.is_set(high) && !config.is_set(low))
    return line(config, high, fmt::format("must not be less than {} ({})", low, number(config, low)));
  return line(config, low, fmt::format("must not be more than {} ({})", high, number(config, high)));
}

struct Bounds {
  std::string_view low;
  std::string_view value;
  std::string_view high;
};

constexpr std::array kBounds = {
    Bounds{"group.consumer.min.session.timeout.ms", "group.consumer.session.timeout.ms",
           "group.consumer.max.session.timeout.ms"},
    Bounds{"group.consumer.min.heartbeat.interval.ms", "group.consumer.heartbeat.interval.ms",
           "group.consumer.max.heartbeat.interval.ms"},
    Bounds{"group.consumer.min.assignment.interval.ms", "group.consumer.assignment.interval.ms",
           "group.consumer.max.assignment.interval.ms"},
    Bounds{"group.share.min.session.timeout.ms", "group.share.session.timeout.ms",
           "group.share.max.session.timeout.ms"},
    Bounds{"group.share.min.heartbeat.interval.ms", "group.share.heartbeat.interval.ms",
           "group.share.max.heartbeat.interval.ms"},
    Bounds{"group.share.min.assignment.interval.ms", "group.share.assignment.interval.ms",
           "group.share.max.assignment.interval.ms"},
    Bounds{"group.share.min.delivery.count.limit", "group.share.delivery.count.limit",
           "group.share.max.delivery.count.limit"},
    Bounds{"group.share.min.record.lock.duration.ms", "group.share.record.lock.duration.ms",
           "group.share.max.record.lock.duration.ms"},
    Bounds{"group.share.min.partition.max.record.locks", "group.share.partition.max.record.locks",
           "group.share.max.partition.max.record.locks"},
    Bounds{"group.streams.min.session.timeout.ms", "group.streams.session.timeout.ms",
           "group.streams.max.session.timeout.ms"},
    Bounds{"group.streams.min.heartbeat.interval.ms", "group.streams.heartbeat.interval.ms",
           "group.streams.max.heartbeat.interval.ms"},
    Bounds{"group.streams.min.assignment.interval.ms", "group.streams.assignment.interval.ms",
           "group.streams.max.assignment.interval.ms"},
};

// Pairs of which the first must not be more than the second.
constexpr std::array<std::array<std::string_view, 2>, 8> kOrdered = {{
    {"group.min.session.timeout.ms", "group.max.session.timeout.ms"},
    {"group.share.max.size", "group.share.max.share.sessions"},
    {"group.streams.num.standby.replicas", "group.streams.max.standby.replicas"},
    {"group.streams.num.warmup.replicas", "group.streams.max.warmup.replicas"},
    {"group.streams.min.task.offset.interval.ms", "group.streams.task.offset.interval.ms"},
    {"replica.fetch.wait.max.ms", "replica.socket.timeout.ms"},
    {"replica.fetch.wait.max.ms", "replica.lag.time.max.ms"},
    {"socket.request.max.bytes", "thalweg.max.bytes.in.flight"},
}};

Problem check_bounds(const Config& config) {
  for (const Bounds& bounds : kBounds) {
    if (auto problem = ordered(config, bounds.low, bounds.high)) return problem;
    if (auto problem = ordered(config, bounds.low, bounds.value)) return problem;
    if (auto problem = ordered(config, bounds.value, bounds.high)) return problem;
  }
  for (const auto& [low, high] : kOrdered)
    if (auto problem = ordered(config, low, high)) return problem;
  for (const std::string_view kind : {"consumer", "share", "streams"}) {
    const std::string heartbeat = fmt::format("group.{}.heartbeat.interval.ms", kind);
    const std::string session = fmt::format("group.{}.session.timeout.ms", kind);
    if (number(config, heartbeat) >= number(config, session))
      return line(config, session, fmt::format("must be more than {} ({})", heartbeat, number(config, heartbeat)));
  }
  return std::nullopt;
}

Problem check_identity(const Config& config) {
  if (config.is_set("broker.id") && config.is_set("node.id") &&
      config.get_int("broker.id") != config.get_int("node.id"))
    return line(config, "broker.id", fmt::format("must equal node.id ({})", config.get_int("node.id")));
  const auto roles = config.find_list("process.roles");
  if (roles && std::ranges::find(*roles, "broker") == roles->end())
    return line(config, "process.roles", "must have broker; there are no separate controllers");
  const auto protocols = config.get_list("group.coordinator.rebalance.protocols");
  if (std::ranges::find(protocols, "classic") == protocols.end())
    return line(config, "group.coordinator.rebalance.protocols", "classic cannot be left out");
  return std::nullopt;
}

// The first of the keys that is set, the last where none is: the one whose value counts.
std::string_view deciding(const Config& config, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys)
    if (config.is_set(key)) return key;
  return *(keys.end() - 1);
}

Problem check_log(const Config& config) {
  const LogDefaults log = log_defaults(config);
  if (log.roll_ms < 1) return line(config, deciding(config, {"log.roll.ms", "log.roll.hours"}), "must be at least 1");
  if (log.roll_jitter_ms < 0)
    return line(config, deciding(config, {"log.roll.jitter.ms", "log.roll.jitter.hours"}), "must not be negative");
  if (log.retention_ms == 0)
    return line(config, deciding(config, {"log.retention.ms", "log.retention.minutes", "log.retention.hours"}),
                "must be at least 1, or negative for no limit");

  constexpr std::int64_t kLeastPerCleaner = 1'048'576;
  const std::int64_t threads = config.get_int("log.cleaner.threads");
  const std::int64_t buffer = config.get_long("log.cleaner.dedupe.buffer.size");
  if (buffer / threads <= kLeastPerCleaner)
    return line(config, deciding(config, {"log.cleaner.dedupe.buffer.size", "log.cleaner.threads"}),
                fmt::format("each of the {} cleaner threads needs more than 1 MiB of the {} bytes", threads, buffer));

  const auto cordoned = config.get_list("cordoned.log.dirs");
  const auto dirs = log_dirs(config);
  const bool all = std::ranges::find(cordoned, "*") != cordoned.end();
  if (all && cordoned.size() > 1) return line(config, "cordoned.log.dirs", "* must stand alone");
  for (const std::string& dir : cordoned)
    if (!all && std::ranges::find(dirs, dir) == dirs.end())
      return line(config, "cordoned.log.dirs", fmt::format("{} is not in log.dirs", dir));
  return std::nullopt;
}

Problem check_connections(const Config& config) {
  const std::int64_t queued = config.get_long("queued.max.request.bytes");
  const std::int64_t largest = config.get_int("socket.request.max.bytes");
  if (queued > 0 && queued < largest)
    return line(config, "queued.max.request.bytes",
                fmt::format("must not be less than socket.request.max.bytes ({})", largest));
  if (config.get_int("max.connections.per.ip") == 0 && config.get_string("max.connections.per.ip.overrides").empty())
    return line(config, "max.connections.per.ip", "0 needs max.connections.per.ip.overrides");
  const std::int64_t idle = config.get_long("connections.max.idle.ms");
  const std::int64_t delay = config.get_int("connection.failed.authentication.delay.ms");
  if (idle >= 0 && delay >= idle)
    return line(config, deciding(config, {"connection.failed.authentication.delay.ms", "connections.max.idle.ms"}),
                fmt::format("connection.failed.authentication.delay.ms ({}) must be less than connections.max.idle.ms "
                            "({})",
                            delay, idle));
  return std::nullopt;
}

bool enabled(const Config& config, const Endpoint& endpoint, std::string_view mechanism) {
  const auto mechanisms = config.get_list("sasl.enabled.mechanisms", {.listener = endpoint.listener});
  return std::ranges::find(mechanisms, mechanism) != mechanisms.end();
}

Problem check_oauth(const Config& config, const Endpoint& endpoint) {
  const Scope scope{.listener = endpoint.listener, .mechanism = "OAUTHBEARER"};
  constexpr std::string_view kUrl = "sasl.oauthbearer.jwks.endpoint.url";
  if (!config.find_string(kUrl, scope)) return std::nullopt;
  if (config.get_list("sasl.oauthbearer.expected.audience", scope).empty() &&
      !config.get_bool("sasl.oauthbearer.allow.unverified.audience", scope))
    return line(config, kUrl,
                "needs sasl.oauthbearer.expected.audience, or sasl.oauthbearer.allow.unverified.audience=true");
  if (!config.find_string("sasl.oauthbearer.expected.issuer", scope) &&
      !config.get_bool("sasl.oauthbearer.allow.unverified.issuer", scope))
    return line(config, kUrl,
                "needs sasl.oauthbearer.expected.issuer, or sasl.oauthbearer.allow.unverified.issuer=true");
  return std::nullopt;
}

Problem check_sasl(const Config& config, const Listeners& listeners) {
  for (const Endpoint& endpoint : listeners.bound) {
    if (!uses_sasl(endpoint.protocol)) continue;
    if (enabled(config, endpoint, "GSSAPI"))
      return line(config, "sasl.enabled.mechanisms",
                  fmt::format("GSSAPI is not offered (listener {}); allowed: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, "
                              "OAUTHBEARER",
                              endpoint.listener));
    if (enabled(config, endpoint, "OAUTHBEARER"))
      if (auto problem = check_oauth(config, endpoint)) return problem;
    constexpr std::string_view kBetween = "sasl.mechanism.inter.broker.protocol";
    const bool was_named =
        config.is_set("inter.broker.listener.name") || config.is_set("security.inter.broker.protocol");
    if (was_named && endpoint.listener == listeners.inter_broker &&
        !enabled(config, endpoint, config.get_string(kBetween)))
      return line(config, kBetween, "must be in sasl.enabled.mechanisms, for the inter-broker listener uses SASL");
  }
  return std::nullopt;
}

Problem check_listeners(const Config& config) {
  const auto listeners = parse_listeners(config);
  if (!listeners) return listeners.error();
  if (auto console = parse_console_listeners(config); !console) return console.error();
  for (const std::string& name : config.find_list("early.start.listeners").value_or(std::vector<std::string>{})) {
    const auto bound = config.get_list("listeners");
    const auto controllers = config.find_list("controller.listener.names").value_or(std::vector<std::string>{});
    const bool known =
        std::ranges::any_of(bound, [&name](const std::string& l) { return l.starts_with(name + "://"); });
    if (!known && std::ranges::find(controllers, name) == controllers.end())
      return line(config, "early.start.listeners", fmt::format("{} is not in listeners", name));
  }
  // Who comes over a plain listener is anonymous: an authorizer helps where that does not open everything.
  const bool is_guarded = !config.get_string("authorizer.class.name").empty() &&
                          !config.get_bool("allow.everyone.if.no.acl.found") &&
                          !config.get_string("super.users").contains("User:ANONYMOUS");
  for (const Endpoint& endpoint : listeners->bound)
    if (endpoint.protocol == SecurityProtocol::plaintext && !is_loopback(endpoint.host) && !is_guarded &&
        !config.get_bool("thalweg.allow.insecure.listeners"))
      return line(config, "listeners",
                  fmt::format("{} lets anyone who reaches it do everything; bind it to a loopback address, or set "
                              "thalweg.allow.insecure.listeners=true",
                              endpoint.listener));
  return check_sasl(config, *listeners);
}

}  // namespace

std::optional<std::string> cross_check(const Config& broker) {
  for (const auto check : {check_identity, check_listeners, check_connections, check_log, check_bounds})
    if (auto problem = check(broker)) return problem;
  return std::nullopt;
}

std::optional<std::string> check_topic(const Config& topic, const Config& broker) {
  return ordered(effective_topic(topic, broker), "min.compaction.lag.ms", "max.compaction.lag.ms");
}

std::optional<std::string> check_group(const Config& group, const Config& broker) {
  for (const GroupBounds& bounds : group_bounds()) {
    if (!group.is_set(bounds.key)) continue;
    const std::int64_t value = number(group, bounds.key);
    if (!bounds.low.empty() && value < number(broker, bounds.low))
      return line(group, bounds.key,
                  fmt::format("must not be less than {} ({})", bounds.low, number(broker, bounds.low)));
    if (!bounds.high.empty() && value > number(broker, bounds.high))
      return line(group, bounds.key,
                  fmt::format("must not be more than {} ({})", bounds.high, number(broker, bounds.high)));
  }
  for (const std::string_view kind : {"consumer", "share", "streams"}) {
    const std::string heartbeat = fmt::format("{}.heartbeat.interval.ms", kind);
    const std::string session = fmt::format("{}.session.timeout.ms", kind);
    if (!group.is_set(heartbeat) && !group.is_set(session)) continue;
    const auto in_force = [&](const std::string& key) {
      return group.is_set(key) ? number(group, key) : number(broker, "group." + key);
    };
    if (in_force(session) <= in_force(heartbeat))
      return line(
          group, group.is_set(session) ? session : heartbeat,
          fmt::format("{} ({}) must be more than {} ({})", session, in_force(session), heartbeat, in_force(heartbeat)));
  }
  if (const auto assignor = group.find_string("streams.assignor.name")) {
    const auto known = broker.get_list("group.streams.assignors");
    if (std::ranges::find(known, *assignor) == known.end())
      return line(group, "streams.assignor.name", fmt::format("must be one of {}", fmt::join(known, ", ")));
  }
  return std::nullopt;
}

std::optional<std::string> check_live_change(const Config& before, const Config& after) {
  for (const std::string_view key : {"max.connections", "max.connection.creation.rate"})
    if (number(after, key) == 0 && number(before, key) != 0)
      return line(after, key, "must be at least 1, or nobody could connect to take it back");
  constexpr std::array kThreads = {"background.threads",
                                   "log.cleaner.threads",
                                   "num.io.threads",
                                   "num.network.threads",
                                   "num.recovery.threads.per.data.dir",
                                   "num.replica.fetchers"};
  for (const std::string_view key : {"listeners", "listener.security.protocol.map"})
    if (before.text(key) != after.text(key))
      return line(after, key, "cannot be changed while the broker runs; it is read from the file at the start");
  for (const std::string_view key : kThreads) {
    const std::int64_t now = number(before, key);
    const std::int64_t then = number(after, key);
    if (then < now / 2) return line(after, key, fmt::format("must be at least half of what it is ({})", now));
    if (then > now * 2) return line(after, key, fmt::format("must be at most double of what it is ({})", now));
  }
  return std::nullopt;
}

std::optional<std::string> check_dynamic_change(std::string_view name, ChangeOf what) {
  const ConfigKey* key = find_broker_key(name);
  const bool prefixed = has_listener_prefix(name);
  // Kafka takes names that it does not know, for plug-ins.
  if (key == nullptr && prefixed && what == ChangeOf::default_of_all)
    return fmt::format("{} can be changed only for one broker", name);
  if (key == nullptr) return std::nullopt;
  const bool per_broker = key->dynamic == DynamicMode::per_broker || key->dynamic == DynamicMode::per_listener;
  if (key->dynamic == DynamicMode::read_only && !prefixed)
    return fmt::format("{} cannot be changed while the broker runs", name);
  if (key->dynamic == DynamicMode::per_listener && !prefixed)
    return fmt::format("{} can be changed only for one listener: listener.name.NAME.{}", name, name);
  const bool whole_cluster = name.ends_with(".max.connections") || name.ends_with(".max.connection.creation.rate") ||
                             name.ends_with(".num.network.threads");
  if (what == ChangeOf::default_of_all && (per_broker || (prefixed && !whole_cluster)))
    return fmt::format("{} can be changed only for one broker", name);
  return std::nullopt;
}

}  // namespace thalweg::config
