// AlterConfigs (API 33): replaces all of a resource's own settings; those that are not named go back to their defaults.
#include <optional>
#include <utility>

#include "server/handlers/alter_resources.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::AlterConfigsRequest;
using protocol::AlterConfigsResponse;

struct ReplacementOf {
  AskedAlteration operator()(const AlterConfigsRequest::AlterConfigsResource& resource) const {
    AskedAlteration asked{
        .type = resource.resource_type, .name = resource.resource_name.str(), .changes = {}, .replaces = true};
    for (const auto& config : resource.configs)
      asked.changes.push_back({.name = config.name.str(),
                               .operation = broker::ConfigOperation::set,
                               .value = config.value ? std::optional(config.value->str()) : std::nullopt});
    return asked;
  }
};

}  // namespace

Awaitable<AlterConfigsResponse> alter_configs(RequestContext& context, AlterConfigsRequest request) {
  co_return co_await alter_resources<AlterConfigsResponse>(context, std::move(request), ReplacementOf{});
}

}  // namespace thalweg::server::handlers
