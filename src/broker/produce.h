// Produce on the owning core: a batch is checked, stored and, where the acks ask for it, acknowledged once it is
// durable.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "broker/partition.h"
#include "protocol/error.h"
#include "protocol/produced_batch.h"

namespace thalweg::broker {

class Shard;

struct ProduceItem {
  PartitionKey key;
  base::Bytes records;   // of a frame that nobody else reads, since offsets are patched in place
  std::size_t slot = 0;  // where its outcome goes in the answer
};

struct ProduceOptions {
  std::int16_t acks = 1;
  std::int16_t api_version = 0;
};

struct ProduceOutcome {
  std::size_t slot = 0;
  protocol::ErrorCode error = protocol::ErrorCode::none;
  std::optional<std::string> message;  // for the client
  std::vector<protocol::RecordError> record_errors;
  std::int64_t base_offset = -1;
  std::int64_t log_append_time_ms = -1;
  std::int64_t log_start_offset = -1;
  std::int32_t leader_epoch = -1;
};

using ProduceDone = std::move_only_function<void(std::vector<ProduceOutcome>)>;

// Appends the items in order, all on `shard`'s core, and calls `done` there once every one has its outcome; with acks
// of 0 or 1 that may be before it returns. One bad item does not spoil the others.
void produce(Shard& shard, std::vector<ProduceItem> items, ProduceOptions options, ProduceDone done);

}  // namespace thalweg::broker
