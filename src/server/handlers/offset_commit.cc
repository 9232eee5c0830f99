// OffsetCommit (API 8): stores how far a group has come. Topics by name, from version 10 by id (KIP-848 clients).
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "broker/broker.h"
#include "server/handlers/group_call.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::ErrorCode;
using protocol::OffsetCommitRequest;
using protocol::OffsetCommitResponse;

constexpr int kTopicIds = 10;

using RequestTopic = OffsetCommitRequest::OffsetCommitRequestTopic;
using RequestPartition = OffsetCommitRequest::OffsetCommitRequestPartition;

// The answer while it is drafted: what is refused comes first, as in Kafka's answers, then what the coordinator saw,
// each in the order of the request.
class Draft {
 public:
  explicit Draft(const OffsetCommitRequest& request) : request_(request) {}

  // All partitions of the topic fail.
  void refuse(const RequestTopic& topic, ErrorCode error) {
    for (const auto& partition : topic.partitions) answer(topic, partition.partition_index, error);
  }
  void refuse_all(ErrorCode error) {
    for (const auto& topic : request_.topics) refuse(topic, error);
  }

  // The topic's partitions go to the coordinator, but those that there are not.
  void ask(const RequestTopic& topic, const metadata::Topic& known, coordinator::OffsetCommit& commit) {
    for (const auto& partition : topic.partitions) {
      if (known.partition(partition.partition_index) == nullptr) {
        answer(topic, partition.partition_index, ErrorCode::unknown_topic_or_partition);
        continue;
      }
      asked_.emplace_back(&topic, &partition);
      commit.offsets.push_back({.topic_id = known.id,
                                .topic = known.name.str(),
                                .partition = partition.partition_index,
                                .offset = partition.committed_offset,
                                .leader_epoch = partition.committed_leader_epoch,
                                .metadata = partition.committed_metadata ? partition.committed_metadata->str() : ""});
    }
  }

  // Topics that a request names twice stand twice in the answer, unless something was refused: so does Kafka.
  void take(const coordinator::OffsetCommitOutcome& outcome) {
    std::size_t next = 0;
    const bool refused = !response.topics.empty();
    const RequestTopic* last = nullptr;
    for (const auto& [topic, partition] : asked_) {
      if (!refused && topic != std::exchange(last, topic)) {
        auto& of_topic = response.topics.emplace_back();
        of_topic.name = topic->name;
        of_topic.topic_id = topic->topic_id;
      }
      answer(*topic, partition->partition_index,
             outcome.error == ErrorCode::none ? outcome.offsets[next++] : outcome.error);
    }
  }

  OffsetCommitResponse response;

 private:
  void answer(const RequestTopic& topic, std::int32_t partition, ErrorCode error) {
    auto& topics = response.topics;
    auto of_topic = std::find_if(topics.rbegin(), topics.rend(), [&topic](const auto& t) {
      return t.name == topic.name && t.topic_id == topic.topic_id;
    });
    if (of_topic == topics.rend()) {
      topics.emplace_back();
      of_topic = topics.rbegin();
      of_topic->name = topic.name;
      of_topic->topic_id = topic.topic_id;
    }
    auto& p = of_topic->partitions.emplace_back();
    p.partition_index = partition;
    p.error_code = error;
  }

  const OffsetCommitRequest& request_;
  std::vector<std::pair<const RequestTopic*, const RequestPartition*>> asked_;
};

}  // namespace

Awaitable<OffsetCommitResponse> offset_commit(RequestContext& context, OffsetCommitRequest request) {
  Draft draft(request);
  if (const ErrorCode error = check_group(context, broker::AclOperation::read, request.group_id);
      error != ErrorCode::none) {
    draft.refuse_all(error);
    co_return std::move(draft.response);
  }
  coordinator::OffsetCommit commit{.group_id = request.group_id.str(),
                                   .member_id = request.member_id.str(),
                                   .generation = request.generation_id_or_member_epoch,
                                   .version = context.version,
                                   .retention_ms = request.retention_time_ms};
  if (request.group_instance_id) commit.instance_id = request.group_instance_id->str();
  {
    const std::shared_ptr<const metadata::Snapshot> snapshot = context.shard.snapshot();
    const bool by_id = context.version >= kTopicIds;
    for (const auto& topic : request.topics) {
      const metadata::Topic* known = by_id ? snapshot->topic(topic.topic_id) : snapshot->topic(topic.name.view());
      const std::string_view name = known == nullptr ? topic.name.view() : known->name.view();
      if (by_id && known == nullptr) {
        draft.refuse(topic, ErrorCode::unknown_topic_id);
      } else if (!context.authorized(broker::AclOperation::read, broker::ResourceType::topic, name)) {
        draft.refuse(topic, ErrorCode::topic_authorization_failed);
      } else if (known == nullptr) {
        draft.refuse(topic, ErrorCode::unknown_topic_or_partition);
      } else {
        draft.ask(topic, *known, commit);
      }
    }
  }
  if (commit.offsets.empty()) co_return std::move(draft.response);
  const std::string group_id = commit.group_id;
  auto call = [commit = std::move(commit)](coordinator::GroupCoordinator& groups, coordinator::Time now,
                                           coordinator::Reply<coordinator::OffsetCommitOutcome> reply,
                                           coordinator::Step& step) mutable {
    groups.commit(std::move(commit), now, std::move(reply), step);
  };
  const auto outcome = co_await broker::ask_group<coordinator::OffsetCommitOutcome>(context, group_id, std::move(call));
  draft.take(outcome);
  co_return std::move(draft.response);
}

}  // namespace thalweg::server::handlers
