// FlushTargets: what has to be synced so that a log is durable up to an offset; the log names it, a FlushScheduler does
// it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "runtime/file.h"

namespace thalweg::storage {

// What a flush has covered; comes back to Log::mark_flushed().
struct FlushMark {
  std::int64_t end_offset = 0;         // of the records
  std::int64_t closed_end_offset = 0;  // of the segments whose indexes are covered as well
  std::uint32_t entries_version = 0;   // of the folder's entries
  std::uint32_t epochs_version = 0;    // of the leader epochs
  std::uint32_t truncations = 0;       // a flush that ran across a truncation counts for nothing
};

// A small file to be written anew: to a temporary file, synced, renamed.
struct FileReplacement {
  std::string path;
  std::string contents;
};

struct FlushTargets {
  std::vector<std::shared_ptr<runtime::File>> files;
  std::vector<std::string> folders;  // with entries that are not durable yet
  std::vector<FileReplacement> replacements;
  FlushMark mark;
};

}  // namespace thalweg::storage
