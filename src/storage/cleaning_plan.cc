#include "storage/cleaning_plan.h"

#include <algorithm>

namespace thalweg::storage {

double CleaningPlan::dirty_ratio() const {
  const std::int64_t all = clean_bytes + dirty_bytes;
  return all == 0 ? 0 : static_cast<double>(dirty_bytes) / static_cast<double>(all);
}

bool CleaningPlan::is_due(const LogConfig& config) const {
  return dirty_bytes > 0 && (overdue || dirty_ratio() > config.min_cleanable_dirty_ratio);
}

CleaningPlan plan_cleaning(CleaningFacts facts, const LogConfig& config) {
  CleaningPlan plan;
  if (facts.segments.empty()) return plan;
  const std::int64_t log_begin = facts.segments.front().base_offset;
  plan.first_dirty_offset = std::max(facts.clean_end, log_begin);
  const auto look_again = [&](std::int64_t at_ms) {
    plan.look_again_ms = std::min(plan.look_again_ms.value_or(INT64_MAX), at_ms);
  };
  for (const CleanableSegment& segment : facts.segments) {
    const bool dirty = segment.end_offset > plan.first_dirty_offset;
    if (!dirty) {
      plan.clean_bytes += segment.size_bytes;
      plan.segments.push_back(segment);
      continue;
    }
    if (segment.end_offset > facts.last_stable_offset) break;
    if (config.min_compaction_lag_ms > 0 && segment.largest_timestamp > facts.now_ms - config.min_compaction_lag_ms) {
      if (segment.largest_timestamp <= INT64_MAX - config.min_compaction_lag_ms)
        look_again(segment.largest_timestamp + config.min_compaction_lag_ms);
      break;
    }
    plan.dirty_bytes += segment.size_bytes;
    plan.segments.push_back(segment);
    if (config.max_compaction_lag_ms == INT64_MAX) continue;
    // One whose time is not known counts as old: it is compacted too early rather than too late.
    const std::int64_t earliest = std::max<std::int64_t>(segment.earliest_timestamp, 0);
    if (earliest < facts.now_ms - config.max_compaction_lag_ms) {
      plan.overdue = true;
    } else if (earliest < INT64_MAX - config.max_compaction_lag_ms) {
      look_again(earliest + config.max_compaction_lag_ms + 1);
    }
  }
  return plan;
}

}  // namespace thalweg::storage
