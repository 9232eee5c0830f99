// DescribeProducers on the owning core.
#pragma once

#include <cstdint>
#include <vector>

#include "broker/partition.h"
#include "protocol/error.h"
#include "runtime/await.h"
#include "storage/producer_state.h"

namespace thalweg::broker {

class Shard;

struct DescribeProducersItem {
  PartitionKey key;
  std::size_t slot = 0;
};

struct DescribeProducersOutcome {
  std::size_t slot = 0;
  protocol::ErrorCode error = protocol::ErrorCode::none;
  std::vector<storage::ProducerEntry> producers;  // by producer id
};

// The producers that each partition remembers.
runtime::Awaitable<std::vector<DescribeProducersOutcome>> describe_producers(Shard& shard,
                                                                             std::vector<DescribeProducersItem> items);

}  // namespace thalweg::broker
