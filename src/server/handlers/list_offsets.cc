// ListOffsets (API 2).
#include <set>
#include <utility>
#include <vector>

#include "broker/broker.h"
#include "broker/gather.h"
#include "broker/list_offsets.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using broker::ListOffsetItem;
using broker::ListOffsetOutcome;
using protocol::ErrorCode;
using protocol::ListOffsetsResponse;

struct Run {
  bool read_committed;
  Awaitable<std::vector<ListOffsetOutcome>> operator()(broker::Shard& shard, std::vector<ListOffsetItem> items) const {
    return broker::list_offsets(shard, std::move(items), read_committed);
  }
};

}  // namespace

Awaitable<ListOffsetsResponse> list_offsets(RequestContext& context, protocol::ListOffsetsRequest request) {
  ListOffsetsResponse response;
  const metadata::Snapshot& snapshot = *context.shard.snapshot();
  broker::PerCore<ListOffsetItem> items(context.broker);
  std::vector<ListOffsetsResponse::ListOffsetsPartitionResponse*> slots;
  response.topics.resize(request.topics.size());
  for (std::size_t t = 0; t < request.topics.size(); ++t) {
    auto& topic = request.topics[t];
    auto& answer = response.topics[t];
    const metadata::Topic* known = snapshot.topic(topic.name.view());
    const bool allowed = context.authorized(broker::AclOperation::describe, broker::ResourceType::topic, topic.name);
    std::set<std::int32_t> seen;
    std::set<std::int32_t> twice;
    for (const auto& partition : topic.partitions)
      if (!seen.insert(partition.partition_index).second) twice.insert(partition.partition_index);
    answer.partitions.resize(topic.partitions.size());
    for (std::size_t p = 0; p < topic.partitions.size(); ++p) {
      const auto& wanted = topic.partitions[p];
      auto& out = answer.partitions[p];
      out.partition_index = wanted.partition_index;
      slots.push_back(&out);
      if (!allowed) {
        out.error_code = ErrorCode::topic_authorization_failed;
      } else if (twice.contains(wanted.partition_index)) {
        out.error_code = ErrorCode::invalid_request;
      } else if (known == nullptr || known->partition(wanted.partition_index) == nullptr) {
        out.error_code = ErrorCode::unknown_topic_or_partition;
      } else {
        items.add(context.broker.owner_of(known->name, wanted.partition_index),
                  {.key = {.topic_id = known->id, .partition = wanted.partition_index},
                   .slot = slots.size() - 1,
                   .timestamp = wanted.timestamp,
                   .current_leader_epoch = wanted.current_leader_epoch});
      }
    }
    answer.name = std::move(topic.name);
  }
  const Run run{.read_committed = request.isolation_level == 1};
  auto outcomes = co_await broker::gather<ListOffsetOutcome>(context.shard, std::move(items), run);
  for (const ListOffsetOutcome& outcome : outcomes) {
    auto& out = *slots[outcome.slot];
    out.error_code = outcome.error;
    out.timestamp = outcome.timestamp;
    out.offset = outcome.offset;
    if (context.version >= 4) out.leader_epoch = outcome.leader_epoch;
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
