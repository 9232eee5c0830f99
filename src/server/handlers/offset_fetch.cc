// OffsetFetch (API 9): how far groups have come; some partitions or all, one group or, from version 8, several
// (KIP-709). Topics by name, from version 10 by id.
#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/broker.h"
#include "server/handlers/group_call.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::ErrorCode;
using protocol::OffsetFetchRequest;
using protocol::OffsetFetchResponse;
using Group = OffsetFetchResponse::OffsetFetchResponseGroup;
using Topic = OffsetFetchResponse::OffsetFetchResponseTopics;

constexpr int kGroupError = 2;  // from here on the answer has an error for the whole group
constexpr int kManyGroups = 8;
constexpr int kTopicIds = 10;
constexpr std::int64_t kNoOffset = -1;

// What was committed, in values of its own: it comes from another core.
struct Fetched {
  ErrorCode error = ErrorCode::none;
  std::vector<Topic> topics;
};
void set_failed(Fetched& fetched, ErrorCode error) { fetched = {.error = error, .topics = {}}; }

void put(Topic& topic, std::int32_t partition, const coordinator::CommittedOffset* offset) {
  auto& p = topic.partitions.emplace_back();
  p.partition_index = partition;
  p.committed_offset = offset == nullptr ? kNoOffset : offset->offset;
  p.committed_leader_epoch = offset == nullptr ? -1 : offset->leader_epoch;
  p.metadata = offset == nullptr ? "" : offset->metadata;
}

// A topic that is asked for; the id is zero where there is no topic of the name.
struct Wanted {
  std::string name;
  base::Uuid id;
  std::vector<std::int32_t> partitions;
};

Fetched fetch_from(const coordinator::GroupCoordinator& groups, std::string_view group_id,
                   const std::optional<std::vector<Wanted>>& wanted) {
  Fetched fetched;
  const coordinator::GroupOffsets* const offsets = groups.offsets(group_id);
  if (wanted) {
    for (const Wanted& w : *wanted) {
      Topic& topic = fetched.topics.emplace_back();
      topic.name = protocol::TopicName(w.name);
      topic.topic_id = w.id;
      for (const std::int32_t partition : w.partitions)
        put(topic, partition, offsets == nullptr ? nullptr : offsets->find(w.id, partition));
    }
  } else if (offsets != nullptr) {
    for (const auto& [id, of_topic] : offsets->topics()) {
      Topic& topic = fetched.topics.emplace_back();
      topic.name = protocol::TopicName(of_topic.name);
      topic.topic_id = id;
      for (const auto& [partition, offset] : of_topic.partitions) put(topic, partition, &offset);
    }
  }
  return fetched;
}

Topic refused_topic(const OffsetFetchRequest::OffsetFetchRequestTopics& wanted, ErrorCode error) {
  Topic topic;
  topic.name = wanted.name;
  topic.topic_id = wanted.topic_id;
  for (const std::int32_t partition : wanted.partition_indexes) {
    put(topic, partition, nullptr);
    topic.partitions.back().error_code = error;
  }
  return topic;
}

Awaitable<Group> fetch_group(RequestContext& context, const OffsetFetchRequest::OffsetFetchRequestGroup& request) {
  Group answer;
  answer.group_id = request.group_id;
  answer.error_code = check_group(context, broker::AclOperation::describe, request.group_id);
  if (answer.error_code != ErrorCode::none) co_return answer;
  std::optional<std::vector<Wanted>> wanted;
  std::vector<Topic> refused;
  if (request.topics) {
    wanted.emplace();
    const bool by_id = context.version >= kTopicIds;
    const std::shared_ptr<const metadata::Snapshot> snapshot = context.shard.snapshot();
    for (const auto& topic : *request.topics) {
      const metadata::Topic* known = by_id ? snapshot->topic(topic.topic_id) : snapshot->topic(topic.name.view());
      const std::string_view name = known == nullptr ? topic.name.view() : known->name.view();
      if (by_id && known == nullptr) {
        refused.push_back(refused_topic(topic, ErrorCode::unknown_topic_id));
      } else if (!context.authorized(broker::AclOperation::describe, broker::ResourceType::topic, name)) {
        refused.push_back(refused_topic(topic, ErrorCode::topic_authorization_failed));
      } else {
        wanted->push_back({.name = std::string(name),
                           .id = known == nullptr ? base::Uuid() : known->id,
                           .partitions = topic.partition_indexes});
      }
    }
  }
  auto call = [group_id = request.group_id.str(), wanted = std::move(wanted)](
                  coordinator::GroupCoordinator& groups, coordinator::Time, coordinator::Reply<Fetched> reply,
                  coordinator::Step& step) { step.answer(std::move(reply), fetch_from(groups, group_id, wanted)); };
  Fetched fetched = co_await broker::ask_group<Fetched>(context, request.group_id.str(), std::move(call));
  answer.error_code = fetched.error;
  if (fetched.error != ErrorCode::none) co_return answer;
  if (!request.topics)
    std::erase_if(fetched.topics, [&context](const Topic& topic) {
      return !context.authorized(broker::AclOperation::describe, broker::ResourceType::topic, topic.name,
                                 broker::Denial::quiet);
    });
  answer.topics = std::move(fetched.topics);
  std::ranges::move(refused, std::back_inserter(answer.topics));
  co_return answer;
}

// Before version 8 the answer is about one group. Version 1 has no error for it, only for its partitions.
OffsetFetchResponse single_answer(const RequestContext& context, const OffsetFetchRequest& request, Group group) {
  OffsetFetchResponse response;
  response.error_code = group.error_code;
  if (context.version < kGroupError && group.error_code != ErrorCode::none && request.topics)
    for (const auto& wanted : *request.topics) {
      auto& topic = response.topics.emplace_back();
      topic.name = wanted.name;
      for (const std::int32_t partition : wanted.partition_indexes) {
        auto& p = topic.partitions.emplace_back();
        p.partition_index = partition;
        p.committed_offset = kNoOffset;
        p.error_code = group.error_code;
      }
    }
  for (Topic& from : group.topics) {
    auto& topic = response.topics.emplace_back();
    topic.name = std::move(from.name);
    for (auto& p : from.partitions)
      topic.partitions.push_back({.partition_index = p.partition_index,
                                  .committed_offset = p.committed_offset,
                                  .committed_leader_epoch = p.committed_leader_epoch,
                                  .metadata = std::move(p.metadata),
                                  .error_code = p.error_code,
                                  .unknown_tagged_fields = {}});
  }
  return response;
}

}  // namespace

Awaitable<OffsetFetchResponse> offset_fetch(RequestContext& context, OffsetFetchRequest request) {
  if (context.version < kManyGroups) {
    OffsetFetchRequest::OffsetFetchRequestGroup group;
    group.group_id = request.group_id;
    group.topics.reset();
    if (request.topics) {
      group.topics.emplace();
      for (const auto& topic : *request.topics) {
        auto& t = group.topics->emplace_back();
        t.name = topic.name;
        t.partition_indexes = topic.partition_indexes;
      }
    }
    Group answer = co_await fetch_group(context, group);
    co_return single_answer(context, request, std::move(answer));
  }
  OffsetFetchResponse response;
  for (const auto& group : request.groups) {
    Group answer = co_await fetch_group(context, group);
    response.groups.push_back(std::move(answer));
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
