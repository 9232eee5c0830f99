// OffsetCheckpoint: one of the offset checkpoints of a log directory whose lines only rise: the log starts, and how far
// logs are compacted. A deletion of records is acknowledged once its new log start is in there, and a name that is used
// again must not find the line of its predecessor.
//
// Belongs to one loop; whoever is on another posts. What is asked for while the file is being written goes into the
// next one, all together.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/executor.h"
#include "runtime/file.h"
#include "storage/checkpoints.h"

namespace thalweg::broker {

class OffsetCheckpoint {
 public:
  // Called on the loop: an error where the file could not be written.
  using Done = std::move_only_function<void(runtime::IoResult<void>)>;

  // `home` is the loop, `pool` may block. All outlive this.
  OffsetCheckpoint(runtime::FileSystem& files, runtime::Executor& home, runtime::Executor& pool, std::string path);
  OffsetCheckpoint(const OffsetCheckpoint&) = delete;
  OffsetCheckpoint& operator=(const OffsetCheckpoint&) = delete;

  // Before anything else: what the file holds, but for the lines in `dead`, of partitions that are no more. May be
  // called while the loop does not run yet.
  void load(storage::OffsetMap lines, const std::vector<storage::TopicPartition>& dead);

  // The line of a partition; 0 where it has none.
  [[nodiscard]] std::int64_t line(const storage::TopicPartition& partition) const;
  // Raises the lines of these partitions and calls `done` once they are on stable storage; never inside this call.
  void raise(const storage::OffsetMap& offsets, Done done);
  // Takes the line of a partition away; `done` as for raise().
  void forget(const storage::TopicPartition& partition, Done done);

  // Others are found by looking at all logs now and then: begin_round() before the first of them is looked
  // at, finish_round() with what was found. What was forgotten in between stays forgotten.
  [[nodiscard]] std::uint64_t begin_round() const { return forgets_; }
  void finish_round(std::uint64_t round, storage::OffsetMap offsets, Done done);

 private:
  void write_soon(Done done);
  void write();

  runtime::FileSystem& files_;
  runtime::Executor& home_;
  runtime::Executor& pool_;
  const std::string path_;
  storage::OffsetMap lines_;
  std::uint64_t forgets_ = 0;                                             // so many so far
  std::unordered_map<storage::TopicPartition, std::uint64_t> forgotten_;  // the how-manieth it was
  bool changed_ = false;                                                  // the file does not hold lines_
  bool writing_ = false;
  std::vector<Done> waiting_;  // for the next write
};

}  // namespace thalweg::broker
