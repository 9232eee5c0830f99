#include "broker/topic_settings.h"

#include <algorithm>
#include <vector>

namespace thalweg::broker {

namespace {

std::optional<CompressionTarget> compression_of(const config::Config& effective) {
  using protocol::CompressionType;
  const std::string name = effective.get_string("compression.type");
  const auto level = [&](const char* key) { return std::optional<int>(effective.get_int(key)); };
  if (name == "uncompressed") return CompressionTarget{};
  if (name == "snappy") return CompressionTarget{.codec = CompressionType::snappy};
  if (name == "lz4") return CompressionTarget{.codec = CompressionType::lz4, .level = level("compression.lz4.level")};
  if (name == "zstd")
    return CompressionTarget{.codec = CompressionType::zstd, .level = level("compression.zstd.level")};
  if (name == "gzip") {
    // -1 stands for zlib's own choice.
    const std::optional<int> gzip = level("compression.gzip.level");
    return CompressionTarget{.codec = CompressionType::gzip, .level = gzip == -1 ? std::nullopt : gzip};
  }
  return std::nullopt;  // "producer"
}

}  // namespace

std::shared_ptr<const TopicSettings> parse_topic_settings(const config::Config& effective,
                                                          const config::Config& broker) {
  const std::vector<std::string> policies = effective.get_list("cleanup.policy");
  const auto names = [&](std::string_view word) { return std::ranges::find(policies, word) != policies.end(); };

  auto log = std::make_shared<storage::LogConfig>();
  log->segment_bytes = effective.find_int("internal.segment.bytes").value_or(effective.get_int("segment.bytes"));
  log->segment_ms = effective.get_long("segment.ms");
  log->segment_jitter_ms = effective.get_long("segment.jitter.ms");
  log->segment_index_bytes = effective.get_int("segment.index.bytes");
  log->index_interval_bytes = effective.get_int("index.interval.bytes");
  log->retention_ms = effective.get_long("retention.ms");
  log->retention_bytes = effective.get_long("retention.bytes");
  log->producer_id_expiration_ms = broker.get_int("producer.id.expiration.ms");
  log->cleanup_delete = names("delete");
  log->cleanup_compact = names("compact");
  log->min_compaction_lag_ms = effective.get_long("min.compaction.lag.ms");
  log->max_compaction_lag_ms = effective.get_long("max.compaction.lag.ms");
  log->delete_retention_ms = effective.get_long("delete.retention.ms");
  log->min_cleanable_dirty_ratio = effective.get_double("min.cleanable.dirty.ratio");

  auto settings = std::make_shared<TopicSettings>();
  settings->max_message_bytes = effective.get_int("max.message.bytes");
  settings->max_decompressed_message_bytes = effective.get_int("max.decompressed.message.bytes");
  settings->timestamp_type = effective.get_string("message.timestamp.type") == "LogAppendTime"
                                 ? protocol::TimestampType::log_append_time
                                 : protocol::TimestampType::create_time;
  settings->timestamp_before_max_ms = effective.get_long("message.timestamp.before.max.ms");
  settings->timestamp_after_max_ms = effective.get_long("message.timestamp.after.max.ms");
  settings->compression = compression_of(effective);
  settings->file_delete_delay_ms = effective.get_long("file.delete.delay.ms");
  settings->compacted = log->cleanup_compact;
  settings->log = std::move(log);
  return settings;
}

}  // namespace thalweg::broker
