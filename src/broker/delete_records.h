// DeleteRecords on the owning core: raises the log start of partitions.
#pragma once

#include <cstdint>
#include <vector>

#include "broker/partition.h"
#include "protocol/error.h"
#include "runtime/await.h"

namespace thalweg::broker {

class Shard;

// An offset that stands for the high watermark.
inline constexpr std::int64_t kUpToHighWatermark = -1;

struct DeleteRecordsItem {
  PartitionKey key;
  std::size_t slot = 0;
  std::int64_t offset = 0;  // the first record to keep, or kUpToHighWatermark
};

struct DeleteRecordsOutcome {
  std::size_t slot = 0;
  protocol::ErrorCode error = protocol::ErrorCode::none;
  std::int64_t low_watermark = -1;
};

// Raises the log start of each; fetches and look-ups see it at once. Answers when the new log starts are on stable
// storage. The segments below go with the next sweep of retention.
//   errors   offset_out_of_range: below 0 or above the high watermark
//            policy_violation: the topic is compacted and nothing else
runtime::Awaitable<std::vector<DeleteRecordsOutcome>> delete_records(Shard& shard,
                                                                     std::vector<DeleteRecordsItem> items);

}  // namespace thalweg::broker
