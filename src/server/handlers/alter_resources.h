// What AlterConfigs and IncrementalAlterConfigs share: which errors come first, and an answer for each resource.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/config_admin.h"
#include "protocol/error.h"
#include "runtime/await.h"
#include "server/handlers/config_resources.h"

namespace thalweg::server::handlers {

// What is asked for one resource.
struct AskedAlteration {
  std::int8_t type = 0;
  std::string name;
  std::vector<broker::ConfigChange> changes;
  bool replaces = false;
};

// Does it, or with validate_only says whether it would go.
//   errors   those of broker::check_changes, before those of the authorizer, before those of broker::alter_configs
//            invalid_request: a kind of resource that does not exist or cannot be changed this way
runtime::Awaitable<protocol::Result<void>> alter_resource(broker::RequestContext& context, AskedAlteration asked,
                                                          bool validate_only);

// Answers a whole request; `asked_of` makes an AskedAlteration of each of its resources.
template <class Response, class Request, class AskedOf>
runtime::Awaitable<Response> alter_resources(broker::RequestContext& context, Request request, AskedOf asked_of) {
  using protocol::ErrorCode;
  Response response;
  std::map<std::pair<std::int8_t, std::string_view>, int> times;
  for (const auto& resource : request.resources) ++times[{resource.resource_type, resource.resource_name.view()}];
  for (const auto& resource : request.resources) {
    auto& result = response.responses.emplace_back();
    result.resource_type = resource.resource_type;
    result.resource_name = resource.resource_name.view();
    result.error_message.reset();
    protocol::Result<void> altered;
    if (times[{resource.resource_type, resource.resource_name.view()}] > 1) {
      altered = protocol::fail(ErrorCode::invalid_request, "A resource can be named only once.");
    } else {
      AskedAlteration asked = asked_of(resource);
      altered = co_await alter_resource(context, std::move(asked), request.validate_only);
    }
    if (altered) continue;
    result.error_code = altered.error().code;
    // To who must not change the brokers Kafka says only the code.
    const auto type = static_cast<ConfigResourceType>(resource.resource_type);
    const bool of_broker = type == ConfigResourceType::broker || type == ConfigResourceType::broker_logger;
    if (of_broker && altered.error().code == ErrorCode::cluster_authorization_failed) continue;
    result.error_message = altered.error().detail.empty() ? protocol::String(protocol::error_text(result.error_code))
                                                          : protocol::String(altered.error().detail);
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
