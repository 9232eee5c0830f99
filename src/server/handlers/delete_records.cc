// DeleteRecords (API 21): raises the log start offset of each partition.
#include <map>
#include <utility>
#include <vector>

#include "broker/broker.h"
#include "broker/delete_records.h"
#include "broker/gather.h"
#include "broker/topic_admin.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using broker::DeleteRecordsItem;
using broker::DeleteRecordsOutcome;
using protocol::DeleteRecordsRequest;
using protocol::DeleteRecordsResponse;
using protocol::ErrorCode;

// The offset that counts for each partition: of one that is named again, the last.
using Wanted = std::map<std::pair<std::string_view, std::int32_t>, std::int64_t>;

struct Run {
  Awaitable<std::vector<DeleteRecordsOutcome>> operator()(broker::Shard& shard,
                                                          std::vector<DeleteRecordsItem> items) const {
    return broker::delete_records(shard, std::move(items));
  }
};

}  // namespace

Awaitable<DeleteRecordsResponse> delete_records(RequestContext& context, protocol::DeleteRecordsRequest request) {
  Wanted wanted;
  for (const auto& topic : request.topics)
    for (const auto& partition : topic.partitions)
      wanted[{topic.name.view(), partition.partition_index}] = partition.offset;

  const metadata::Snapshot& snapshot = *context.shard.snapshot();
  DeleteRecordsResponse response;
  std::vector<std::pair<std::size_t, std::size_t>> slots;  // topic and partition in the answer
  broker::PerCore<DeleteRecordsItem> items(context.broker);
  for (const auto& [place, offset] : wanted) {
    const auto& [name, number] = place;
    if (response.topics.empty() || response.topics.back().name.view() != name)
      response.topics.emplace_back().name = protocol::TopicName(name);
    auto& answer = response.topics.back().partitions.emplace_back();
    answer.partition_index = number;
    answer.low_watermark = -1;
    slots.emplace_back(response.topics.size() - 1, response.topics.back().partitions.size() - 1);
    const metadata::Topic* known = snapshot.topic(name);
    if (!context.authorized(broker::AclOperation::delete_, broker::ResourceType::topic, name)) {
      answer.error_code = ErrorCode::topic_authorization_failed;
    } else if (known == nullptr || known->partition(number) == nullptr) {
      answer.error_code = ErrorCode::unknown_topic_or_partition;
    } else if (broker::is_internal_topic(name)) {
      answer.error_code = ErrorCode::invalid_topic_exception;
    } else {
      items.add(context.broker.owner_of(known->name, number),
                {.key = {.topic_id = known->id, .partition = number}, .slot = slots.size() - 1, .offset = offset});
    }
  }
  auto outcomes = co_await broker::gather<DeleteRecordsOutcome>(context.shard, std::move(items), Run{});
  for (const DeleteRecordsOutcome& outcome : outcomes) {
    const auto& [topic, partition] = slots[outcome.slot];
    auto& answer = response.topics[topic].partitions[partition];
    answer.error_code = outcome.error;
    answer.low_watermark = outcome.low_watermark;
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
