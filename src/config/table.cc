#include "config/table.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "config/table_build.h"

namespace thalweg::config {
namespace {

constexpr std::string_view kListenerPrefix = "listener.name.";

// Keys that may carry a SASL mechanism between the listener's name and their own.
constexpr std::array<std::string_view, 5> kMechanismKeys = {"sasl.jaas.config", "sasl.login.callback.handler.class",
                                                            "sasl.login.class", "sasl.server.callback.handler.class",
                                                            "connections.max.reauth.ms"};

// What follows `listener.name.NAME.`; empty where the name has not that form.
std::string_view after_listener(std::string_view name) {
  if (!name.starts_with(kListenerPrefix)) return {};
  name.remove_prefix(kListenerPrefix.size());
  const std::size_t dot = name.find('.');
  return dot == std::string_view::npos ? std::string_view{} : name.substr(dot + 1);
}

// The key's own name under a listener prefix, without the mechanism where it may have one.
std::string_view overridden_name(std::string_view name) {
  const std::string_view rest = after_listener(name);
  for (const std::string_view key : kMechanismKeys)
    if (rest == key || (rest.ends_with(key) && rest[rest.size() - key.size() - 1] == '.')) return key;
  return rest;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

struct Synonyms {
  std::string_view asked;
  std::vector<std::string_view> names;
};

}  // namespace

Table::Table(std::string_view title, std::vector<Section> sections) : title_(title), sections_(std::move(sections)) {
  for (const Section& section : sections_)
    for (const ConfigKey& key : section.keys) by_name_.push_back(&key);
  std::ranges::sort(by_name_, {}, [](const ConfigKey* key) { return key->name; });
}

const ConfigKey* Table::find(std::string_view name) const {
  const auto at = std::ranges::lower_bound(by_name_, name, {}, [](const ConfigKey* key) { return key->name; });
  return at != by_name_.end() && (*at)->name == name ? *at : nullptr;
}

std::string_view Table::nearest(std::string_view name) const {
  std::string_view best;
  std::size_t fewest = name.size() / 3 + 1;  // more edits than that and the names have little in common
  for (const ConfigKey* key : by_name_) {
    const std::size_t shorter = std::min(key->name.size(), name.size());
    const std::size_t longer = std::max(key->name.size(), name.size());
    if (longer - shorter >= fewest) continue;
    const std::size_t edits = edit_distance(key->name, name);
    if (edits < fewest) {
      fewest = edits;
      best = key->name;
    }
  }
  return best;
}

const Table& broker_table() {
  static const Table table("Broker", {
                                         {"Thalweg's own", own_keys()},
                                         {"Broker and requests", general_keys()},
                                         {"Listeners and connections", network_keys()},
                                         {"Log storage", log_keys()},
                                         {"Consumer groups and offsets", groups_keys()},
                                         {"Share groups", share_keys()},
                                         {"Streams groups", streams_keys()},
                                         {"Transactions", transactions_keys()},
                                         {"Authorization and delegation tokens", authorization_keys()},
                                         {"SASL", sasl_keys()},
                                         {"OAUTHBEARER", oauth_keys()},
                                         {"TLS", ssl_keys()},
                                         {"Quotas, metrics and telemetry", quotas_keys()},
                                         {"Replication and fleet", replication_keys()},
                                         {"Controllers and metadata log", kraft_keys()},
                                         {"Tiered storage", tiered_keys()},
                                     });
  return table;
}

const Table& topic_table() {
  static const Table table("Topic", {{"Topics", topic_keys()}});
  return table;
}

const Table& group_table() {
  static const Table table("Group", {{"Groups", group_keys()}});
  return table;
}

const Table& client_metrics_table() {
  static const Table table("Client metrics", {{"Client metrics subscriptions", client_metrics_keys()}});
  return table;
}

const ConfigKey* find_broker_key(std::string_view name) {
  const std::string_view own = has_listener_prefix(name) ? overridden_name(name) : name;
  return broker_table().find(own);
}

bool has_listener_prefix(std::string_view name) { return !after_listener(name).empty(); }

bool is_plugin_parameter(std::string_view name) {
  return name.starts_with("config.providers.") || name.starts_with("rsm.config.") || name.starts_with("rlmm.config.");
}

std::vector<std::string_view> broker_synonyms(std::string_view name) {
  // The one list of settings that exist in several units.
  static const std::vector<Synonyms> known = {
      {"log.roll.ms", {"log.roll.ms", "log.roll.hours"}},
      {"log.roll.hours", {"log.roll.ms", "log.roll.hours"}},
      {"log.roll.jitter.ms", {"log.roll.jitter.ms", "log.roll.jitter.hours"}},
      {"log.roll.jitter.hours", {"log.roll.jitter.ms", "log.roll.jitter.hours"}},
      {"log.flush.interval.ms", {"log.flush.interval.ms", "log.flush.scheduler.interval.ms"}},
      {"log.retention.ms", {"log.retention.ms", "log.retention.minutes", "log.retention.hours"}},
      {"log.retention.minutes", {"log.retention.ms", "log.retention.minutes", "log.retention.hours"}},
      {"log.retention.hours", {"log.retention.ms", "log.retention.minutes", "log.retention.hours"}},
  };
  for (const Synonyms& synonyms : known)
    if (synonyms.asked == name) return synonyms.names;
  if (has_listener_prefix(name)) return {name, overridden_name(name)};
  return {name};
}

}  // namespace thalweg::config
