// CleaningPlan: whether a log is worth compacting now, and how far. Kafka's rules.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "storage/cleaned_segment.h"
#include "storage/log_config.h"

namespace thalweg::storage {

struct CleaningPlan {
  std::vector<CleanableSegment> segments;  // what a pass would take on, from the first of the log
  std::int64_t first_dirty_offset = 0;
  std::int64_t clean_bytes = 0;
  std::int64_t dirty_bytes = 0;  // of whole segments, like the others
  bool overdue = false;          // max.compaction.lag.ms is over for some record
  // When time alone may make more of it: segments come of age for min.compaction.lag.ms or max.compaction.lag.ms.
  std::optional<std::int64_t> look_again_ms;

  // Share of the bytes that are dirty, 0 .. 1.
  [[nodiscard]] double dirty_ratio() const;
  // Whether it is to be done.
  [[nodiscard]] bool is_due(const LogConfig& config) const;
};

struct CleaningFacts {
  std::vector<CleanableSegment> segments;  // Log::cleanable_segments()
  std::int64_t clean_end = 0;              // where the last pass has ended; 0: there was none
  std::int64_t last_stable_offset = 0;     // what is behind it is not decided
  std::int64_t now_ms = 0;                 // wall clock
};
CleaningPlan plan_cleaning(CleaningFacts facts, const LogConfig& config);

}  // namespace thalweg::storage
