#include "broker/list_offsets.h"

#include <cerrno>
#include <utility>

#include "base/log.h"
#include "broker/broker.h"
#include "broker/shard.h"
#include "protocol/record_batch.h"

namespace thalweg::broker {

namespace {

using protocol::ErrorCode;
using runtime::Awaitable;
using storage::Blocking;
using storage::TimestampedOffset;

constexpr int kColdRounds = 32;

ErrorCode check_epoch(const Partition& partition, std::int32_t claimed) {
  if (claimed == -1 || claimed == partition.leader_epoch()) return ErrorCode::none;
  return claimed < partition.leader_epoch() ? ErrorCode::fenced_leader_epoch : ErrorCode::unknown_leader_epoch;
}

// Finds the first record of a batch at or behind an offset whose timestamp is late enough.
storage::RecordFinder record_finder(Shard& shard) {
  return [&shard](std::span<const std::uint8_t> bytes, std::int64_t timestamp,
                  std::int64_t first_offset) -> std::optional<TimestampedOffset> {
    const protocol::BatchView batch(bytes.data());
    std::optional<TimestampedOffset> found;
    (void)protocol::for_each_record(batch, shard.decompressor(), [&](const protocol::Record& record) {
      if (found || record.offset < first_offset || record.timestamp < timestamp) return;
      found = TimestampedOffset{
          .timestamp = record.timestamp, .offset = record.offset, .leader_epoch = batch.leader_epoch()};
    });
    return found;
  };
}

using Lookup = storage::ReadOutcome<std::optional<TimestampedOffset>>;

Awaitable<Lookup> look_up(Shard& shard, std::shared_ptr<Partition> partition, std::int64_t timestamp) {
  const storage::RecordFinder find = record_finder(shard);
  for (int round = 0;; ++round) {
    const Blocking blocking = round < kColdRounds ? Blocking::never : Blocking::allowed;
    Lookup found = timestamp == kMaxTimestamp ? partition->log().max_timestamp(find, blocking)
                                              : partition->log().offset_for_time(timestamp, find, blocking);
    if (found || found.error().kind != storage::ReadFault::Kind::cold) co_return found;
    (void)co_await runtime::run_on(shard.broker().disk_pool(),
                                   [range = found.error().cold] { return storage::warm(range); });
    if (!partition->is_open()) {
      co_return std::unexpected(
          storage::ReadFault::of({.error_number = ECANCELED, .what = "read " + partition->topic()}));
    }
  }
}

Awaitable<ListOffsetOutcome> list_one(Shard& shard, ListOffsetItem item, bool read_committed) {
  ListOffsetOutcome outcome;
  outcome.slot = item.slot;
  const std::shared_ptr<Partition> partition = shard.find_partition(item.key);
  if (!partition) {
    outcome.error = ErrorCode::unknown_topic_or_partition;
    co_return outcome;
  }
  outcome.error = co_await shard.when_open(partition);
  if (outcome.error != ErrorCode::none) co_return outcome;
  outcome.error = check_epoch(*partition, item.current_leader_epoch);
  if (outcome.error != ErrorCode::none) co_return outcome;

  const std::int64_t last_fetchable = read_committed ? partition->last_stable_offset() : partition->high_watermark();
  const auto epoch_at = [&](std::int64_t offset) {
    return partition->log().leader_epochs().epoch_of(offset).value_or(-1);
  };
  switch (item.timestamp) {
    case kLatestTimestamp:
      outcome.offset = last_fetchable;
      outcome.leader_epoch = partition->leader_epoch();
      co_return outcome;
    case kEarliestTimestamp:
    case kEarliestLocalTimestamp:
      outcome.offset = partition->log().log_start_offset();
      outcome.leader_epoch = epoch_at(outcome.offset);
      co_return outcome;
    case kLatestTieredTimestamp:
    case kEarliestPendingUploadTimestamp:
      // Nothing is tiered here.
      co_return outcome;
    default:
      break;
  }
  const Lookup found = co_await look_up(shard, partition, item.timestamp);
  if (!found && found.error().kind == storage::ReadFault::Kind::corrupt) {
    shard.metrics().unsound_reads.add();
    shard.report_unsound(found.error().io.what);
    outcome.error = ErrorCode::corrupt_message;
    co_return outcome;
  }
  if (!found) {
    LOG_ERROR("list-offsets", "{}-{}: {}", partition->topic(), item.key.partition, found.error().io.message());
    outcome.error = ErrorCode::kafka_storage_error;
    co_return outcome;
  }
  if (*found && (*found)->offset < last_fetchable) {
    outcome.timestamp = (*found)->timestamp;
    outcome.offset = (*found)->offset;
    outcome.leader_epoch = epoch_at(outcome.offset);
  } else if (!*found && item.timestamp == kMaxTimestamp && partition->log().log_start_offset() < last_fetchable) {
    // No record has a time: the first is as late as any.
    outcome.offset = partition->log().log_start_offset();
    outcome.leader_epoch = epoch_at(outcome.offset);
  }
  co_return outcome;
}

}  // namespace

Awaitable<std::vector<ListOffsetOutcome>> list_offsets(Shard& shard, std::vector<ListOffsetItem> items,
                                                       bool read_committed) {
  std::vector<ListOffsetOutcome> outcomes;
  outcomes.reserve(items.size());
  for (const ListOffsetItem& item : items) {
    ListOffsetOutcome outcome = co_await list_one(shard, item, read_committed);
    outcomes.push_back(outcome);
  }
  co_return outcomes;
}

Awaitable<std::vector<EpochOutcome>> offsets_for_leader_epoch(Shard& shard, std::vector<EpochItem> items) {
  std::vector<EpochOutcome> outcomes;
  outcomes.reserve(items.size());
  for (const EpochItem& item : items) {
    EpochOutcome& outcome = outcomes.emplace_back();
    outcome.slot = item.slot;
    const std::shared_ptr<Partition> partition = shard.find_partition(item.key);
    if (!partition) {
      outcome.error = ErrorCode::unknown_topic_or_partition;
      continue;
    }
    outcome.error = co_await shard.when_open(partition);
    if (outcome.error == ErrorCode::none) outcome.error = check_epoch(*partition, item.current_leader_epoch);
    if (outcome.error != ErrorCode::none) continue;
    const storage::EpochEndOffset end = partition->log().offset_for_leader_epoch(item.leader_epoch);
    outcome.leader_epoch = end.epoch;
    outcome.end_offset = end.end_offset;
  }
  co_return outcomes;
}

}  // namespace thalweg::broker
