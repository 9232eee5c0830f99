// OffsetDelete (API 47): forgets committed offsets of topics that the group does not read (KIP-496).
#include <algorithm>
#include <utility>
#include <vector>

#include "broker/broker.h"
#include "server/handlers/group_call.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::ErrorCode;
using protocol::OffsetDeleteRequest;
using protocol::OffsetDeleteResponse;

using RequestTopic = OffsetDeleteRequest::OffsetDeleteRequestTopic;

// What is refused comes first, as in Kafka's answers, then what the coordinator saw.
void answer(OffsetDeleteResponse& response, const RequestTopic& topic, std::int32_t partition, ErrorCode error) {
  auto& topics = response.topics;
  auto of_topic =
      std::find_if(topics.rbegin(), topics.rend(), [&topic](const auto& t) { return t.name == topic.name; });
  if (of_topic == topics.rend()) {
    topics.emplace_back();
    of_topic = topics.rbegin();
    of_topic->name = topic.name;
  }
  auto& p = of_topic->partitions.emplace_back();
  p.partition_index = partition;
  p.error_code = error;
}

void refuse(OffsetDeleteResponse& response, const RequestTopic& topic, ErrorCode error) {
  for (const auto& partition : topic.partitions) answer(response, topic, partition.partition_index, error);
}

}  // namespace

Awaitable<OffsetDeleteResponse> offset_delete(RequestContext& context, OffsetDeleteRequest request) {
  OffsetDeleteResponse response;
  response.error_code = check_group(context, broker::AclOperation::delete_, request.group_id);
  if (response.error_code == ErrorCode::none && request.group_id.empty())
    response.error_code = ErrorCode::invalid_group_id;
  if (response.error_code != ErrorCode::none) co_return response;
  coordinator::OffsetDelete wanted{.group_id = request.group_id.str()};
  std::vector<std::pair<const RequestTopic*, std::int32_t>> asked;
  for (const auto& topic : request.topics) {
    const metadata::Topic* known = context.shard.snapshot()->topic(topic.name.view());
    if (!context.authorized(broker::AclOperation::read, broker::ResourceType::topic, topic.name)) {
      refuse(response, topic, ErrorCode::topic_authorization_failed);
    } else if (known == nullptr) {
      refuse(response, topic, ErrorCode::unknown_topic_or_partition);
    } else {
      for (const auto& partition : topic.partitions) {
        const std::int32_t number = partition.partition_index;
        if (known->partition(number) == nullptr) {
          answer(response, topic, number, ErrorCode::unknown_topic_or_partition);
          continue;
        }
        asked.emplace_back(&topic, number);
        wanted.offsets.push_back({.topic_id = known->id, .topic = known->name.str(), .partition = number});
      }
    }
  }
  const std::string group_id = wanted.group_id;
  auto call = [wanted = std::move(wanted)](coordinator::GroupCoordinator& groups, coordinator::Time,
                                           coordinator::Reply<coordinator::OffsetDeleteOutcome> reply,
                                           coordinator::Step& step) {
    groups.delete_offsets(wanted, std::move(reply), step);
  };
  const auto outcome = co_await broker::ask_group<coordinator::OffsetDeleteOutcome>(context, group_id, std::move(call));
  if (outcome.error != ErrorCode::none) {
    response.topics.clear();
    response.error_code = outcome.error;
    co_return response;
  }
  std::size_t next = 0;
  // Topics that a request names twice stand twice in the answer, unless something was refused: so does Kafka.
  const bool refused = !response.topics.empty();
  const RequestTopic* last = nullptr;
  for (const auto& [topic, partition] : asked) {
    if (!refused && topic != std::exchange(last, topic)) response.topics.emplace_back().name = topic->name;
    answer(response, *topic, partition, outcome.offsets[next++]);
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
