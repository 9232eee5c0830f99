// ListPartitionReassignments (API 46): with one broker none is ever under way.
#include <vector>

#include "broker/broker.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

using Wanted = protocol::ListPartitionReassignmentsRequest::ListPartitionReassignmentsTopics;

Awaitable<protocol::ListPartitionReassignmentsResponse> list_partition_reassignments(
    RequestContext& context, protocol::ListPartitionReassignmentsRequest request) {
  protocol::ListPartitionReassignmentsResponse response;
  response.error_message.reset();
  if (!context.authorized(broker::AclOperation::describe, broker::ResourceType::cluster, broker::kClusterResource)) {
    response.error_code = protocol::ErrorCode::cluster_authorization_failed;
    response.error_message = protocol::error_text(response.error_code);
    // What was asked for comes back, as in Kafka.
    for (const auto& topic : request.topics.value_or(std::vector<Wanted>())) {
      auto& answer = response.topics.emplace_back();
      answer.name = topic.name;
      for (const std::int32_t partition : topic.partition_indexes)
        answer.partitions.emplace_back().partition_index = partition;
    }
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
