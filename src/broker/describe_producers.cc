#include "broker/describe_producers.h"

#include <algorithm>
#include <utility>

#include "broker/shard.h"

namespace thalweg::broker {

using protocol::ErrorCode;

runtime::Awaitable<std::vector<DescribeProducersOutcome>> describe_producers(Shard& shard,
                                                                             std::vector<DescribeProducersItem> items) {
  std::vector<DescribeProducersOutcome> outcomes;
  outcomes.reserve(items.size());
  for (const DescribeProducersItem& item : items) {
    DescribeProducersOutcome outcome{
        .slot = item.slot, .error = ErrorCode::unknown_topic_or_partition, .producers = {}};
    const std::shared_ptr<Partition> partition = shard.find_partition(item.key);
    if (partition) outcome.error = co_await shard.when_open(partition);
    if (outcome.error == ErrorCode::none) {
      outcome.producers = partition->log().producers().entries();
      std::ranges::sort(outcome.producers, {}, &storage::ProducerEntry::producer_id);
    }
    outcomes.push_back(std::move(outcome));
  }
  co_return outcomes;
}

}  // namespace thalweg::broker
