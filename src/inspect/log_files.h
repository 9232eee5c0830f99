// What a path is: a file of a log, the folder of a partition, or a folder of partitions as `log.dirs` names them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "runtime/file.h"
#include "storage/topic_partition.h"

namespace thalweg::inspect {

enum class LogFileKind : std::uint8_t {
  log,                 // .log, and .checkpoint of the metadata log, which has the same format
  offset_index,        // .index
  time_index,          // .timeindex
  transaction_index,   // .txnindex
  snapshot,            // .snapshot: the producers
  leader_epochs,       // leader-epoch-checkpoint
  offsets,             // the offset checkpoints of a folder of partitions
  partition_metadata,  // partition.metadata
  meta_properties,     // meta.properties
};

struct LogFile {
  std::string path;
  std::string label;  // as it is shown: FOLDER/FILE
  LogFileKind kind = LogFileKind::log;
  std::int64_t base_offset = 0;       // from the name, where it has one
  storage::TopicPartition partition;  // from the folder's name; no topic where that is none
  std::uint64_t size_bytes = 0;
};

// The files of one partition that hold records, by base offset; or one file alone.
struct LogFolder {
  std::string label;  // as it is shown
  storage::TopicPartition partition;
  std::vector<LogFile> files;
};

struct LogTree {
  std::vector<LogFolder> folders;  // by topic and partition
  bool single_file = false;
};

// Whether the file's name is one of those of a log.
bool is_log_file_name(std::string_view path);
// Whether it is called .log and begins as segments do, under whatever name: a segment that somebody has put aside.
bool is_copied_log(runtime::FileSystem& files, const std::string& path);

// Looks at the path. In folders only `.log` files that are in use are taken: those that a deletion or a compaction has
// marked are for who names them.
//   errors   one line: nothing is there, or nothing of a log
base::Result<LogTree, std::string> find_logs(runtime::FileSystem& files, const std::string& path);

}  // namespace thalweg::inspect
