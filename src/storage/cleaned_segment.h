// What a Log and the Cleaner that compacts its segments tell each other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace thalweg::storage {

// A closed segment whose records are on stable storage.
struct CleanableSegment {
  std::int64_t base_offset = 0;
  std::int64_t end_offset = 0;  // where the next one begins
  std::uint32_t size_bytes = 0;
  std::uint32_t index_bytes = 0;         // of the larger of its two indexes
  std::uint32_t aborted_count = 0;       // transactions that a marker in it aborts
  std::int64_t largest_timestamp = -1;   // what retention by time goes by
  std::int64_t earliest_timestamp = -1;  // of its first batch; -1 where that is not known
};

// A compacted segment, named by the first of those that it replaces; its files end in `.swap`.
struct CleanedSegment {
  std::int64_t base_offset = 0;
  std::vector<std::int64_t> replaces;  // base offsets, rising, its own among them
  std::uint64_t log_bytes = 0;         // sizes of its files
  std::uint64_t offset_index_bytes = 0;
  std::uint64_t time_index_bytes = 0;
  std::uint64_t transaction_index_bytes = 0;  // 0: there is no such file
};

}  // namespace thalweg::storage
