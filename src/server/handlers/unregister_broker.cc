// UnregisterBroker (API 64): takes brokers out of the cluster that are gone for good.
#include <fmt/format.h>

#include "broker/broker.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

using protocol::ErrorCode;

Awaitable<protocol::UnregisterBrokerResponse> unregister_broker(RequestContext& context,
                                                                protocol::UnregisterBrokerRequest request) {
  protocol::UnregisterBrokerResponse response;
  if (!context.authorized(broker::AclOperation::alter, broker::ResourceType::cluster, broker::kClusterResource)) {
    response.error_code = ErrorCode::cluster_authorization_failed;
    response.error_message = protocol::error_text(response.error_code);
  } else if (request.broker_id == context.broker.node_id()) {
    response.error_code = ErrorCode::invalid_request;
    response.error_message =
        fmt::format("Broker {} is the one that answers, and the only one", request.broker_id.value());
  } else {
    response.error_code = ErrorCode::broker_id_not_registered;
    response.error_message = fmt::format("There is no broker {}", request.broker_id.value());
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
