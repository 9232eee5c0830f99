#include "broker/offsets_mirror.h"

#include <optional>
#include <string>
#include <utility>

#include "base/log.h"
#include "broker/broker.h"
#include "broker/internal_topic.h"
#include "broker/produce.h"
#include "broker/shard.h"
#include "protocol/messages/group_metadata_key.h"
#include "protocol/messages/offset_commit_key.h"
#include "protocol/messages/offset_commit_value.h"
#include "protocol/record_batch_builder.h"
#include "protocol/wire.h"

namespace thalweg::broker {

namespace {

// What tools of every release read.
constexpr std::int16_t kOffsetValueVersion = 3;
constexpr std::int16_t kOffsetValueWithExpiry = 1;
// Any that knows record batches.
constexpr std::int16_t kProduceVersion = 9;

// A key begins with its type, a value with its version.
template <class Message>
base::Bytes encoded(std::int16_t first, const Message& message, int version) {
  protocol::Writer writer(64);
  writer.fixed(first);
  message.encode(writer, version);
  return std::move(writer).finish().flatten();
}

base::Bytes offset_key(std::string_view group_id, std::string_view topic, std::int32_t partition) {
  protocol::OffsetCommitKey key;
  key.group = group_id;
  key.topic = topic;
  key.partition = partition;
  return encoded(protocol::OffsetCommitKey::kRecordType, key, 0);
}

base::Bytes group_key(std::string_view group_id) {
  protocol::GroupMetadataKey key;
  key.group = group_id;
  return encoded(protocol::GroupMetadataKey::kRecordType, key, 0);
}

base::Bytes batch_of(const std::vector<MirrorRecord>& records, std::int64_t now_ms) {
  protocol::RecordBatchBuilder builder(protocol::BatchOptions{});
  for (const MirrorRecord& record : records) {
    const protocol::RecordInput input{
        .timestamp = now_ms,
        .key = record.key.span(),
        .value = record.tombstone ? std::nullopt : std::optional(record.value.span()),
        .headers = {},
    };
    builder.append(input);
  }
  return builder.build();
}

}  // namespace

MirrorRecord mirror_record(const records::OffsetCommitted& record) {
  protocol::OffsetCommitValue value;
  value.offset = record.offset;
  value.leader_epoch = record.leader_epoch;
  value.metadata = record.metadata;
  value.commit_timestamp = record.commit_ms;
  value.expire_timestamp = record.expire_ms;
  const std::int16_t version = record.expire_ms < 0 ? kOffsetValueVersion : kOffsetValueWithExpiry;
  return {.key = offset_key(record.group_id, record.topic, record.partition),
          .value = encoded(version, value, version)};
}

MirrorRecord mirror_tombstone(std::string_view group_id, std::string_view topic, std::int32_t partition) {
  return {.key = offset_key(group_id, topic, partition), .value = {}, .tombstone = true};
}

MirrorRecord mirror_record(const records::GroupChanged& record) {
  protocol::Writer writer(2 + record.state.size());
  writer.fixed(record.state_version);
  writer.raw(record.state);
  return {.key = group_key(record.group_id), .value = std::move(writer).finish().flatten()};
}

MirrorRecord mirror_tombstone(std::string_view group_id) {
  return {.key = group_key(group_id), .value = {}, .tombstone = true};
}

void mirror_tombstones(std::string_view group_id, const coordinator::GroupOffsets& offsets,
                       std::vector<MirrorRecord>& records) {
  for (const auto& [id, topic] : offsets.topics())
    for (const auto& [partition, offset] : topic.partitions)
      records.push_back(mirror_tombstone(group_id, topic.name, partition));
}

base::Result<bool, std::string> create_offsets_topic(Broker& broker) {
  return create_internal_topic(broker, kOffsetsTopic, broker.settings().group_slots,
                               {{"cleanup.policy", "compact"},
                                {"compression.type", "producer"},
                                {"segment.bytes", std::to_string(broker.settings().offsets_segment_bytes)}});
}

void write_to_mirror(Shard& shard, int slot, const std::vector<MirrorRecord>& records) {
  if (records.empty()) return;
  const metadata::Topic* const topic = shard.snapshot()->topic(kOffsetsTopic);
  if (topic == nullptr || topic->partition(slot) == nullptr) return;
  Broker& broker = shard.broker();
  Shard& owner = broker.shard(broker.owner_of(topic->name, slot));
  std::vector<ProduceItem> items;
  items.push_back({.key = {.topic_id = topic->id, .partition = slot}, .records = batch_of(records, shard.now_ms())});
  owner.core().post([&owner, items = std::move(items), slot]() mutable {
    produce(owner, std::move(items), {.acks = 0, .api_version = kProduceVersion},
            [slot](const std::vector<ProduceOutcome>& outcomes) {
              for (const ProduceOutcome& outcome : outcomes)
                if (outcome.error != protocol::ErrorCode::none)
                  LOG_WARN("group", "{}-{} was not written: {}", kOffsetsTopic, slot,
                           protocol::error_name(outcome.error));
            });
  });
}

}  // namespace thalweg::broker
