#include "broker/topic_settings.h"

#include <algorithm>
#include <array>
#include <vector>

namespace thalweg::broker {

namespace {

std::optional<protocol::CompressionType> compression_of(const std::string& name) {
  using protocol::CompressionType;
  static constexpr std::array<std::pair<std::string_view, CompressionType>, 5> kNames = {
      {{"uncompressed", CompressionType::none},
       {"gzip", CompressionType::gzip},
       {"snappy", CompressionType::snappy},
       {"lz4", CompressionType::lz4},
       {"zstd", CompressionType::zstd}}};
  for (const auto& [word, codec] : kNames)
    if (word == name) return codec;
  return std::nullopt;  // "producer"
}

}  // namespace

std::shared_ptr<const TopicSettings> parse_topic_settings(const config::Config& effective) {
  const std::vector<std::string> policies = effective.get_list("cleanup.policy");
  const auto names = [&](std::string_view word) { return std::ranges::find(policies, word) != policies.end(); };

  auto log = std::make_shared<storage::LogConfig>();
  log->segment_bytes = effective.get_int("segment.bytes");
  log->segment_ms = effective.get_long("segment.ms");
  log->segment_jitter_ms = effective.get_long("segment.jitter.ms");
  log->segment_index_bytes = effective.get_int("segment.index.bytes");
  log->index_interval_bytes = effective.get_int("index.interval.bytes");
  log->retention_ms = effective.get_long("retention.ms");
  log->retention_bytes = effective.get_long("retention.bytes");
  log->cleanup_delete = names("delete");
  log->cleanup_compact = names("compact");

  auto settings = std::make_shared<TopicSettings>();
  settings->max_message_bytes = effective.get_int("max.message.bytes");
  settings->max_decompressed_message_bytes = effective.get_int("max.decompressed.message.bytes");
  settings->timestamp_type = effective.get_string("message.timestamp.type") == "LogAppendTime"
                                 ? protocol::TimestampType::log_append_time
                                 : protocol::TimestampType::create_time;
  settings->timestamp_before_max_ms = effective.get_long("message.timestamp.before.max.ms");
  settings->timestamp_after_max_ms = effective.get_long("message.timestamp.after.max.ms");
  settings->compression = compression_of(effective.get_string("compression.type"));
  settings->compacted = log->cleanup_compact;
  settings->log = std::move(log);
  return settings;
}

}  // namespace thalweg::broker
