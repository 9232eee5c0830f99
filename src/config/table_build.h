// The words in which the tables are written. Only the table_*.cc files include this.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "config/key.h"

namespace thalweg::config::build {

inline constexpr std::optional<std::string_view> kNull;
inline constexpr auto kHigh = Importance::high;
inline constexpr auto kMedium = Importance::medium;
inline constexpr auto kLow = Importance::low;
inline constexpr auto kReadOnly = DynamicMode::read_only;
inline constexpr auto kClusterWide = DynamicMode::cluster_wide;
inline constexpr auto kPerBroker = DynamicMode::per_broker;
inline constexpr auto kPerListener = DynamicMode::per_listener;
inline constexpr auto kPerResource = DynamicMode::per_resource;
inline constexpr auto kUsed = KeyClass::used;
inline constexpr auto kAccepted = KeyClass::accepted;
inline constexpr auto kRefused = KeyClass::refused;
inline constexpr std::string_view kNoJava = "Java classes cannot be loaded";

// Whole numbers.
constexpr Validator at_least(std::int64_t min) { return {.rule = Rule::range, .min = min}; }
constexpr Validator between(std::int64_t min, std::int64_t max) {
  return {.rule = Rule::range, .min = min, .max = max};
}
constexpr Validator between_or(std::int64_t min, std::int64_t max, std::int64_t also) {
  return {.rule = Rule::range, .min = min, .max = max, .also = also};
}

// Fractions.
constexpr Validator real_between(double min, double max) {
  return {.rule = Rule::real_range, .real_min = min, .real_max = max};
}

// Strings.
constexpr Validator one_of(std::string_view allowed) { return {.rule = Rule::one_of, .allowed = allowed}; }
constexpr Validator one_of_any_case(std::string_view allowed) {
  return {.rule = Rule::one_of, .allowed = allowed, .ignore_case = true};
}

// Lists. An empty `allowed` admits every entry.
constexpr Validator list_of(std::string_view allowed) { return {.rule = Rule::list, .allowed = allowed}; }
constexpr Validator non_empty_list_of(std::string_view allowed) {
  return {.rule = Rule::list, .allowed = allowed, .empty_list_allowed = false};
}
constexpr Validator distinct_list() { return {.rule = Rule::list, .repetition_allowed = false}; }
constexpr Validator any_list() { return list_of(""); }
constexpr Validator non_empty_list() { return non_empty_list_of(""); }

constexpr Validator of(Rule rule) { return {.rule = rule}; }

// One row of a table.
constexpr ConfigKey key(std::string_view name, Type type, std::optional<std::string_view> default_value,
                        Importance importance, DynamicMode dynamic, KeyClass cls, Validator valid,
                        std::string_view doc) {
  return {.name = name,
          .type = type,
          .default_value = default_value,
          .importance = importance,
          .dynamic = dynamic,
          .cls = cls,
          .valid = valid,
          .doc = doc};
}

// The same row with the reason for which other values are refused.
constexpr ConfigKey because(std::string_view reason, ConfigKey row) {
  row.reason = reason;
  return row;
}

// The same row with the broker key it falls back to.
constexpr ConfigKey falls_back(std::string_view broker_key, ConfigKey row) {
  row.broker_synonym = broker_key;
  return row;
}

// The same row, described only when it was set.
constexpr ConfigKey hidden(ConfigKey row) {
  row.hidden = true;
  return row;
}

}  // namespace thalweg::config::build

namespace thalweg::config {

// The broker's keys by subject, each in its own file.
std::span<const ConfigKey> network_keys();
std::span<const ConfigKey> general_keys();
std::span<const ConfigKey> log_keys();
std::span<const ConfigKey> groups_keys();
std::span<const ConfigKey> share_keys();
std::span<const ConfigKey> streams_keys();
std::span<const ConfigKey> transactions_keys();
std::span<const ConfigKey> authorization_keys();
std::span<const ConfigKey> sasl_keys();
std::span<const ConfigKey> oauth_keys();
std::span<const ConfigKey> ssl_keys();
std::span<const ConfigKey> quotas_keys();
std::span<const ConfigKey> replication_keys();
std::span<const ConfigKey> kraft_keys();
std::span<const ConfigKey> tiered_keys();
std::span<const ConfigKey> own_keys();
std::span<const ConfigKey> topic_keys();
std::span<const ConfigKey> group_keys();
std::span<const ConfigKey> client_metrics_keys();

}  // namespace thalweg::config
