// LogDirectory: one of the folders of log.dirs, and which of them new partitions go to.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/uuid.h"
#include "broker/disk_room.h"
#include "broker/offset_checkpoint.h"

namespace thalweg::broker {

// In place of an index among the log directories, for a partition whose directory this broker does not have (any more).
inline constexpr std::size_t kNoDirectory = std::numeric_limits<std::size_t>::max();

struct LogDirectory {
  std::string path;
  std::string absolute_path;  // what clients are told
  base::Uuid id;
  std::atomic<bool> offline{false};
  DiskRoom room;
  // These belong to the first core.
  std::unique_ptr<OffsetCheckpoint> log_starts;
  std::unique_ptr<OffsetCheckpoint> clean_ends;  // how far logs are compacted
};

// The directories for `count` new partitions, one after the other the one with the fewest, as Kafka places them.
//   partitions   how many each directory has; nothing for one that takes no new ones
// Empty where none takes any.
std::vector<std::size_t> fewest_first(const std::vector<std::optional<std::int64_t>>& partitions, std::int32_t count);

}  // namespace thalweg::broker
