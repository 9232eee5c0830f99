// IncrementalAlterConfigs (API 44): sets, deletes, appends to and subtracts from single keys.
#include <fmt/format.h>

#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/config_admin.h"
#include "server/handlers/config_resources.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using broker::AclOperation;
using protocol::ErrorCode;
using protocol::Result;
using Resource = protocol::IncrementalAlterConfigsRequest::AlterConfigsResource;

std::vector<broker::ConfigChange> changes_of(const Resource& resource) {
  std::vector<broker::ConfigChange> changes;
  for (const auto& config : resource.configs)
    changes.push_back({.name = config.name.str(),
                       .operation = static_cast<broker::ConfigOperation>(config.config_operation),
                       .value = config.value ? std::optional(config.value->str()) : std::nullopt});
  return changes;
}

Awaitable<Result<void>> alter(RequestContext& context, const Resource& resource, bool validate_only) {
  const auto type = static_cast<ConfigResourceType>(resource.resource_type);
  const std::optional<records::ResourceType> stored = stored_type(type);
  if (!stored)
    co_return protocol::fail(ErrorCode::invalid_request,
                             fmt::format("Resources of type {} have no configs to change", resource.resource_type));
  if (const ErrorCode denied = check_access(context, type, resource.resource_name.view(), AclOperation::alter_configs);
      denied != ErrorCode::none)
    co_return protocol::fail(denied);
  records::ConfigResource target{.type = *stored, .name = resource.resource_name.str()};
  auto altered = co_await broker::alter_configs(context, std::move(target), changes_of(resource), validate_only);
  co_return altered;
}

}  // namespace

Awaitable<protocol::IncrementalAlterConfigsResponse> incremental_alter_configs(
    RequestContext& context, protocol::IncrementalAlterConfigsRequest request) {
  protocol::IncrementalAlterConfigsResponse response;
  std::map<std::pair<std::int8_t, std::string_view>, int> times;
  for (const auto& resource : request.resources) ++times[{resource.resource_type, resource.resource_name.view()}];
  for (const auto& resource : request.resources) {
    auto& result = response.responses.emplace_back();
    result.resource_type = resource.resource_type;
    result.resource_name = resource.resource_name.view();
    result.error_message.reset();
    Result<void> altered;
    if (times[{resource.resource_type, resource.resource_name.view()}] > 1) {
      altered = protocol::fail(ErrorCode::invalid_request, "A resource can be named only once.");
    } else {
      altered = co_await alter(context, resource, request.validate_only);
    }
    if (altered) continue;
    result.error_code = altered.error().code;
    // To who must not change the cluster Kafka says only the code.
    if (altered.error().code == ErrorCode::cluster_authorization_failed) continue;
    result.error_message = altered.error().detail.empty() ? protocol::String(protocol::error_text(result.error_code))
                                                          : protocol::String(altered.error().detail);
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
