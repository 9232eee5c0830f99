// LogConfig: what a topic's configuration says to its logs. Names and defaults are Kafka's.
#pragma once

#include <algorithm>
#include <cstdint>

namespace thalweg::storage {

struct LogConfig {
  std::int32_t segment_bytes = 1 << 30;                            // segment.bytes
  std::int64_t segment_ms = 7LL * 24 * 60 * 60 * 1000;             // segment.ms
  std::int64_t segment_jitter_ms = 0;                              // segment.jitter.ms
  std::int32_t segment_index_bytes = 10 << 20;                     // segment.index.bytes
  std::int32_t index_interval_bytes = 4096;                        // index.interval.bytes
  std::int64_t retention_ms = 7LL * 24 * 60 * 60 * 1000;           // retention.ms, -1: for ever
  std::int64_t retention_bytes = -1;                               // retention.bytes, -1: without limit
  std::int64_t producer_id_expiration_ms = 24LL * 60 * 60 * 1000;  // producer.id.expiration.ms
  bool cleanup_delete = true;                                      // cleanup.policy names "delete"
  bool cleanup_compact = false;                                    // cleanup.policy names "compact"
  std::int64_t min_compaction_lag_ms = 0;                          // min.compaction.lag.ms
  std::int64_t max_compaction_lag_ms = INT64_MAX;                  // max.compaction.lag.ms
  std::int64_t delete_retention_ms = 24LL * 60 * 60 * 1000;        // delete.retention.ms
  double min_cleanable_dirty_ratio = 0.5;                          // min.cleanable.dirty.ratio

  // How long a segment is written to: a compacted log must not keep records out of reach for longer than
  // max.compaction.lag.ms.
  [[nodiscard]] std::int64_t roll_ms() const {
    return cleanup_compact ? std::min(segment_ms, max_compaction_lag_ms) : segment_ms;
  }
};

}  // namespace thalweg::storage
