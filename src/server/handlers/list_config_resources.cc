// ListConfigResources (API 74): what carries configs. Version 0 knows client metrics subscriptions alone (KIP-714),
// version 1 every kind (KIP-1142).
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "broker/broker.h"
#include "server/handlers/config_resources.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using broker::AclOperation;
using broker::RequestContext;
using protocol::ErrorCode;
using protocol::ListConfigResourcesResponse;

// In the order in which they are listed.
constexpr std::array kKinds = {ConfigResourceType::group, ConfigResourceType::client_metrics,
                               ConfigResourceType::broker_logger, ConfigResourceType::broker,
                               ConfigResourceType::topic};

void add(ListConfigResourcesResponse& response, ConfigResourceType kind, std::string_view name) {
  auto& resource = response.config_resources.emplace_back();
  resource.resource_name = protocol::String(name);
  resource.resource_type = static_cast<std::int8_t>(kind);
}

// Topics and brokers are listed whether something is set on them or not; of the other kinds there is nothing else.
void add_all(const RequestContext& context, ConfigResourceType kind, ListConfigResourcesResponse& response) {
  const metadata::Snapshot& snapshot = *context.shard.snapshot();
  if (kind == ConfigResourceType::topic) {
    for (const auto& [name, topic] : snapshot.topics()) add(response, kind, name);
  } else if (kind == ConfigResourceType::broker || kind == ConfigResourceType::broker_logger) {
    add(response, kind, std::to_string(context.broker.settings().node_id));
  } else {
    for (const auto& [resource, configs] : snapshot.configured_resources())
      if (resource.type == stored_type(kind)) add(response, kind, resource.name);
  }
}

}  // namespace

Awaitable<ListConfigResourcesResponse> list_config_resources(RequestContext& context,
                                                             protocol::ListConfigResourcesRequest request) {
  ListConfigResourcesResponse response;
  if (!context.authorized(AclOperation::describe_configs, broker::ResourceType::cluster, broker::kClusterResource)) {
    response.error_code = ErrorCode::cluster_authorization_failed;
    co_return response;
  }
  const auto is_kind = [](std::int8_t type) {
    return std::ranges::find(kKinds, static_cast<ConfigResourceType>(type)) != kKinds.end();
  };
  if (!std::ranges::all_of(request.resource_types, is_kind)) {
    response.error_code = ErrorCode::unsupported_version;
    co_return response;
  }
  const auto wanted = [&](ConfigResourceType kind) {
    if (context.version == 0) return kind == ConfigResourceType::client_metrics;
    return request.resource_types.empty() ||
           std::ranges::find(request.resource_types, static_cast<std::int8_t>(kind)) != request.resource_types.end();
  };
  for (const ConfigResourceType kind : kKinds)
    if (wanted(kind)) add_all(context, kind, response);
  co_return response;
}

}  // namespace thalweg::server::handlers
