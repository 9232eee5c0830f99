// DescribeTopicPartitions (API 75, KIP-966): partitions of many topics, page by page.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "broker/broker.h"
#include "broker/shard.h"
#include "broker/topic_admin.h"
#include "server/handlers/handlers.h"
#include "server/handlers/topic_view.h"

namespace thalweg::server::handlers {

namespace {

using broker::AclOperation;
using broker::ResourceType;
using protocol::DescribeTopicPartitionsResponse;
using protocol::ErrorCode;
using Topic = DescribeTopicPartitionsResponse::DescribeTopicPartitionsResponseTopic;

void add_partition(Topic& answer, const RequestContext& context, const metadata::Topic& topic, std::int32_t number) {
  const PartitionView view = view_partition(context, topic, number);
  auto& partition = answer.partitions.emplace_back();
  partition.error_code = view.error;
  partition.partition_index = number;
  partition.leader_id = view.leader;
  partition.leader_epoch = view.leader_epoch;
  partition.replica_nodes = view.replicas;
  partition.isr_nodes = view.isr;
  partition.eligible_leader_replicas = std::vector<protocol::BrokerId>();
  partition.last_known_elr = std::vector<protocol::BrokerId>();
  partition.offline_replicas = view.offline;
}

// Names in order, each once, from the cursor on.
std::vector<std::string> wanted_names(const RequestContext& context,
                                      const protocol::DescribeTopicPartitionsRequest& request) {
  std::vector<std::string> names;
  if (request.topics.empty()) {
    for (const auto& [name, topic] : context.shard.snapshot()->topics()) names.emplace_back(name);
  } else {
    for (const auto& topic : request.topics) names.push_back(topic.name.str());
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
  }
  if (request.cursor) {
    const std::string from = request.cursor->topic_name.str();
    std::erase_if(names, [&](const std::string& name) { return name < from; });
  }
  return names;
}

// Whether the cursor is one that an earlier answer to this request can have given.
bool is_sound_cursor(const protocol::DescribeTopicPartitionsRequest& request) {
  if (!request.cursor) return true;
  if (request.cursor->partition_index < 0) return false;
  const auto is_at = [&](const auto& topic) { return topic.name == request.cursor->topic_name; };
  return request.topics.empty() || std::ranges::any_of(request.topics, is_at);
}

}  // namespace

Awaitable<DescribeTopicPartitionsResponse> describe_topic_partitions(RequestContext& context,
                                                                     protocol::DescribeTopicPartitionsRequest request) {
  DescribeTopicPartitionsResponse response;
  if (!is_sound_cursor(request)) {
    for (const auto& topic : request.topics) {
      Topic& answer = response.topics.emplace_back();
      answer.error_code = ErrorCode::invalid_request;
      answer.name = topic.name;
    }
    co_return response;
  }
  const std::shared_ptr<const metadata::Snapshot> snapshot = context.shard.snapshot();
  const bool all = request.topics.empty();
  std::int32_t left =
      std::clamp(request.response_partition_limit, 1, context.broker.settings().max_request_partition_size_limit);
  std::vector<std::string> refused;
  for (const std::string& name : wanted_names(context, request)) {
    if (!context.authorized(AclOperation::describe, ResourceType::topic, name,
                            all ? broker::Denial::quiet : broker::Denial::logged)) {
      if (!all) refused.push_back(name);
      continue;
    }
    const metadata::Topic* topic = snapshot->topic(name);
    if (left == 0) {
      auto& cursor = response.next_cursor.emplace();
      cursor.topic_name = name;
      cursor.partition_index = 0;
      break;
    }
    if (topic == nullptr) {
      if (all) continue;
      Topic& answer = response.topics.emplace_back();
      answer.error_code =
          broker::topic_name_fault(name) ? ErrorCode::invalid_topic_exception : ErrorCode::unknown_topic_or_partition;
      answer.name = protocol::TopicName(name);
      answer.topic_authorized_operations = context.authorized_operations(ResourceType::topic, name);
      continue;
    }
    Topic& answer = response.topics.emplace_back();
    answer.name = topic->name;
    answer.topic_id = topic->id;
    answer.is_internal = broker::is_internal_topic(name);
    answer.topic_authorized_operations = context.authorized_operations(ResourceType::topic, name);
    std::int32_t number = 0;
    if (request.cursor && request.cursor->topic_name == std::string_view(name))
      number = request.cursor->partition_index;
    for (; number < topic->partitions.size() && left > 0; ++number, --left)
      add_partition(answer, context, *topic, number);
    if (number < topic->partitions.size()) {
      auto& cursor = response.next_cursor.emplace();
      cursor.topic_name = name;
      cursor.partition_index = number;
      break;
    }
  }
  for (const std::string& name : refused) {
    Topic& answer = response.topics.emplace_back();
    answer.error_code = ErrorCode::topic_authorization_failed;
    answer.name = protocol::TopicName(name);
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
