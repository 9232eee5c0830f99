// DescribeConfigs (API 32): every key of a resource with its source, synonyms and documentation.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "broker/broker_id.h"
#include "broker/logger_admin.h"
#include "broker/topic_admin.h"
#include "server/handlers/config_resources.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::DescribeConfigsResponse;
using protocol::ErrorCode;
using protocol::Result;
using Described = std::vector<config::Described>;

bool is_known(std::int8_t type) {
  return type == static_cast<std::int8_t>(ConfigResourceType::broker_logger) ||
         stored_type(static_cast<ConfigResourceType>(type)).has_value();
}

Result<Described> describe(const RequestContext& context, ConfigResourceType type, const std::string& name,
                           const Layers& layers) {
  const metadata::Snapshot& snapshot = *context.shard.snapshot();
  if (const ErrorCode denied = check_access(context, type, name, broker::AclOperation::describe_configs);
      denied != ErrorCode::none)
    return protocol::fail(denied, std::string(protocol::error_text(denied)));
  switch (type) {
    case ConfigResourceType::topic: {
      if (auto fault = broker::topic_name_fault(name))
        return protocol::fail(ErrorCode::invalid_topic_exception, std::move(*fault));
      if (snapshot.topic(name) == nullptr) return protocol::fail(ErrorCode::unknown_topic_or_partition);
      const auto own = broker::Broker::overrides_of(snapshot, {.type = records::ResourceType::topic, .name = name});
      return config::describe_topic(own, layers.view());
    }
    case ConfigResourceType::broker: {
      if (name.empty()) return config::describe_cluster_default(layers.view());
      TRY(broker::check_broker_id(context, name));
      return config::describe_broker(layers.view());
    }
    case ConfigResourceType::broker_logger: {
      TRY(broker::check_broker_id(context, name));
      return broker::describe_loggers();
    }
    case ConfigResourceType::group: {
      if (name.empty()) return protocol::fail(ErrorCode::invalid_request, "A group needs a name");
      const auto own = broker::Broker::overrides_of(snapshot, {.type = records::ResourceType::group, .name = name});
      return config::describe_group(own, layers.view());
    }
    case ConfigResourceType::client_metrics: {
      if (name.empty()) return protocol::fail(ErrorCode::invalid_request, "A client metrics subscription needs a name");
      const auto own =
          broker::Broker::overrides_of(snapshot, {.type = records::ResourceType::client_metrics, .name = name});
      return config::describe_client_metrics(own);
    }
    default:
      break;
  }
  return protocol::fail(ErrorCode::invalid_request,
                        fmt::format("There are no resources of type {}", static_cast<int>(type)));
}

}  // namespace

Awaitable<DescribeConfigsResponse> describe_configs(RequestContext& context, protocol::DescribeConfigsRequest request) {
  DescribeConfigsResponse response;
  const Layers layers(context);
  // A kind of resource that does not exist makes the whole request a wrong one.
  const bool sound = std::ranges::all_of(request.resources, [](const auto& r) { return is_known(r.resource_type); });
  for (const auto& resource : request.resources) {
    auto& result = response.results.emplace_back();
    result.resource_type = resource.resource_type;
    result.resource_name = resource.resource_name.view();
    if (!sound) {
      result.error_code = ErrorCode::invalid_request;
      result.error_message = protocol::String(protocol::error_text(result.error_code));
      continue;
    }
    const auto described = describe(context, static_cast<ConfigResourceType>(resource.resource_type),
                                    resource.resource_name.str(), layers);
    if (!described) {
      result.error_code = described.error().code;
      result.error_message = described.error().detail;
      continue;
    }
    // Neither null nor an empty list names a key: then all are wanted.
    const auto asked_for = [&](const std::string& name) {
      return !resource.configuration_keys || resource.configuration_keys->empty() ||
             std::ranges::any_of(*resource.configuration_keys,
                                 [&](const auto& key) { return key == std::string_view(name); });
    };
    for (const config::Described& entry : *described) {
      if (!asked_for(entry.name)) continue;
      auto& out = result.configs.emplace_back();
      out.name = entry.name;
      out.value.reset();
      if (entry.value) out.value = *entry.value;
      out.read_only = entry.read_only;
      out.config_source = static_cast<std::int8_t>(entry.source);
      out.is_sensitive = entry.sensitive;
      out.config_type = static_cast<std::int8_t>(entry.type);
      out.documentation.reset();
      // Of loggers Kafka says nothing, rather than null.
      if (result.resource_type == static_cast<std::int8_t>(ConfigResourceType::broker_logger))
        out.documentation.emplace();
      if (request.include_documentation) out.documentation = protocol::String(entry.doc);
      if (!request.include_synonyms) continue;
      for (const config::Synonym& synonym : entry.synonyms) {
        auto& s = out.synonyms.emplace_back();
        s.name = synonym.name;
        s.value.reset();
        if (synonym.value) s.value = *synonym.value;
        s.source = static_cast<std::int8_t>(synonym.source);
      }
    }
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
