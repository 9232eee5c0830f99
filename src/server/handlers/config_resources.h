// What the config handlers share: the kinds of resources, and the layers that a value can come from.
#pragma once

#include <cstdint>
#include <string>

#include "broker/broker.h"
#include "broker/request_context.h"
#include "broker/shard.h"
#include "config/effective.h"

namespace thalweg::server::handlers {

// Kafka's numbers (ConfigResource.Type).
enum class ConfigResourceType : std::int8_t { unknown = 0, topic = 2, broker = 4, broker_logger = 8, client_metrics = 16, group = 32 };

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
