// Settings: the broker's configuration as its code needs it, read once from the table of keys. What may change while
// it runs is in LiveSettings instead.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "broker/delegation_tokens.h"
#include "broker/otlp_endpoint.h"
#include "broker/sasl_settings.h"
#include "config/config.h"
#include "config/listeners.h"
#include "coordinator/group_settings.h"
#include "security/authorizer.h"

namespace thalweg::broker {

struct Settings {
  std::int32_t node_id = 1;
  std::optional<std::string> rack;
  std::vector<std::string> log_dirs;
  int cores = 0;  // event loops
  config::Listeners listeners;
  std::vector<config::ConsoleAddress> console;
  bool console_was_set = false;

  bool flush_acks = true;  // log.flush.acks=all
  std::int32_t num_partitions = 1;
  std::int16_t default_replication_factor = 1;
  bool auto_create_topics = true;
  bool delete_topics = true;
  bool unstable_api_versions = false;
  std::int32_t fetch_max_bytes = 55 << 20;
  std::int32_t max_request_partition_size_limit = 2000;
  std::int32_t fetch_session_slots = 1000;

  std::int32_t request_max_bytes = 100 << 20;  // socket.request.max.bytes
  std::int64_t max_bytes_in_flight = 256 << 20;
  std::int64_t connections_max_idle_ms = 600'000;
  std::int32_t listen_backlog = 50;
  std::int32_t send_buffer_bytes = -1;
  std::int32_t receive_buffer_bytes = -1;

  std::int64_t checkpoint_interval_ms = 60'000;          // log.flush.offset.checkpoint.interval.ms
  std::int64_t retention_check_interval_ms = 300'000;    // log.retention.check.interval.ms
  std::int64_t producer_id_check_interval_ms = 600'000;  // producer.id.expiration.check.interval.ms
  std::int64_t initial_task_delay_ms = 30'000;           // log.initial.task.delay.ms
  bool cleaner_enabled = true;                           // log.cleaner.enable

  bool verify_reads = false;                // thalweg.log.read.verify
  std::int64_t scrub_bytes_per_second = 0;  // thalweg.log.scrub.bytes.per.second; 0: never

  std::optional<security::Authorizer::Options> authorizer;  // nothing: everyone may do everything

  TokenSettings tokens;
  SaslListeners sasl;                                 // as the broker starts
  std::int32_t login_max_bytes = 512 * 1024;          // sasl.server.max.receive.size
  std::int32_t failed_authentication_delay_ms = 100;  // connection.failed.authentication.delay.ms

  coordinator::GroupSettings group;
  std::int32_t group_slots = 50;                     // offsets.topic.num.partitions
  bool offsets_mirror = false;                       // thalweg.offsets.mirror.enable
  std::int32_t offsets_segment_bytes = 100 << 20;    // offsets.topic.segment.bytes
  std::int64_t offsets_check_interval_ms = 600'000;  // offsets.retention.check.interval.ms

  struct Telemetry {
    std::int32_t max_push_bytes = 1 << 20;      // telemetry.max.bytes
    std::vector<std::string> default_metrics;   // thalweg.telemetry.default.metrics
    std::int32_t interval_ms = 60'000;          // thalweg.telemetry.interval.ms
    std::int32_t max_series = 100'000;          // thalweg.telemetry.max.series
    std::optional<OtlpEndpoint> otlp_endpoint;  // thalweg.telemetry.otlp.endpoint
    bool topic = false;                         // thalweg.telemetry.topic.enable
  };
  Telemetry telemetry;

  // Reads them.
  //   errors   one line: what, where, what is allowed
  static base::Result<Settings, std::string> read(const config::Config& config);
};

}  // namespace thalweg::broker
