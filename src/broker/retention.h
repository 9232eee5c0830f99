// Retention: deletes the segments of one core's partitions that retention.ms, retention.bytes or the log start offset
// leave no room for. One per core.
//
// Every log.retention.check.interval.ms a sweep looks at the partitions that may have something to delete, and at no
// others: those that have been written to or configured since the last one, and those whose oldest segment has come of
// age (Log::retention_due_ms). Renames are made on the loop, a few at a time; the files go on a pool after
// file.delete.delay.ms, since responses may still be reading them. A start removes what was left over.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "broker/due_queue.h"
#include "broker/partition.h"

namespace thalweg::broker {

class Shard;

class Retention {
 public:
  explicit Retention(Shard& shard) : shard_(shard) {}
  Retention(const Retention&) = delete;
  Retention& operator=(const Retention&) = delete;

  // The first sweep comes log.initial.task.delay.ms from now.
  void start();
  // The next sweep looks at the partition: it was opened, written to, configured, or its log start has moved.
  void touch(const std::shared_ptr<Partition>& partition) { queue_.touch(partition); }
  // What the partition has written is on stable storage: a deletion may have waited for that.
  void flushed(const std::shared_ptr<Partition>& partition);
  // Removes files on a pool once the delay is over.
  void remove_later(std::vector<std::string> files, std::int64_t delay_ms);

 private:
  void schedule(std::int64_t delay_ms);
  void sweep();
  void post_turn();
  void turn();
  void look_at(const std::shared_ptr<Partition>& partition);

  Shard& shard_;
  DueQueue<Partition, &Partition::retention> queue_;
  std::deque<std::shared_ptr<Partition>> pending_;  // to be looked at in this sweep
  bool turn_posted_ = false;
};

}  // namespace thalweg::broker
