// IncrementalAlterConfigs (API 44): sets, deletes, appends to and subtracts from single keys.
#include <optional>
#include <utility>

#include "server/handlers/alter_resources.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::IncrementalAlterConfigsRequest;
using protocol::IncrementalAlterConfigsResponse;

struct ChangesOf {
  AskedAlteration operator()(const IncrementalAlterConfigsRequest::AlterConfigsResource& resource) const {
    AskedAlteration asked{.type = resource.resource_type, .name = resource.resource_name.str(), .changes = {}};
    for (const auto& config : resource.configs)
      asked.changes.push_back({.name = config.name.str(),
                               .operation = static_cast<broker::ConfigOperation>(config.config_operation),
                               .value = config.value ? std::optional(config.value->str()) : std::nullopt});
    return asked;
  }
};

}  // namespace

Awaitable<IncrementalAlterConfigsResponse> incremental_alter_configs(RequestContext& context,
                                                                     IncrementalAlterConfigsRequest request) {
  co_return co_await alter_resources<IncrementalAlterConfigsResponse>(context, std::move(request), ChangesOf{});
}

}  // namespace thalweg::server::handlers
