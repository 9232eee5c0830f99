// UnregisterController (API 94): takes controllers out of the cluster that are gone for good.
#include <fmt/format.h>

#include "broker/broker.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

using protocol::ErrorCode;

Awaitable<protocol::UnregisterControllerResponse> unregister_controller(RequestContext& context,
                                                                        protocol::UnregisterControllerRequest request) {
  protocol::UnregisterControllerResponse response;
  if (!context.authorized(broker::AclOperation::alter, broker::ResourceType::cluster, broker::kClusterResource)) {
    response.error_code = ErrorCode::cluster_authorization_failed;
    response.error_message = protocol::error_text(response.error_code);
  } else if (request.controller_id == context.broker.settings().node_id) {
    response.error_code = ErrorCode::invalid_request;
    response.error_message = fmt::format("Controller {} is the one that answers", request.controller_id);
  } else {
    response.error_code = ErrorCode::controller_id_not_registered;
    response.error_message = fmt::format("There is no controller {}", request.controller_id);
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
