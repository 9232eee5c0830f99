// ListOffsets (API 2).
#include <array>
#include <map>
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
using protocol::ListOffsetsRequest;
using protocol::ListOffsetsResponse;

constexpr std::int8_t kReadCommitted = 1;

// From which version on a timestamp may stand for something else than a time.
bool knows_timestamp(int version, std::int64_t timestamp) {
  struct Special {
    std::int64_t timestamp;
    int since;
  };
  static constexpr auto kSpecial = std::to_array<Special>({{broker::kLatestTimestamp, 1},
                                                           {broker::kEarliestTimestamp, 1},
                                                           {broker::kMaxTimestamp, 7},
                                                           {broker::kEarliestLocalTimestamp, 8},
                                                           {broker::kLatestTieredTimestamp, 9},
                                                           {broker::kEarliestPendingUploadTimestamp, 11}});
  if (timestamp >= 0) return true;
  for (const Special& special : kSpecial)
    if (special.timestamp == timestamp) return version >= special.since;
  return false;
}

ListOffsetsResponse refuse_all(const ListOffsetsRequest& request, ErrorCode error) {
  ListOffsetsResponse response;
  for (const auto& topic : request.topics) {
    auto& answer = response.topics.emplace_back();
    answer.name = topic.name;
    for (const auto& wanted : topic.partitions) {
      auto& partition = answer.partitions.emplace_back();
      partition.partition_index = wanted.partition_index;
      partition.error_code = error;
    }
  }
  return response;
}

// The answer with a place for each partition, once, though a request may name a topic or a partition again.
class Draft {
 public:
  using Partition = ListOffsetsResponse::ListOffsetsPartitionResponse;

  explicit Draft(const ListOffsetsRequest& request) {
    for (const auto& topic : request.topics)
      for (const auto& wanted : topic.partitions) add(topic.name, wanted.partition_index);
  }
  [[nodiscard]] std::size_t slot_of(const protocol::TopicName& topic, std::int32_t partition) const {
    return places_.at({topic.view(), partition}).slot;
  }
  [[nodiscard]] bool is_repeated(const protocol::TopicName& topic, std::int32_t partition) const {
    return places_.at({topic.view(), partition}).times > 1;
  }
  Partition& at(std::size_t slot) { return response.topics[slots_[slot].first].partitions[slots_[slot].second]; }

  ListOffsetsResponse response;

 private:
  struct Place {
    std::size_t slot = 0;
    int times = 0;
  };

  void add(const protocol::TopicName& topic, std::int32_t partition) {
    Place& place = places_[{topic.view(), partition}];
    if (++place.times > 1) return;
    const auto [it, is_new] = topics_.try_emplace(topic.view(), response.topics.size());
    if (is_new) response.topics.emplace_back().name = topic;
    auto& partitions = response.topics[it->second].partitions;
    partitions.emplace_back().partition_index = partition;
    place.slot = slots_.size();
    slots_.emplace_back(it->second, partitions.size() - 1);
  }

  // The names are the request's, which outlives the draft.
  std::map<std::pair<std::string_view, std::int32_t>, Place> places_;
  std::map<std::string_view, std::size_t> topics_;
  std::vector<std::pair<std::size_t, std::size_t>> slots_;  // topic and partition by position
};

struct Run {
  bool read_committed;
  Awaitable<std::vector<ListOffsetOutcome>> operator()(broker::Shard& shard, std::vector<ListOffsetItem> items) const {
    return broker::list_offsets(shard, std::move(items), read_committed);
  }
};

}  // namespace

Awaitable<ListOffsetsResponse> list_offsets(RequestContext& context, protocol::ListOffsetsRequest request) {
  if (request.isolation_level < 0 || request.isolation_level > kReadCommitted)
    co_return refuse_all(request, ErrorCode::unknown_server_error);
  const metadata::Snapshot& snapshot = *context.shard.snapshot();
  Draft draft(request);
  broker::PerCore<ListOffsetItem> items(context.broker);
  for (const auto& topic : request.topics) {
    const metadata::Topic* known = snapshot.topic(topic.name.view());
    const bool allowed = context.authorized(broker::AclOperation::describe, broker::ResourceType::topic, topic.name);
    for (const auto& wanted : topic.partitions) {
      const std::size_t slot = draft.slot_of(topic.name, wanted.partition_index);
      ErrorCode& error = draft.at(slot).error_code;
      if (!allowed) {
        error = ErrorCode::topic_authorization_failed;
      } else if (draft.is_repeated(topic.name, wanted.partition_index)) {
        error = ErrorCode::invalid_request;
      } else if (!knows_timestamp(context.version, wanted.timestamp)) {
        error = ErrorCode::unsupported_version;
      } else if (known == nullptr || known->partition(wanted.partition_index) == nullptr) {
        error = ErrorCode::unknown_topic_or_partition;
      } else {
        items.add(context.broker.owner_of(known->name, wanted.partition_index),
                  {.key = {.topic_id = known->id, .partition = wanted.partition_index},
                   .slot = slot,
                   .timestamp = wanted.timestamp,
                   .current_leader_epoch = wanted.current_leader_epoch});
      }
    }
  }
  const Run run{.read_committed = request.isolation_level == kReadCommitted};
  auto outcomes = co_await broker::gather<ListOffsetOutcome>(context.shard, std::move(items), run);
  for (const ListOffsetOutcome& outcome : outcomes) {
    auto& out = draft.at(outcome.slot);
    out.error_code = outcome.error;
    out.timestamp = outcome.timestamp;
    out.offset = outcome.offset;
    if (context.version >= 4) out.leader_epoch = outcome.leader_epoch;
  }
  co_return std::move(draft.response);
}

}  // namespace thalweg::server::handlers
