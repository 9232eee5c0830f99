// What the config handlers share: the kinds of resources, and the layers that a value can come from.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "broker/broker.h"
#include "broker/request_context.h"
#include "broker/shard.h"
#include "config/effective.h"

namespace thalweg::server::handlers {

// Kafka's numbers (ConfigResource.Type).
enum class ConfigResourceType : std::int8_t {
  unknown = 0,
  topic = 2,
  broker = 4,
  broker_logger = 8,
  client_metrics = 16,
  group = 32
};

// How a kind is stored; nothing for loggers, which have no stored configs, and for kinds that do not exist.
inline std::optional<records::ResourceType> stored_type(ConfigResourceType type) {
  switch (type) {
    case ConfigResourceType::topic:
      return records::ResourceType::topic;
    case ConfigResourceType::broker:
      return records::ResourceType::broker;
    case ConfigResourceType::client_metrics:
      return records::ResourceType::client_metrics;
    case ConfigResourceType::group:
      return records::ResourceType::group;
    default:
      return std::nullopt;
  }
}

// Whether the principal may do `operation` on the configs of a resource; none where it may.
inline protocol::ErrorCode check_access(const broker::RequestContext& context, ConfigResourceType type,
                                        std::string_view name, broker::AclOperation operation) {
  using protocol::ErrorCode;
  if (type == ConfigResourceType::topic)
    return context.authorized(operation, broker::ResourceType::topic, name) ? ErrorCode::none
                                                                            : ErrorCode::topic_authorization_failed;
  if (type == ConfigResourceType::group)
    return context.authorized(operation, broker::ResourceType::group, name) ? ErrorCode::none
                                                                            : ErrorCode::group_authorization_failed;
  return context.authorized(operation, broker::ResourceType::cluster, broker::kClusterResource)
             ? ErrorCode::none
             : ErrorCode::cluster_authorization_failed;
}

// The broker's own settings as of this core's metadata; keeps what config::BrokerLayers points to.
class Layers {
 public:
  explicit Layers(const broker::RequestContext& context)
      : file_(context.broker.file_config()),
        cluster_(broker::Broker::overrides_of(*context.shard.snapshot(), records::broker_default())),
        own_(broker::Broker::overrides_of(
            *context.shard.snapshot(),
            {.type = records::ResourceType::broker, .name = std::to_string(context.broker.settings().node_id)})) {}
  [[nodiscard]] config::BrokerLayers view() const { return {.file = file_, .cluster = cluster_, .broker = own_}; }

 private:
  const config::Config& file_;
  config::Overrides cluster_;
  config::Overrides own_;
};

}  // namespace thalweg::server::handlers
