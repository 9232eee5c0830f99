// Makes a metadata store anew where it is lost, from what the folders of the partitions say.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/uuid.h"
#include "storage/topic_partition.h"

namespace thalweg::cli {

// A partition whose folder says which topic it belongs to.
struct FoundPartition {
  storage::TopicPartition partition;
  base::Uuid topic_id;
  base::Uuid directory;            // that its folder is in
  std::int32_t latest_epoch = -1;  // of its batches
};

struct RebuildOptions {
  std::string path;  // of the store; nothing may be there
  std::string cluster_id;
  std::int32_t node_id = -1;
  std::int64_t largest_producer_id = -1;  // that a log names
  std::vector<FoundPartition> partitions;
};

struct Rebuilt {
  std::size_t topics = 0;
  std::vector<std::string> left_out;  // lines about folders that contradict others
};

// Writes it. Topics come back with their ids and as many partitions as the highest number found asks for; leader epochs
// go on behind those in the logs, and producer ids behind those that were given out.
//   errors   one line: what could not be written
base::Result<Rebuilt, std::string> rebuild_store(const RebuildOptions& options);

}  // namespace thalweg::cli
