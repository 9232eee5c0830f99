// TopicSettings: a topic's configuration as the path of a record needs it: parsed once, shared by its partitions.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "broker/recompress.h"
#include "config/config.h"
#include "protocol/batch_view.h"
#include "storage/log_config.h"

namespace thalweg::broker {

struct TopicSettings {
  std::shared_ptr<const storage::LogConfig> log;
  std::int32_t max_message_bytes = 1048588;                                       // max.message.bytes
  protocol::TimestampType timestamp_type = protocol::TimestampType::create_time;  // message.timestamp.type
  std::int32_t max_decompressed_message_bytes = INT32_MAX;                        // max.decompressed.message.bytes
  std::int64_t timestamp_before_max_ms = INT64_MAX;                               // message.timestamp.before.max.ms
  std::int64_t timestamp_after_max_ms = 3'600'000;                                // message.timestamp.after.max.ms
  std::optional<CompressionTarget> compression;  // compression.type; nothing: the producer's
  std::int64_t file_delete_delay_ms = 60'000;    // file.delete.delay.ms
  bool compacted = false;                        // cleanup.policy names "compact"
};

// Reads the settings in force for a topic (config::effective_topic), and what the broker says for all its logs.
std::shared_ptr<const TopicSettings> parse_topic_settings(const config::Config& effective,
                                                          const config::Config& broker);

}  // namespace thalweg::broker
