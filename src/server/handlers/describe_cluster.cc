// DescribeCluster (API 60): the brokers of the cluster.
#include "broker/broker.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

std::int32_t cluster_operations(const RequestContext& context) {
  const bool visible =
      context.authorized(broker::AclOperation::describe, broker::ResourceType::cluster, broker::kClusterResource);
  return visible ? context.authorized_operations(broker::ResourceType::cluster, broker::kClusterResource) : 0;
}

Awaitable<protocol::DescribeClusterResponse> describe_cluster(RequestContext& context,
                                                              protocol::DescribeClusterRequest request) {
  protocol::DescribeClusterResponse response;
  constexpr std::int8_t kBrokers = 1;
  constexpr std::int8_t kControllers = 2;
  response.endpoint_type = kBrokers;
  if (request.endpoint_type != kBrokers) {
    // A broker's listener answers for brokers only (KIP-919).
    response.error_code = request.endpoint_type == kControllers ? protocol::ErrorCode::mismatched_endpoint_type
                                                                : protocol::ErrorCode::unsupported_endpoint_type;
    response.error_message = request.endpoint_type == kControllers
                                 ? "This endpoint is a broker's; controllers have none of their own"
                                 : "There are no endpoints of type " + std::to_string(request.endpoint_type);
    co_return response;
  }
  response.cluster_id = context.broker.cluster_id();
  response.controller_id = context.broker.node_id();
  if (const auto* endpoint = context.broker.advertised(context.connection.listener->name)) {
    auto& broker = response.brokers.emplace_back();
    broker.broker_id = context.broker.node_id();
    broker.host = endpoint->host;
    broker.port = endpoint->port;
    if (context.broker.settings().rack) broker.rack = *context.broker.settings().rack;
  }
  if (request.include_cluster_authorized_operations)
    response.cluster_authorized_operations = cluster_operations(context);
  co_return response;
}

}  // namespace thalweg::server::handlers
