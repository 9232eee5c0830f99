// GetTelemetrySubscriptions (API 71): which metrics a client is asked to push, how often, and in which form (KIP-714).
#include <string>
#include <vector>

#include "broker/broker.h"
#include "broker/client_telemetry.h"
#include "protocol/batch_view.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::CompressionType;
using protocol::ErrorCode;
using protocol::GetTelemetrySubscriptionsResponse;

// In the order in which a client is to choose; that none is accepted too need not be said.
constexpr CompressionType kAccepted[] = {CompressionType::zstd, CompressionType::lz4, CompressionType::gzip,
                                         CompressionType::snappy};

}  // namespace

Awaitable<GetTelemetrySubscriptionsResponse> get_telemetry_subscriptions(
    RequestContext& context, protocol::GetTelemetrySubscriptionsRequest request) {
  GetTelemetrySubscriptionsResponse response;
  base::Uuid instance_id = request.client_instance_id;
  const auto subscribed = co_await broker::subscriptions_of_client(context, instance_id);
  response.error_code = subscribed.error;
  if (subscribed.error != ErrorCode::none) co_return response;
  response.client_instance_id = instance_id;
  response.subscription_id = subscribed.subscription_id;
  for (const CompressionType codec : kAccepted)
    response.accepted_compression_types.push_back(static_cast<std::int8_t>(codec));
  response.push_interval_ms = subscribed.wanted.interval_ms;
  response.telemetry_max_bytes = context.broker.settings().telemetry.max_push_bytes;
  response.delta_temporality = true;
  for (const std::string& metric : subscribed.wanted.metrics) response.requested_metrics.emplace_back(metric);
  co_return response;
}

}  // namespace thalweg::server::handlers
