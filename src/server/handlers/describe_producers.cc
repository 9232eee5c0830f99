// DescribeProducers (API 61, KIP-664): the producers that partitions remember, for those who look for hanging
// transactions.
#include <utility>
#include <vector>

#include "broker/broker.h"
#include "broker/describe_producers.h"
#include "broker/gather.h"
#include "broker/topic_admin.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using broker::DescribeProducersItem;
using broker::DescribeProducersOutcome;
using protocol::DescribeProducersResponse;
using protocol::ErrorCode;

struct Run {
  Awaitable<std::vector<DescribeProducersOutcome>> operator()(broker::Shard& shard,
                                                              std::vector<DescribeProducersItem> items) const {
    return broker::describe_producers(shard, std::move(items));
  }
};

void fill(DescribeProducersResponse::PartitionResponse& answer, const DescribeProducersOutcome& outcome) {
  answer.error_code = outcome.error;
  // Only of topics that are refused as a whole there is more to say, as in Kafka.
  for (const storage::ProducerEntry& producer : outcome.producers) {
    auto& state = answer.active_producers.emplace_back();
    state.producer_id = protocol::ProducerId(producer.producer_id);
    state.producer_epoch = producer.epoch;
    state.last_sequence = producer.last_sequence();
    state.last_timestamp = producer.last_timestamp;
    state.coordinator_epoch = producer.coordinator_epoch;
    state.current_txn_start_offset = producer.current_txn_first_offset;
  }
}

}  // namespace

Awaitable<DescribeProducersResponse> describe_producers(RequestContext& context,
                                                        protocol::DescribeProducersRequest request) {
  DescribeProducersResponse response;
  const metadata::Snapshot& snapshot = *context.shard.snapshot();
  broker::PerCore<DescribeProducersItem> items(context.broker);
  std::vector<std::pair<std::size_t, std::size_t>> slots;  // topic and partition in the answer
  for (const auto& topic : request.topics) {
    auto& answer = response.topics.emplace_back();
    answer.name = topic.name;
    const metadata::Topic* known = snapshot.topic(topic.name.view());
    ErrorCode refused = ErrorCode::none;
    if (broker::topic_name_fault(topic.name.view())) {
      refused = ErrorCode::invalid_topic_exception;
    } else if (!context.authorized(broker::AclOperation::read, broker::ResourceType::topic, topic.name)) {
      refused = ErrorCode::topic_authorization_failed;
    } else if (known == nullptr) {
      refused = ErrorCode::unknown_topic_or_partition;
    }
    for (const std::int32_t number : topic.partition_indexes) {
      auto& partition = answer.partitions.emplace_back();
      partition.partition_index = number;
      partition.error_code = refused;
      if (refused != ErrorCode::none) {
        partition.error_message = protocol::error_text(refused);
      } else if (known->partition(number) == nullptr) {
        fill(partition, {.error = ErrorCode::unknown_topic_or_partition});
      } else {
        slots.emplace_back(response.topics.size() - 1, answer.partitions.size() - 1);
        items.add(context.broker.owner_of(known->name, number),
                  {.key = {.topic_id = known->id, .partition = number}, .slot = slots.size() - 1});
      }
    }
  }
  const auto outcomes = co_await broker::gather<DescribeProducersOutcome>(context.shard, std::move(items), Run{});
  for (const DescribeProducersOutcome& outcome : outcomes) {
    const auto& [topic, partition] = slots[outcome.slot];
    fill(response.topics[topic].partitions[partition], outcome);
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
