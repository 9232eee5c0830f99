// AlterPartitionReassignments (API 45): the one broker holds every partition already, so whatever can be asked for is
// so, and no move is ever under way.
#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "broker/broker.h"
#include "broker/shard.h"
#include "broker/topic_admin.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::AlterPartitionReassignmentsResponse;
using protocol::ErrorCode;
using protocol::fail;
using protocol::Result;
using Replicas = std::optional<std::vector<protocol::BrokerId>>;

Result<void> check_move(const RequestContext& context, std::string_view name, std::int32_t partition,
                        const Replicas& replicas) {
  const metadata::Topic* topic = context.shard.snapshot()->topic(name);
  if (topic == nullptr)
    return fail(ErrorCode::unknown_topic_or_partition, fmt::format("There is no topic named '{}'", name));
  if (topic->partition(partition) == nullptr)
    return fail(ErrorCode::unknown_topic_or_partition, fmt::format("{} has no partition {}", name, partition));
  if (!replicas) return fail(ErrorCode::no_reassignment_in_progress);
  broker::ManualAssignment assignment{.partition = partition, .brokers = {}};
  for (const protocol::BrokerId replica : *replicas) assignment.brokers.push_back(replica.value());
  return broker::check_brokers(assignment, context.broker.settings().node_id);
}

// The same error for the whole and for each partition.
AlterPartitionReassignmentsResponse refused(const protocol::AlterPartitionReassignmentsRequest& request,
                                            ErrorCode error, const std::optional<base::String>& message) {
  AlterPartitionReassignmentsResponse response;
  response.error_code = error;
  response.error_message = message;
  for (const auto& topic : request.topics) {
    auto& answer = response.responses.emplace_back();
    answer.name = topic.name;
    for (const auto& partition : topic.partitions) {
      auto& result = answer.partitions.emplace_back();
      result.partition_index = partition.partition_index;
      result.error_code = error;
      result.error_message = message;
    }
  }
  return response;
}

}  // namespace

Awaitable<AlterPartitionReassignmentsResponse> alter_partition_reassignments(
    RequestContext& context, protocol::AlterPartitionReassignmentsRequest request) {
  if (!context.authorized(broker::AclOperation::alter, broker::ResourceType::cluster, broker::kClusterResource)) {
    constexpr ErrorCode kError = ErrorCode::cluster_authorization_failed;
    co_return refused(request, kError, base::String(protocol::error_text(kError)));
  }
  AlterPartitionReassignmentsResponse response;
  if (request.topics.empty()) {
    response.allow_replication_factor_change = request.allow_replication_factor_change;
    response.error_message = "";  // as in Kafka
    co_return response;
  }
  if (request.timeout_ms <= 0) co_return refused(request, ErrorCode::request_timed_out, std::nullopt);
  response.error_message.reset();
  response.allow_replication_factor_change = request.allow_replication_factor_change;
  for (const auto& topic : request.topics) {
    auto& answer = response.responses.emplace_back();
    answer.name = topic.name;
    for (const auto& partition : topic.partitions) {
      auto& result = answer.partitions.emplace_back();
      result.partition_index = partition.partition_index;
      result.error_message.reset();
      auto checked = check_move(context, topic.name.view(), partition.partition_index, partition.replicas);
      if (checked) continue;
      result.error_code = checked.error().code;
      if (!checked.error().detail.empty()) result.error_message = checked.error().detail;
    }
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
