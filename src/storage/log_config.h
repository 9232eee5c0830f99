// LogConfig: what a topic's configuration says to its logs. Names and defaults are Kafka's.
#pragma once

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
};

}  // namespace thalweg::storage
