// DescribeLogDirs on the owning core: what of the partitions' logs is in which log directory.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runtime/await.h"

namespace thalweg::broker {

class Shard;

// Topics and partitions; nothing: all of them.
using WantedLogs = std::optional<std::set<std::pair<std::string, std::int32_t>>>;

struct LogInDirectory {
  std::size_t directory = 0;
  std::string topic;
  std::int32_t partition = 0;
  std::int64_t size_bytes = 0;
};

// The logs of this core's partitions, but for those in directories that have failed. A partition that nothing was
// asked of since it was created has a log of 0 bytes.
std::vector<LogInDirectory> logs_in_directories(Shard& shard, const WantedLogs& wanted);

}  // namespace thalweg::broker
