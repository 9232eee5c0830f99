// DescribeConfigs (API 32): every key of a resource with its source, synonyms and documentation.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "broker/topic_admin.h"
#include "config/value.h"
#include "server/handlers/config_resources.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::DescribeConfigsResponse;
using protocol::ErrorCode;
using protocol::Result;
using Described = std::vector<config::Described>;

Result<Described> describe(const RequestContext& context, ConfigResourceType type, const std::string& name, const Layers& layers) {
  const metadata::Snapshot& snapshot = *context.shard.snapshot();
  switch (type) {
    case ConfigResourceType::topic: {
      if (auto fault = broker::topic_name_fault(name)) return protocol::fail(ErrorCode::invalid_topic_exception, std::move(*fault));
      if (snapshot.topic(name) == nullptr) return protocol::fail(ErrorCode::unknown_topic_or_partition);
      const auto own = broker::Broker::overrides_of(snapshot, {.type = records::ResourceType::topic, .name = name});
      return config::describe_topic(own, layers.view());
    }
    case ConfigResourceType::broker: {
      if (name.empty()) return config::describe_cluster_default(layers.view());
      const auto id = config::parse_integer(name);
      if (!id)
        return protocol::fail(ErrorCode::invalid_request, fmt::format("Broker id must be an integer, but it is: {}", name));
      if (*id != context.broker.settings().node_id)
        return protocol::fail(ErrorCode::invalid_request,
                              fmt::format("Unexpected broker id, expected {} or empty string, but received {}",
                                          context.broker.settings().node_id, name));
      return config::describe_broker(layers.view());
    }
    case ConfigResourceType::group: {
      const auto own = broker::Broker::overrides_of(snapshot, {.type = records::ResourceType::group, .name = name});
      return config::describe_group(own, layers.view());
    }
    case ConfigResourceType::client_metrics: {
      const auto own = broker::Broker::overrides_of(snapshot, {.type = records::ResourceType::client_metrics, .name = name});
      return config::describe_client_metrics(own);
    }
    default: break;
  }
  return protocol::fail(ErrorCode::invalid_request, fmt::format("Unsupported resource type: {}", static_cast<int>(type)));
}

}  // namespace

Awaitable<DescribeConfigsResponse> describe_configs(RequestContext& context, protocol::DescribeConfigsRequest request) {
  DescribeConfigsResponse response;
  const Layers layers(context);
  for (const auto& resource : request.resources) {
    auto& result = response.results.emplace_back();
    result.resource_type = resource.resource_type;
    result.resource_name = resource.resource_name.view();
    const auto described = describe(context, static_cast<ConfigResourceType>(resource.resource_type),
                                    resource.resource_name.str(), layers);
    if (!described) {
      result.error_code = described.error().code;
      result.error_message = described.error().detail.empty() ? protocol::String(protocol::error_text(described.error().code))
                                                              : protocol::String(described.error().detail);
      continue;
    }
    result.error_message.reset();
    const auto asked_for = [&](const std::string& name) {
      return !resource.configuration_keys ||
             std::ranges::any_of(*resource.configuration_keys, [&](const auto& key) { return key == std::string_view(name); });
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
