// LogScrub: reads the logs of one core bit by bit and compares every batch with its checksum, so that what a disk has
// spoilt is found while there may still be a copy. One per core.
//
// A pass goes over all partitions that are open, segment by segment, in steps on the pool for disks, slowly:
// thalweg.log.scrub.bytes.per.second, shared evenly by the cores. A pass begins log.initial.task.delay.ms after the
// start and then once a day, or when the one before has come to its end. What is not sound is a line in the broker's
// log and a count; it changes nothing, for a reader that meets it gets CORRUPT_MESSAGE by itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "broker/partition.h"
#include "runtime/await.h"
#include "storage/log.h"

namespace thalweg::broker {

class Shard;

class LogScrub {
 public:
  explicit LogScrub(Shard& shard) : shard_(shard) {}
  LogScrub(const LogScrub&) = delete;
  LogScrub& operator=(const LogScrub&) = delete;

  // Sees to it that passes are made, unless the rate is 0.
  void start();

 private:
  void schedule(std::int64_t delay_ms);
  runtime::Awaitable<void> pass();
  runtime::Awaitable<void> scrub(std::shared_ptr<Partition> partition);
  // Reads one segment. What is not sound, as lines; nothing where the partition is not open any more.
  runtime::Awaitable<std::optional<std::vector<std::string>>> read(std::shared_ptr<Partition> partition,
                                                                   storage::Log::Extent extent);
  // Waits as long as the rate asks for after so many bytes.
  runtime::Awaitable<void> pace(std::uint64_t bytes);

  Shard& shard_;
};

}  // namespace thalweg::broker
