// LogCleaner: compacts the partitions of one core whose cleanup.policy names "compact", one at a time. One per core.
//
// Every log.cleaner.backoff.ms, and after each pass, it looks at those that have been written to or have come of age
// (plan_cleaning) and takes the dirtiest. The work is storage::Cleaner's, in steps on a pool of log.cleaner.threads;
// between them the loop serves requests, swaps finished segments in, and waits where
// log.cleaner.io.max.bytes.per.second asks for that. The memory and the rate that are allowed are shared evenly by the
// cores. What has been compacted is remembered in cleaner-offset-checkpoint.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "broker/due_queue.h"
#include "broker/partition.h"
#include "runtime/await.h"
#include "runtime/core.h"
#include "runtime/executor.h"
#include "storage/cleaner.h"
#include "storage/cleaning_plan.h"

namespace thalweg::broker {

class Shard;

class LogCleaner {
 public:
  explicit LogCleaner(Shard& shard);
  LogCleaner(const LogCleaner&) = delete;
  LogCleaner& operator=(const LogCleaner&) = delete;

  // Begins to look, unless log.cleaner.enable is false.
  void start();
  // The broker's settings may have changed (Shard::live). A pass that is under way keeps the map it has.
  void reconfigured();
  // Works on another pool from the next step on.
  //   returns  the one before; threads may still be at work there
  std::shared_ptr<runtime::Pool> use_pool(std::shared_ptr<runtime::Pool> pool);
  // The next look considers the partition, which is compacted: it was opened, written to or configured.
  void touch(const std::shared_ptr<Partition>& partition) { queue_.touch(partition); }

 private:
  void schedule();
  void look();
  storage::CleaningPlan plan(const std::shared_ptr<Partition>& partition);
  runtime::Awaitable<void> clean(std::shared_ptr<Partition> partition, storage::CleaningPlan plan);
  runtime::Awaitable<bool> pass(std::shared_ptr<Partition> partition, storage::CleaningPlan plan);
  runtime::Awaitable<storage::ReadOutcome<std::vector<storage::AbortedTransaction>>> aborted_in(
      std::shared_ptr<Partition> partition, std::int64_t first_offset, std::int64_t end_offset);
  bool swap_in(const std::shared_ptr<Partition>& partition, const storage::CleanedSegment& cleaned);
  void failed(const std::shared_ptr<Partition>& partition, const runtime::IoError& error);

  Shard& shard_;
  std::shared_ptr<runtime::Pool> pool_;
  bool started_ = false;
  std::int64_t backoff_ms_ = 0;  // until next_look_
  runtime::Core::TimerId next_look_;
  DueQueue<Partition, &Partition::cleaning_due> queue_;
  std::vector<std::shared_ptr<Partition>> candidates_;  // that may be worth a pass
  bool busy_ = false;
};

}  // namespace thalweg::broker
