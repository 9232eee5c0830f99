// The data folders of a broker that does not run, for the commands that check, repair and copy them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/file.h"
#include "storage/checkpoints.h"
#include "storage/topic_partition.h"

namespace thalweg::cli {

// Where Kafka's controllers keep what a broker of ours has in its store.
inline constexpr std::string_view kKafkaMetadataTopic = "__cluster_metadata";

// One of them, as log.dirs names it.
struct DataFolder {
  std::string path;
  runtime::DirectoryLock lock;
  std::vector<storage::TopicPartition> partitions;    // that have a folder here, in their order
  std::optional<storage::MetaProperties> properties;  // nothing where the file is missing or cannot be read
  std::string properties_fault;                       // why it cannot be read; empty where it can, or is missing
  bool has_store = false;                             // the metadata store is in here
  bool of_kafka = false;                              // a controller of Kafka keeps its metadata in here

  [[nodiscard]] std::string in(std::string_view name) const { return storage::in_directory(path, name); }
  [[nodiscard]] std::string folder_of(const storage::TopicPartition& partition) const {
    return in(storage::folder_name(partition));
  }
};

// Opens the folders and keeps every broker, also Kafka's, from them while the result lives.
//   errors   one line: no folder, or one that a broker has open
base::Result<std::vector<DataFolder>, std::string> open_data_folders(runtime::FileSystem& files,
                                                                     const std::vector<std::string>& paths);

}  // namespace thalweg::cli
