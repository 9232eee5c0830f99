// DescribeQuorum (API 55): who keeps the cluster's metadata. Here it is the broker itself, with its store: one voter
// that leads, has everything, and has had it committed.
#include "broker/broker.h"
#include "broker/group_service.h"
#include "broker/shard.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::DescribeQuorumRequest;
using protocol::DescribeQuorumResponse;
using protocol::ErrorCode;

constexpr std::string_view kMetadataTopic = "__cluster_metadata";

// Each start takes the leases of the coordinators anew, so their epoch grows as that of an elected leader does.
std::int32_t leader_epoch(const metadata::Snapshot& snapshot) {
  const metadata::Lease* lease = snapshot.lease(broker::group_lease(0));
  return lease == nullptr ? 1 : lease->epoch;
}

void describe(const RequestContext& context, DescribeQuorumResponse::PartitionData& answer) {
  const metadata::Snapshot& snapshot = *context.shard.snapshot();
  answer.leader_id = context.broker.node_id();
  answer.leader_epoch = leader_epoch(snapshot);
  answer.high_watermark = snapshot.revision().value();
  auto& voter = answer.current_voters.emplace_back();
  voter.replica_id = context.broker.node_id();
  if (context.version >= 2) voter.replica_directory_id = context.broker.log_directories().front()->id;
  voter.log_end_offset = answer.high_watermark;
  voter.last_fetch_timestamp = voter.last_caught_up_timestamp = context.shard.now_ms();
}

void add_node(const RequestContext& context, DescribeQuorumResponse& response) {
  auto& node = response.nodes.emplace_back();
  node.node_id = context.broker.node_id();
  const auto* endpoint = context.broker.advertised(context.connection.listener->name);
  if (endpoint == nullptr) return;
  auto& listener = node.listeners.emplace_back();
  listener.name = endpoint->listener;
  listener.host = endpoint->host;
  listener.port = static_cast<std::uint16_t>(endpoint->port);
}

// The one partition that there is a quorum for, named once and alone.
bool is_about_metadata(const DescribeQuorumRequest& request) {
  return request.topics.size() == 1 && request.topics.front().topic_name == kMetadataTopic &&
         request.topics.front().partitions.size() == 1 &&
         request.topics.front().partitions.front().partition_index == 0;
}

}  // namespace

Awaitable<DescribeQuorumResponse> describe_quorum(RequestContext& context, protocol::DescribeQuorumRequest request) {
  DescribeQuorumResponse response;
  response.error_message = "";  // as in Kafka
  if (!context.authorized(broker::AclOperation::describe, broker::ResourceType::cluster, broker::kClusterResource)) {
    response.error_code = ErrorCode::cluster_authorization_failed;
    response.error_message = protocol::error_text(response.error_code);
    co_return response;
  }
  const bool known = is_about_metadata(request);
  for (const auto& topic : request.topics) {
    auto& answer = response.topics.emplace_back();
    answer.topic_name = topic.topic_name;
    for (const auto& partition : topic.partitions) {
      auto& described = answer.partitions.emplace_back();
      described.partition_index = partition.partition_index;
      described.error_message = "";
      if (known) {
        describe(context, described);
      } else {
        described.error_code = ErrorCode::unknown_topic_or_partition;
        described.error_message = protocol::error_text(described.error_code);
      }
    }
  }
  if (known && context.version >= 2) add_node(context, response);
  co_return response;
}

}  // namespace thalweg::server::handlers
