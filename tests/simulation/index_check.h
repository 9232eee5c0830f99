// Reads the index files of logs that were closed in order beside their batches.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/file.h"

namespace thalweg::simulation {

struct IndexExpectation {
  std::string folder;
  std::int32_t index_interval_bytes = 4096;
  // Restarts in order that the partition has seen: each begins a new interval, so there may be an entry less.
  std::size_t clean_restarts = 0;
};

// Offset index and time index of every segment in the folder against its records. Throws a Violation.
void check_indexes(runtime::FileSystem& files, const IndexExpectation& expected);

}  // namespace thalweg::simulation
