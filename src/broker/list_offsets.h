// ListOffsets and OffsetForLeaderEpoch on the owning core.
#pragma once

#include <cstdint>
#include <vector>

#include "broker/partition.h"
#include "protocol/error.h"
#include "runtime/await.h"

namespace thalweg::broker {

class Shard;

// What a timestamp in ListOffsets can stand for besides a time (KIP-79, KIP-734, KIP-405, KIP-1005, KIP-1023).
inline constexpr std::int64_t kLatestTimestamp = -1;
inline constexpr std::int64_t kEarliestTimestamp = -2;
inline constexpr std::int64_t kMaxTimestamp = -3;
inline constexpr std::int64_t kEarliestLocalTimestamp = -4;
inline constexpr std::int64_t kLatestTieredTimestamp = -5;
inline constexpr std::int64_t kEarliestPendingUploadTimestamp = -6;

struct ListOffsetItem {
  PartitionKey key;
  std::size_t slot = 0;
  std::int64_t timestamp = 0;
  std::int32_t current_leader_epoch = -1;
};

struct ListOffsetOutcome {
  std::size_t slot = 0;
  protocol::ErrorCode error = protocol::ErrorCode::none;
  std::int64_t timestamp = -1;
  std::int64_t offset = -1;
  std::int32_t leader_epoch = -1;
};

// Answers each item; `read_committed` bounds by the last stable offset instead of the high watermark.
runtime::Awaitable<std::vector<ListOffsetOutcome>> list_offsets(Shard& shard, std::vector<ListOffsetItem> items,
                                                                bool read_committed);

struct EpochItem {
  PartitionKey key;
  std::size_t slot = 0;
  std::int32_t current_leader_epoch = -1;
  std::int32_t leader_epoch = -1;
};

struct EpochOutcome {
  std::size_t slot = 0;
  protocol::ErrorCode error = protocol::ErrorCode::none;
  std::int32_t leader_epoch = -1;
  std::int64_t end_offset = -1;
};

// Where each leader epoch ends.
runtime::Awaitable<std::vector<EpochOutcome>> offsets_for_leader_epoch(Shard& shard, std::vector<EpochItem> items);

}  // namespace thalweg::broker
