// OffsetForLeaderEpoch (API 23): where a leader epoch ends, for clients that look for lost records.
#include <utility>
#include <vector>

#include "broker/broker.h"
#include "broker/gather.h"
#include "broker/list_offsets.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using broker::EpochItem;
using broker::EpochOutcome;
using protocol::ErrorCode;
using protocol::OffsetForLeaderEpochResponse;

struct Run {
  Awaitable<std::vector<EpochOutcome>> operator()(broker::Shard& shard, std::vector<EpochItem> items) const {
    return broker::offsets_for_leader_epoch(shard, std::move(items));
  }
};

}  // namespace

Awaitable<OffsetForLeaderEpochResponse> offset_for_leader_epoch(RequestContext& context,
                                                                protocol::OffsetForLeaderEpochRequest request) {
  OffsetForLeaderEpochResponse response;
  const metadata::Snapshot& snapshot = *context.shard.snapshot();
  // Followers are brokers; others ask about topics that they may describe.
  const bool anywhere = context.authorized(broker::AclOperation::cluster_action, broker::ResourceType::cluster,
                                           broker::kClusterResource, broker::Denial::quiet);
  broker::PerCore<EpochItem> items(context.broker);
  std::vector<OffsetForLeaderEpochResponse::EpochEndOffset*> slots;
  response.topics.resize(request.topics.size());
  for (std::size_t t = 0; t < request.topics.size(); ++t) {
    auto& topic = request.topics[t];
    const metadata::Topic* known = snapshot.topic(topic.topic.view());
    const bool allowed =
        anywhere || context.authorized(broker::AclOperation::describe, broker::ResourceType::topic, topic.topic);
    auto& answer = response.topics[t];
    answer.partitions.resize(topic.partitions.size());
    for (std::size_t p = 0; p < topic.partitions.size(); ++p) {
      const auto& wanted = topic.partitions[p];
      auto& out = answer.partitions[p];
      out.partition = wanted.partition;
      slots.push_back(&out);
      if (!allowed) {
        out.error_code = ErrorCode::topic_authorization_failed;
      } else if (known == nullptr || known->partition(wanted.partition) == nullptr) {
        out.error_code = ErrorCode::unknown_topic_or_partition;
      } else {
        items.add(context.broker.owner_of(known->name, wanted.partition),
                  {.key = {.topic_id = known->id, .partition = wanted.partition},
                   .slot = slots.size() - 1,
                   .current_leader_epoch = wanted.current_leader_epoch,
                   .leader_epoch = wanted.leader_epoch});
      }
    }
    answer.topic = std::move(topic.topic);
  }
  auto outcomes = co_await broker::gather<EpochOutcome>(context.shard, std::move(items), Run{});
  for (const EpochOutcome& outcome : outcomes) {
    auto& out = *slots[outcome.slot];
    out.error_code = outcome.error;
    out.leader_epoch = outcome.leader_epoch;
    out.end_offset = outcome.end_offset;
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
