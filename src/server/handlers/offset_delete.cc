// OffsetDelete (API 47): forgets committed offsets of topics that the group does not read (KIP-496).
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

void answer_topic(OffsetDeleteResponse& response, const OffsetDeleteRequest::OffsetDeleteRequestTopic& topic,
                  ErrorCode error) {
  auto& answer = response.topics.emplace_back();
  answer.name = topic.name;
  for (const auto& partition : topic.partitions) {
    auto& p = answer.partitions.emplace_back();
    p.partition_index = partition.partition_index;
    p.error_code = error;
  }
}

}  // namespace

Awaitable<OffsetDeleteResponse> offset_delete(RequestContext& context, OffsetDeleteRequest request) {
  OffsetDeleteResponse response;
  response.error_code = check_group(context, broker::AclOperation::delete_, request.group_id);
  if (response.error_code != ErrorCode::none) co_return response;
  coordinator::OffsetDelete wanted{.group_id = request.group_id.str()};
  std::vector<const OffsetDeleteRequest::OffsetDeleteRequestTopic*> asked;
  for (const auto& topic : request.topics) {
    const metadata::Topic* known = context.shard.snapshot()->topic(topic.name.view());
    if (!context.authorized(broker::AclOperation::read, broker::ResourceType::topic, topic.name)) {
      answer_topic(response, topic, ErrorCode::topic_authorization_failed);
    } else if (known == nullptr) {
      answer_topic(response, topic, ErrorCode::unknown_topic_or_partition);
    } else {
      asked.push_back(&topic);
      for (const auto& partition : topic.partitions)
        wanted.offsets.push_back(
            {.topic_id = known->id, .topic = known->name.str(), .partition = partition.partition_index});
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
  for (const auto* topic : asked) {
    answer_topic(response, *topic, ErrorCode::none);
    for (auto& partition : response.topics.back().partitions) partition.error_code = outcome.offsets[next++];
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
