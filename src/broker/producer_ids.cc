#include "broker/producer_ids.h"

#include <utility>

#include "broker/broker.h"
#include "broker/commit.h"
#include "broker/shard.h"

namespace thalweg::broker {

namespace {

constexpr std::int64_t kBlock = 1000;  // Kafka's size
constexpr int kTries = 16;             // other cores may take a block at the same time

}  // namespace

runtime::Awaitable<protocol::Result<std::int64_t>> next_producer_id(RequestContext& context) {
  Shard& shard = context.shard;
  for (int i = 0; i < kTries; ++i) {
    if (shard.producer_ids.next < shard.producer_ids.end) co_return shard.producer_ids.next++;
    const std::int64_t first = shard.snapshot()->next_producer_id();
    metadata::ChangeSet changes;
    changes.preconditions.emplace_back(metadata::ProducerIdBlockAt{first});
    changes.records.emplace_back(
        records::ProducerIdBlockAllocated{.node_id = context.broker.node_id(), .next_producer_id = first + kBlock});
    const metadata::CommitResult committed = co_await commit(context, std::move(changes));
    if (committed) {
      // A coroutine of this core that waited at the same time had another block; both are ours, one is given up.
      shard.producer_ids = {.next = first, .end = first + kBlock};
    } else if (committed.error().kind != metadata::CommitFault::Kind::precondition) {
      co_return std::unexpected(store_error(committed.error()));
    }
  }
  co_return protocol::fail(protocol::ErrorCode::coordinator_load_in_progress,
                           "other cores took every block of producer ids");
}

}  // namespace thalweg::broker
