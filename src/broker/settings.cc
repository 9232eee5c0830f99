#include "broker/settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "config/effective.h"

namespace thalweg::broker {

base::Result<Settings, std::string> Settings::read(const config::Config& config) {
  Settings s;
  s.node_id = config.get_int("node.id");
  s.rack = config.find_string("broker.rack");
  s.log_dirs = config::log_dirs(config);
  s.cores = config.get_int("thalweg.cores");
  if (s.cores == 0) s.cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  ASSIGN_OR_RETURN(s.listeners, config::parse_listeners(config));
  ASSIGN_OR_RETURN(s.console, config::parse_console_listeners(config));
  s.console_was_set = config.is_set("thalweg.console.listeners");

  s.flush_acks = config.get_string("log.flush.acks") == "all";
  s.num_partitions = config.get_int("num.partitions");
  s.default_replication_factor = static_cast<std::int16_t>(config.get_int("default.replication.factor"));
  s.auto_create_topics = config.get_bool("auto.create.topics.enable");
  s.delete_topics = config.get_bool("delete.topic.enable");
  s.unstable_api_versions = config.get_bool("unstable.api.versions.enable");
  s.fetch_max_bytes = config.get_int("fetch.max.bytes");
  s.max_request_partition_size_limit = config.get_int("max.request.partition.size.limit");
  s.fetch_session_slots = config.get_int("max.incremental.fetch.session.cache.slots");

  s.request_max_bytes = config.get_int("socket.request.max.bytes");
  s.max_bytes_in_flight = config.get_long("thalweg.max.bytes.in.flight");
  s.connections_max_idle_ms = config.get_long("connections.max.idle.ms");
  s.listen_backlog = config.get_int("socket.listen.backlog.size");
  s.send_buffer_bytes = config.get_int("socket.send.buffer.bytes");
  s.receive_buffer_bytes = config.get_int("socket.receive.buffer.bytes");

  s.checkpoint_interval_ms = config.get_int("log.flush.offset.checkpoint.interval.ms");
  s.retention_check_interval_ms = config.get_long("log.retention.check.interval.ms");
  s.producer_id_check_interval_ms = config.get_int("producer.id.expiration.check.interval.ms");
  s.initial_task_delay_ms = config.get_long("log.initial.task.delay.ms");
  s.cleaner_enabled = config.get_bool("log.cleaner.enable");

  s.verify_reads = config.get_bool("thalweg.log.read.verify");
  s.scrub_bytes_per_second = config.get_long("thalweg.log.scrub.bytes.per.second");

  if (!config.get_string("authorizer.class.name").empty()) {
    auto& authorizer = s.authorizer.emplace();
    auto super_users = security::Authorizer::parse_super_users(config.get_string("super.users"));
    if (!super_users)
      return std::unexpected(fmt::format("{}super.users: {}", config.where("super.users"), super_users.error()));
    authorizer.super_users = std::move(*super_users);
    authorizer.allow_if_no_acl = config.get_bool("allow.everyone.if.no.acl.found");
  }

  ASSIGN_OR_RETURN(s.sasl, read_sasl(config, s.listeners));
  s.tokens.secret_key = config.find_password("delegation.token.secret.key").value_or("");
  s.tokens.limits.max_lifetime_ms = config.get_long("delegation.token.max.lifetime.ms");
  s.tokens.limits.expiry_ms = config.get_long("delegation.token.expiry.time.ms");
  s.tokens.check_interval_ms = config.get_long("delegation.token.expiry.check.interval.ms");
  s.login_max_bytes = config.get_int("sasl.server.max.receive.size");
  s.failed_authentication_delay_ms = config.get_int("connection.failed.authentication.delay.ms");

  s.group.min_session_timeout_ms = config.get_int("group.min.session.timeout.ms");
  s.group.max_session_timeout_ms = config.get_int("group.max.session.timeout.ms");
  s.group.initial_rebalance_delay_ms = config.get_int("group.initial.rebalance.delay.ms");
  s.group.max_size = config.get_int("group.max.size");
  s.group.offset_metadata_max_bytes = config.get_int("offset.metadata.max.bytes");
  s.group.offsets_retention_ms = std::int64_t{config.get_int("offsets.retention.minutes")} * 60'000;
  s.group_slots = config.get_int("offsets.topic.num.partitions");
  s.offsets_mirror = config.get_bool("thalweg.offsets.mirror.enable");
  s.offsets_segment_bytes = config.get_int("offsets.topic.segment.bytes");
  s.offsets_check_interval_ms = config.get_long("offsets.retention.check.interval.ms");

  s.telemetry.max_push_bytes = config.get_int("telemetry.max.bytes");
  s.telemetry.default_metrics = config.get_list("thalweg.telemetry.default.metrics");
  s.telemetry.interval_ms = config.get_int("thalweg.telemetry.interval.ms");
  s.telemetry.max_series = config.get_int("thalweg.telemetry.max.series");
  s.telemetry.topic = config.get_bool("thalweg.telemetry.topic.enable");
  if (const std::string url = config.find_string("thalweg.telemetry.otlp.endpoint").value_or(""); !url.empty()) {
    constexpr std::string_view kKey = "thalweg.telemetry.otlp.endpoint";
    auto endpoint = OtlpEndpoint::parse(url);
    if (!endpoint) return std::unexpected(fmt::format("{}{}={}: {}", config.where(kKey), kKey, url, endpoint.error()));
    s.telemetry.otlp_endpoint = std::move(*endpoint);
  }
  return s;
}

}  // namespace thalweg::broker
