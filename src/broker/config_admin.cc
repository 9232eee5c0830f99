#include "broker/config_admin.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "broker/broker.h"
#include "broker/broker_id.h"
#include "broker/commit.h"
#include "broker/shard.h"
#include "broker/topic_admin.h"
#include "config/check.h"
#include "config/value.h"

namespace thalweg::broker {

namespace {

using protocol::ErrorCode;
using protocol::fail;
using protocol::Result;
using runtime::Awaitable;

const config::Table& table_of(records::ResourceType type) {
  switch (type) {
    case records::ResourceType::topic:
      return config::topic_table();
    case records::ResourceType::broker:
      return config::broker_table();
    case records::ResourceType::client_metrics:
      return config::client_metrics_table();
    case records::ResourceType::group:
      return config::group_table();
  }
  return config::topic_table();
}

// The error for an unknown key, or for a value that does not fit one that is known.
ErrorCode bad_config_error(records::ResourceType type, const config::ConfigKey* key, const std::string& value) {
  if (type != records::ResourceType::client_metrics) return ErrorCode::invalid_config;
  if (key == nullptr) return ErrorCode::invalid_request;
  // Of subscriptions Kafka tells apart what is no number and what is one beyond the limits.
  const auto number = config::parse_integer(config::trimmed(value));
  const bool is_int = number && *number >= std::numeric_limits<std::int32_t>::min() &&
                      *number <= std::numeric_limits<std::int32_t>::max();
  return key->type == config::Type::int_ && is_int ? ErrorCode::invalid_request : ErrorCode::invalid_config;
}

std::string_view kind_name(records::ResourceType type) {
  switch (type) {
    case records::ResourceType::topic:
      return "topic";
    case records::ResourceType::broker:
      return "broker";
    case records::ResourceType::client_metrics:
      return "client metrics subscription";
    case records::ResourceType::group:
      return "group";
  }
  return "resource";
}

// Kafka's controller has the lists of topics and brokers in its tables, and none of the other kinds.
bool has_lists(const config::Table& table) {
  return &table == &config::topic_table() || &table == &config::broker_table();
}

Result<std::string> changed_list(const config::Table& table, const config::ConfigKey* key, const ConfigChange& change,
                                 std::string_view before) {
  const bool append = change.operation == ConfigOperation::append;
  if (key == nullptr || key->type != config::Type::list || !has_lists(table))
    return fail(ErrorCode::invalid_config, fmt::format("{} is no list, nothing can be {} it", change.name,
                                                       append ? "appended to" : "subtracted from"));
  return append ? config::append_to_list(before, *change.value) : config::subtract_from_list(before, *change.value);
}

// The rules for what may be named; brokers have their own.
Result<void> check_name(const records::ConfigResource& resource) {
  if (resource.type == records::ResourceType::broker) return {};
  if (resource.name.empty()) {
    const bool topic = resource.type == records::ResourceType::topic;
    return fail(ErrorCode::invalid_request, topic ? "there is no default of all topics"
                                                  : fmt::format("A {} needs a name", kind_name(resource.type)));
  }
  if (resource.type == records::ResourceType::topic)
    if (auto fault = topic_name_fault(resource.name))
      return fail(ErrorCode::invalid_topic_exception, std::move(*fault));
  return {};
}

// What a broker's settings come to when it, or the default of all, has `after` of its own.
config::BrokerLayers layers_after(const RequestContext& context, bool is_default, const config::Overrides& after,
                                  const config::Overrides& other) {
  return {.file = context.broker.file_config(),
          .cluster = is_default ? after : other,
          .broker = is_default ? other : after};
}

// The rules for a broker's own settings, or the default of all: what may be set, and what comes of it.
Result<void> check_broker(const RequestContext& context, const records::ConfigResource& resource,
                          const config::Overrides& after) {
  const bool is_default = resource.name.empty();
  const auto what = is_default ? config::ChangeOf::default_of_all : config::ChangeOf::one_broker;
  for (const auto& [name, value] : after)
    if (auto fault = config::check_dynamic_change(name, what))
      return fail(ErrorCode::invalid_request, std::move(*fault));
  for (const auto& [name, value] : after) {
    const config::ConfigKey* key = config::find_broker_key(name);
    if (key == nullptr) continue;  // a plug-in's
    if (const auto good = config::validate_value(*key, value); !good)
      return fail(ErrorCode::invalid_request, key->sensitive() ? fmt::format("{}: {}", name, good.error())
                                                               : fmt::format("{}={}: {}", name, value, good.error()));
  }
  const metadata::Snapshot& snapshot = *context.shard.snapshot();
  const config::Overrides other =
      Broker::overrides_of(snapshot, is_default ? context.broker.own_resource() : records::broker_default());
  const auto effective = config::effective_broker(layers_after(context, is_default, after, other));
  if (!effective) return fail(ErrorCode::invalid_request, effective.error());
  if (auto fault = config::cross_check(*effective)) return fail(ErrorCode::invalid_request, std::move(*fault));
  if (auto fault = config::check_live_change(context.broker.effective_config(snapshot), *effective))
    return fail(ErrorCode::invalid_request, std::move(*fault));
  return {};
}

config::Overrides before_of(const metadata::Snapshot& snapshot, const ConfigAlteration& alteration) {
  return alteration.replaces ? config::Overrides() : Broker::overrides_of(snapshot, alteration.resource);
}

bool names(std::span<const ConfigChange> changes, std::string_view key) {
  return std::ranges::find(changes, key, &ConfigChange::name) != changes.end();
}

metadata::ChangeSet change_set(const metadata::Snapshot& snapshot, const ConfigAlteration& alteration,
                               const config::Overrides& after) {
  const records::ConfigResource& resource = alteration.resource;
  const config::Overrides before = Broker::overrides_of(snapshot, resource);
  metadata::ChangeSet changes;
  if (resource.type == records::ResourceType::topic)
    changes.preconditions.emplace_back(metadata::TopicExists{snapshot.topic(resource.name)->id});
  const metadata::Configs& stored = snapshot.configs(resource);
  // Every key that was read is held to what it was; a change in between is answered, not overwritten.
  const auto hold = [&](const std::string& key) {
    const auto it = stored.find(key);
    changes.preconditions.emplace_back(metadata::ConfigAtVersion{
        .resource = resource, .key = key, .version = it == stored.end() ? metadata::kNothing : it->second.version});
  };
  for (const auto& [key, value] : before) {
    if (after.contains(key)) continue;
    hold(key);
    changes.records.emplace_back(records::ConfigRemoved{.resource = resource, .key = key});
  }
  for (const auto& [key, value] : after) {
    const auto old = before.find(key);
    // A broker's key that is set to what it is makes the broker read again what it names: a key store, say.
    const bool again = resource.type == records::ResourceType::broker && names(alteration.changes, key);
    if (old != before.end() && old->second == value && !again) continue;
    hold(key);
    changes.records.emplace_back(records::ConfigSet{.resource = resource, .key = key, .value = value});
  }
  return changes;
}

}  // namespace

Result<void> check_changes(std::span<const ConfigChange> changes) {
  std::set<std::string_view> seen;
  for (const ConfigChange& change : changes)
    if (!seen.insert(change.name).second)
      return fail(ErrorCode::invalid_request, fmt::format("{} is named twice", change.name));
  std::vector<std::string_view> without_value;
  for (const ConfigChange& change : changes)
    if (change.operation != ConfigOperation::delete_ && !change.value) without_value.push_back(change.name);
  if (!without_value.empty())
    return fail(ErrorCode::invalid_request, fmt::format("null is no value for {}", fmt::join(without_value, ", ")));
  return {};
}

Result<config::Overrides> apply_changes(const config::Table& table, const config::Overrides& before,
                                        std::span<const ConfigChange> changes) {
  config::Overrides after = before;
  for (const ConfigChange& change : changes) {
    if (change.operation < ConfigOperation::set || change.operation > ConfigOperation::subtract)
      return fail(ErrorCode::invalid_request,
                  fmt::format("Unknown operation {} on {}", static_cast<int>(change.operation), change.name));
    if (change.operation == ConfigOperation::delete_) {
      after.erase(change.name);
      continue;
    }
    if (change.operation == ConfigOperation::set) {
      after[change.name] = *change.value;
      continue;
    }
    const config::ConfigKey* key = table.find(change.name);
    const auto own = after.find(change.name);
    const std::string current =
        own != after.end() ? own->second : std::string(key == nullptr ? "" : key->default_value.value_or(""));
    ASSIGN_OR_RETURN(after[change.name], changed_list(table, key, change, current));
  }
  return after;
}

Result<void> check_own_configs(records::ResourceType type, const config::Overrides& own, const config::Config& broker) {
  const config::Table& table = table_of(type);
  std::vector<config::Entry> entries;
  for (const auto& [name, value] : own) {
    const config::ConfigKey* key = table.find(name);
    if (key == nullptr)
      return fail(bad_config_error(type, key, value), fmt::format("Unknown {} config: {}", kind_name(type), name));
    const auto good = config::validate_value(*key, value);
    if (!good) return fail(bad_config_error(type, key, value), fmt::format("{}={}: {}", name, value, good.error()));
    entries.push_back({.name = name, .value = value, .origin = {}, .line = 0});
  }
  const auto loaded = config::Config::load(table, entries);
  if (!loaded) return fail(ErrorCode::invalid_config, loaded.error());
  std::optional<std::string> fault;
  if (type == records::ResourceType::topic) fault = config::check_topic(*loaded, broker);
  if (type == records::ResourceType::group) fault = config::check_group(*loaded, broker);
  if (fault) return fail(ErrorCode::invalid_config, std::move(*fault));
  return {};
}

Awaitable<Result<void>> alter_configs(RequestContext& context, ConfigAlteration alteration, bool validate_only) {
  const std::shared_ptr<const metadata::Snapshot> snapshot = context.shard.snapshot();
  const records::ConfigResource& resource = alteration.resource;
  if (resource.type == records::ResourceType::broker && !resource.name.empty())
    CO_TRY(check_broker_id(context, resource.name));
  CO_ASSIGN_OR_RETURN(const config::Overrides after,
                      apply_changes(table_of(resource.type), before_of(*snapshot, alteration), alteration.changes));
  CO_TRY(check_name(resource));
  if (resource.type == records::ResourceType::broker) {
    CO_TRY(check_broker(context, resource, after));
  } else {
    CO_TRY(check_own_configs(resource.type, after, context.broker.effective_config(*snapshot)));
  }
  if (resource.type == records::ResourceType::topic && snapshot->topic(resource.name) == nullptr)
    co_return fail(ErrorCode::unknown_topic_or_partition, fmt::format("The topic {} does not exist", resource.name));
  if (validate_only) co_return Result<void>();
  metadata::ChangeSet set = change_set(*snapshot, alteration, after);
  if (set.records.empty()) co_return Result<void>();
  const metadata::CommitResult committed = co_await commit(context, std::move(set));
  if (committed) co_return Result<void>();
  if (committed.error().kind == metadata::CommitFault::Kind::precondition)
    co_return fail(ErrorCode::invalid_request, "The configuration was changed at the same time; try again.");
  co_return std::unexpected(store_error(committed.error()));
}

}  // namespace thalweg::broker
