// PushTelemetry (API 72): takes the metrics that a client pushes (KIP-714).
#include <utility>

#include "broker/broker.h"
#include "broker/client_telemetry.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

Awaitable<protocol::PushTelemetryResponse> push_telemetry(RequestContext& context,
                                                          protocol::PushTelemetryRequest request) {
  protocol::PushTelemetryResponse response;
  const telemetry::ClientInstances::Push push{.subscription_id = request.subscription_id,
                                              .terminating = request.terminating,
                                              .codec = request.compression_type,
                                              .size_bytes = request.metrics.size()};
  response.error_code =
      co_await broker::push_of_client(context, request.client_instance_id, push, std::move(request.metrics));
  co_return response;
}

}  // namespace thalweg::server::handlers
