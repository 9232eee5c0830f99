// The broker's settings that bound groups, by Kafka's keys.
#pragma once

#include <cstdint>

namespace thalweg::coordinator {

struct GroupSettings {
  std::int32_t min_session_timeout_ms = 6'000;      // group.min.session.timeout.ms
  std::int32_t max_session_timeout_ms = 1'800'000;  // group.max.session.timeout.ms
  std::int32_t initial_rebalance_delay_ms = 3'000;  // group.initial.rebalance.delay.ms
  std::int32_t max_size = INT32_MAX;                // group.max.size
  std::int32_t offset_metadata_max_bytes = 4'096;   // offset.metadata.max.bytes
  std::int64_t offsets_retention_ms = 604'800'000;  // offsets.retention.minutes
  // How long a member that is new may take to come back for its first generation; Kafka has no key for it.
  std::int32_t new_member_join_timeout_ms = 300'000;
};

}  // namespace thalweg::coordinator
