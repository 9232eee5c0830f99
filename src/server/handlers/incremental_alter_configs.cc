// IncrementalAlterConfigs (API 44): sets, deletes, appends to and subtracts from single keys; for topics.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/commit.h"
#include "broker/topic_admin.h"
#include "config/check.h"
#include "config/value.h"
#include "server/handlers/config_resources.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::ErrorCode;
using protocol::fail;
using protocol::Result;
using Resource = protocol::IncrementalAlterConfigsRequest::AlterConfigsResource;

enum class Operation : std::int8_t { set = 0, delete_ = 1, append = 2, subtract = 3 };

// The list with the entries of `change` added or taken away; what is there already is not added again.
std::string change_list(std::string_view before, std::string_view change, Operation operation) {
  std::vector<std::string> entries = config::split_list(before);
  for (std::string& entry : config::split_list(change)) {
    const auto at = std::ranges::find(entries, entry);
    if (operation == Operation::append && at == entries.end()) entries.push_back(std::move(entry));
    if (operation == Operation::subtract && at != entries.end()) entries.erase(at);
  }
  return config::join_list(entries);
}

// Works out what the topic's own settings become.
Result<config::Overrides> changed(const RequestContext& context, const Resource& resource, const config::Overrides& before) {
  config::Overrides after = before;
  const config::Config broker_config = context.broker.effective_config(*context.shard.snapshot());
  std::set<std::string_view> seen;
  for (const auto& change : resource.configs)
    if (!seen.insert(change.name.view()).second)
      return fail(ErrorCode::invalid_request,
                  fmt::format("Error due to duplicate config keys: {}", change.name.view()));
  for (const auto& change : resource.configs) {
    const std::string name = change.name.str();
    const auto operation = static_cast<Operation>(change.config_operation);
    if (change.config_operation < 0 || change.config_operation > 3)
      return fail(ErrorCode::invalid_request, fmt::format("Unknown operation {} for {}", change.config_operation, name));
    if (!change.value && operation != Operation::delete_)
      return fail(ErrorCode::invalid_request, fmt::format("Null value not supported for : {}", name));
    if (operation == Operation::delete_) {
      after.erase(name);
      continue;
    }
    const config::ConfigKey* key = config::topic_table().find(name);
    if (operation == Operation::set) {
      after[name] = change.value->str();
      continue;
    }
    if (key == nullptr || key->type != config::Type::list)
      return fail(ErrorCode::invalid_config,
                  fmt::format("Can't {} to key {} because its type is not LIST.",
                              operation == Operation::append ? "APPEND" : "SUBTRACT", name));
    const auto own = after.find(name);
    std::string current;
    if (own != after.end()) {
      current = own->second;
    } else {
      const config::Config effective = config::effective_topic(config::Config(config::topic_table()), broker_config);
      current = std::string(effective.text(name).value_or(""));
    }
    after[name] = change_list(current, change.value->view(), operation);
  }
  std::vector<config::Entry> entries;
  for (const auto& [name, value] : after) {
    const config::ConfigKey* key = config::topic_table().find(name);
    if (key == nullptr) return fail(ErrorCode::invalid_config, fmt::format("Unknown topic config name: {}", name));
    const auto good = config::validate_value(*key, value);
    if (!good)
      return fail(ErrorCode::invalid_config, fmt::format("Invalid value {} for configuration {}: {}", value, name, good.error()));
    entries.push_back({.name = name, .value = value, .origin = {}, .line = 0});
  }
  const auto loaded = config::Config::load(config::topic_table(), entries);
  if (!loaded) return fail(ErrorCode::invalid_config, loaded.error());
  if (const auto fault = config::check_topic(*loaded, broker_config)) return fail(ErrorCode::invalid_config, *fault);
  return after;
}

Awaitable<Result<void>> alter_topic(RequestContext& context, const Resource& resource, bool validate_only) {
  const std::string name = resource.resource_name.str();
  const std::shared_ptr<const metadata::Snapshot> snapshot = context.shard.snapshot();
  if (auto fault = broker::topic_name_fault(name)) co_return fail(ErrorCode::invalid_topic_exception, std::move(*fault));
  const metadata::Topic* topic = snapshot->topic(name);
  if (topic == nullptr) co_return fail(ErrorCode::unknown_topic_or_partition, fmt::format("The topic '{}' does not exist.", name));
  const records::ConfigResource target{.type = records::ResourceType::topic, .name = name};
  const config::Overrides before = broker::Broker::overrides_of(*snapshot, target);
  CO_ASSIGN_OR_RETURN(const config::Overrides after, changed(context, resource, before));
  if (validate_only) co_return Result<void>();

  metadata::ChangeSet changes;
  changes.preconditions.emplace_back(metadata::TopicExists{topic->id});
  const metadata::Configs& stored = snapshot->configs(target);
  // Every key that was read is held to what it was; a change in between is answered, not overwritten.
  const auto hold = [&](const std::string& key) {
    const auto it = stored.find(key);
    changes.preconditions.emplace_back(metadata::ConfigAtVersion{
        .resource = target, .key = key, .version = it == stored.end() ? metadata::kNothing : it->second.version});
  };
  for (const auto& [key, value] : before)
    if (!after.contains(key)) {
      hold(key);
      changes.records.emplace_back(records::ConfigRemoved{.resource = target, .key = key});
    }
  for (const auto& [key, value] : after) {
    const auto old = before.find(key);
    if (old != before.end() && old->second == value) continue;
    hold(key);
    changes.records.emplace_back(records::ConfigSet{.resource = target, .key = key, .value = value});
  }
  if (changes.records.empty()) co_return Result<void>();
  const metadata::CommitResult committed = co_await broker::commit(context, std::move(changes));
  if (committed) co_return Result<void>();
  if (committed.error().kind == metadata::CommitFault::Kind::precondition)
    co_return fail(ErrorCode::invalid_request, "The configuration was changed at the same time; try again.");
  co_return std::unexpected(broker::store_error(committed.error()));
}

}  // namespace

Awaitable<protocol::IncrementalAlterConfigsResponse> incremental_alter_configs(RequestContext& context,
                                                                               protocol::IncrementalAlterConfigsRequest request) {
  protocol::IncrementalAlterConfigsResponse response;
  std::map<std::pair<std::int8_t, std::string_view>, int> times;
  for (const auto& resource : request.resources) ++times[{resource.resource_type, resource.resource_name.view()}];
  for (const auto& resource : request.resources) {
    auto& result = response.responses.emplace_back();
    result.resource_type = resource.resource_type;
    result.resource_name = resource.resource_name.view();
    result.error_message.reset();
    const auto type = static_cast<ConfigResourceType>(resource.resource_type);
    Result<void> altered;
    if (times[{resource.resource_type, resource.resource_name.view()}] > 1) {
      altered = fail(ErrorCode::invalid_request, "Each resource must appear at most once.");
    } else if (type == ConfigResourceType::topic) {
      if (context.authorized(broker::AclOperation::alter_configs, broker::ResourceType::topic, resource.resource_name)) {
        altered = co_await alter_topic(context, resource, request.validate_only);
      } else {
        altered = fail(ErrorCode::topic_authorization_failed);
      }
    } else {
      altered = fail(ErrorCode::invalid_request, fmt::format("Unsupported resource type: {}", resource.resource_type));
    }
    if (altered) continue;
    result.error_code = altered.error().code;
    result.error_message = altered.error().detail.empty() ? protocol::String(protocol::error_text(result.error_code))
                                                          : protocol::String(altered.error().detail);
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
