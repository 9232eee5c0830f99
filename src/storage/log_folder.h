// LogFolder: what is in the folder of a partition, once the leftovers of interrupted work are cleared away.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "runtime/file.h"
#include "storage/segment_recovery.h"

namespace thalweg::storage {

struct LogFolder {
  std::map<std::int64_t, SegmentListing> segments;  // by base offset; each has a `.log` file
  std::set<std::int64_t> snapshots;
  bool created = false;  // the folder was missing
  bool changed = false;  // entries have been added, renamed or removed
};

// Makes the folder where it is missing and lists it. On the way it
//   - removes `.deleted` and `.cleaned` files, indexes without a log, and empty segments between others: a roll that
//   failed
//     half-way leaves one;
//   - finishes the swap of a compaction: `.swap` files take their places, what they replace is removed; but where
//     `.cleaned` files at or before them show that the compaction was not done, they are removed themselves.
runtime::IoResult<LogFolder> list_log_folder(runtime::FileSystem& files, const std::string& folder);

// Whether the folder holds nothing but what the making of a log begins with: no record, and no file of others.
runtime::IoResult<bool> is_log_folder_empty(runtime::FileSystem& files, const std::string& folder);

}  // namespace thalweg::storage
