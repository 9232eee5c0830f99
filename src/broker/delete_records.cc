#include "broker/delete_records.h"

#include <map>
#include <utility>

#include "base/log.h"
#include "broker/broker.h"
#include "broker/shard.h"
#include "storage/checkpoints.h"

namespace thalweg::broker {

namespace {

using protocol::ErrorCode;
using runtime::Awaitable;

// What has to be on stable storage before the answer: log starts by directory.
using Raised = std::map<std::size_t, storage::OffsetMap>;

DeleteRecordsOutcome raise(Shard& shard, const std::shared_ptr<Partition>& partition, const DeleteRecordsItem& item,
                           Raised& raised) {
  DeleteRecordsOutcome outcome;
  outcome.slot = item.slot;
  storage::Log& log = partition->log();
  if (log.config().cleanup_compact && !log.config().cleanup_delete) {
    outcome.error = ErrorCode::policy_violation;
    return outcome;
  }
  const std::int64_t offset = item.offset == kUpToHighWatermark ? partition->high_watermark() : item.offset;
  if (offset < 0 || offset > partition->high_watermark()) {
    outcome.error = ErrorCode::offset_out_of_range;
    return outcome;
  }
  if (log.raise_log_start_offset(offset)) shard.touch(partition);
  // An earlier request that raised it may not be on stable storage yet.
  outcome.low_watermark = log.log_start_offset();
  if (outcome.low_watermark > 0) raised[partition->directory()][log.partition()] = outcome.low_watermark;
  return outcome;
}

}  // namespace

Awaitable<std::vector<DeleteRecordsOutcome>> delete_records(Shard& shard, std::vector<DeleteRecordsItem> items) {
  std::vector<DeleteRecordsOutcome> outcomes;
  std::vector<std::size_t> directories;  // of the outcomes
  outcomes.reserve(items.size());
  Raised raised;
  for (const DeleteRecordsItem& item : items) {
    const std::shared_ptr<Partition> partition = shard.find_partition(item.key);
    ErrorCode error = ErrorCode::unknown_topic_or_partition;
    if (partition) error = co_await shard.when_open(partition);
    directories.push_back(partition ? partition->directory() : 0);
    if (error != ErrorCode::none) {
      outcomes.push_back({.slot = item.slot, .error = error});
    } else {
      outcomes.push_back(raise(shard, partition, item, raised));
    }
  }
  for (auto& [directory, log_starts] : raised) {
    const ErrorCode error = co_await shard.save_log_starts(directory, std::move(log_starts));
    if (error == ErrorCode::none) continue;
    for (std::size_t i = 0; i < outcomes.size(); ++i)
      if (directories[i] == directory && outcomes[i].error == ErrorCode::none)
        outcomes[i] = {.slot = outcomes[i].slot, .error = error};
  }
  co_return outcomes;
}

}  // namespace thalweg::broker
