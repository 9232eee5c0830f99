// Fetch: reads on the owning cores, and the wait for enough to read on the core of the connection.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "broker/partition.h"
#include "protocol/error.h"
#include "runtime/await.h"
#include "storage/leader_epochs.h"
#include "storage/txn_index.h"

namespace thalweg::broker {

class Shard;

struct FetchItem {
  PartitionKey key;
  int owner = 0;         // core
  std::size_t slot = 0;  // place in the answer
  std::int64_t offset = 0;
  std::int32_t max_bytes = 0;  // negative: an error, as soon as there is something to read
  std::int32_t current_leader_epoch = -1;
  std::int32_t last_fetched_epoch = -1;
};

struct FetchOutcome {
  std::size_t slot = 0;
  protocol::ErrorCode error = protocol::ErrorCode::none;
  std::int64_t high_watermark = -1;
  std::int64_t last_stable_offset = -1;
  std::int64_t log_start_offset = -1;
  std::int32_t leader_epoch = -1;
  std::optional<storage::EpochEndOffset> diverging;
  std::optional<std::vector<storage::AbortedTransaction>> aborted;  // read_committed only
  base::BufferChain records;
  std::uint32_t first_batch_size = 0;  // bytes; what has to be given whole where it comes first

  // Cuts the records for the room that is left in the answer. The first batch of the answer is given whole; an answer
  // that would begin with a part of a batch is empty.
  void trim(std::uint64_t room, bool first_of_answer);
};

struct FetchOptions {
  std::int32_t max_bytes = INT32_MAX;
  std::int32_t min_bytes = 1;
  std::int32_t max_wait_ms = 0;
  bool read_committed = false;
};

// Reads every item, waiting up to max_wait_ms until min_bytes can be read or an item fails. Outcomes come in the order
// of the items, already cut to max_bytes.
runtime::Awaitable<std::vector<FetchOutcome>> fetch(Shard& home, std::vector<FetchItem> items, FetchOptions options);

}  // namespace thalweg::broker
