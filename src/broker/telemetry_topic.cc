#include "broker/telemetry_topic.h"

#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/log.h"
#include "broker/broker.h"
#include "broker/internal_topic.h"
#include "broker/produce.h"
#include "broker/shard.h"
#include "protocol/record_batch_builder.h"

namespace thalweg::broker {

namespace {

// Any that knows record batches.
constexpr std::int16_t kProduceVersion = 9;
// What a record takes beside the payload of a push, and what is added to that to say whose it is.
constexpr std::int64_t kRoomBeside = 256 * 1024;

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

base::Bytes batch_of(std::string_view key, std::string_view value, std::int64_t now_ms) {
  protocol::RecordBatchBuilder builder(protocol::BatchOptions{});
  builder.append(
      protocol::RecordInput{.timestamp = now_ms, .key = bytes_of(key), .value = bytes_of(value), .headers = {}});
  return builder.build();
}

base::LogLimiter& failure_limiter() {
  thread_local base::LogLimiter limiter(10'000);
  return limiter;
}

}  // namespace

base::Result<void, std::string> create_telemetry_topic(Broker& broker) {
  const std::int64_t largest = broker.settings().telemetry.max_push_bytes + kRoomBeside;
  TRY(create_internal_topic(broker, kTelemetryTopic, broker.settings().num_partitions,
                            {{"max.message.bytes", std::to_string(largest)}}));
  return {};
}

void write_to_telemetry_topic(Shard& shard, const base::Uuid& instance_id, std::string metrics) {
  const metadata::Topic* const topic = shard.snapshot()->topic(kTelemetryTopic);
  if (topic == nullptr) return shard.telemetry().counters().dropped.add();
  const auto count = static_cast<std::size_t>(topic->partitions.size());
  const auto partition = static_cast<std::int32_t>(std::hash<base::Uuid>{}(instance_id) % count);
  Shard& owner = shard.broker().shard(shard.broker().owner_of(topic->name, partition));
  std::vector<ProduceItem> items;
  items.push_back({.key = {.topic_id = topic->id, .partition = partition},
                   .records = batch_of(instance_id.str(), metrics, shard.now_ms())});
  owner.core().post([&owner, items = std::move(items)]() mutable {
    produce(owner, std::move(items), {.acks = 0, .api_version = kProduceVersion},
            [&owner](const std::vector<ProduceOutcome>& outcomes) {
              for (const ProduceOutcome& outcome : outcomes) {
                if (outcome.error == protocol::ErrorCode::none) continue;
                owner.telemetry().counters().dropped.add();
                if (std::uint64_t held_back = 0; failure_limiter().allow(owner.now_ms(), held_back))
                  LOG_WARN("telemetry", "{} takes no metrics: {} ({} times more before)", kTelemetryTopic,
                           protocol::error_name(outcome.error), held_back);
              }
            });
  });
}

}  // namespace thalweg::broker
