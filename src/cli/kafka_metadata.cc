#include "cli/kafka_metadata.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/kafka_log.h"
#include "protocol/messages/abort_transaction_record.h"
#include "protocol/messages/access_control_entry_record.h"
#include "protocol/messages/begin_transaction_record.h"
#include "protocol/messages/client_quota_record.h"
#include "protocol/messages/config_record.h"
#include "protocol/messages/delegation_token_record.h"
#include "protocol/messages/end_transaction_record.h"
#include "protocol/messages/partition_change_record.h"
#include "protocol/messages/partition_record.h"
#include "protocol/messages/producer_ids_record.h"
#include "protocol/messages/remove_access_control_entry_record.h"
#include "protocol/messages/remove_delegation_token_record.h"
#include "protocol/messages/remove_topic_record.h"
#include "protocol/messages/remove_user_scram_credential_record.h"
#include "protocol/messages/topic_record.h"
#include "protocol/messages/user_scram_credential_record.h"
#include "protocol/record_batch.h"
#include "protocol/wire.h"
#include "storage/checkpoints.h"

namespace thalweg::cli {

namespace {

constexpr std::string_view kSnapshotSuffix = ".checkpoint";
// A change of a partition that leaves its leader as it is, and with it the
// epoch.
constexpr protocol::BrokerId kNoLeaderChange{-2};

// A record of the metadata log: a frame version, the record's kind and version,
// all as varints, then its fields.
struct MetadataRecord {
  std::uint32_t kind = 0;
  int version = 0;
  base::Bytes fields;
};

std::optional<MetadataRecord> parse_frame(const base::Bytes& value) {
  protocol::Reader reader(value);
  const std::uint32_t frame_version = reader.uvarint();
  MetadataRecord record;
  record.kind = reader.uvarint();
  record.version = static_cast<int>(reader.uvarint());
  if (!reader.ok() || frame_version > 1) return std::nullopt;
  record.fields = value.slice(reader.position());
  return record;
}

std::string name_of(const protocol::ClientQuotaRecord& quota) {
  std::string name;
  for (const auto& part : quota.entity)
    name += part.entity_type.str() + '=' + (part.entity_name ? part.entity_name->str() : "<default>") + ' ';
  return name + quota.key.str();
}

class Replay {
 public:
  explicit Replay(KafkaMetadata& metadata) : metadata_(metadata) {}

  // False where the record makes no sense.
  bool add(MetadataRecord record) {
    switch (static_cast<std::int16_t>(record.kind)) {
      case protocol::BeginTransactionRecord::kRecordType:
        in_transaction_ = true;
        pending_.clear();
        return true;
      case protocol::AbortTransactionRecord::kRecordType:
        in_transaction_ = false;
        pending_.clear();
        return true;
      case protocol::EndTransactionRecord::kRecordType: {
        in_transaction_ = false;
        const auto all = std::exchange(pending_, {});
        return std::ranges::all_of(all, [this](const MetadataRecord& each) { return apply(each); });
      }
      default:
        break;
    }
    if (!in_transaction_) return apply(record);
    pending_.push_back(std::move(record));
    return true;
  }

 private:
  template <class Message, class Then>
  static bool decode(const MetadataRecord& record, Then&& then) {
    if (record.version < Message::kLowestVersion || record.version > Message::kHighestVersion) return false;
    Message message;
    protocol::Reader reader(record.fields);
    message.decode(reader, record.version);
    if (!reader.ok()) return false;
    then(message);
    return true;
  }
  bool apply(const MetadataRecord& record);
  bool apply_security(const MetadataRecord& record);
  void remove_topic(const base::Uuid& id);

  KafkaMetadata& metadata_;
  bool in_transaction_ = false;
  std::vector<MetadataRecord> pending_;
};

void Replay::remove_topic(const base::Uuid& id) {
  const auto topic = metadata_.topics.find(id);
  if (topic == metadata_.topics.end()) return;
  const records::ConfigResource resource{.type = records::ResourceType::topic, .name = topic->second.name};
  std::erase_if(metadata_.configs, [&](const auto& config) { return config.first.first == resource; });
  metadata_.topics.erase(topic);
}

bool Replay::apply(const MetadataRecord& record) {
  switch (static_cast<std::int16_t>(record.kind)) {
    case protocol::TopicRecord::kRecordType:
      return decode<protocol::TopicRecord>(record,
                                           [this](const auto& r) { metadata_.topics[r.topic_id].name = r.name.str(); });
    case protocol::RemoveTopicRecord::kRecordType:
      return decode<protocol::RemoveTopicRecord>(record, [this](const auto& r) { remove_topic(r.topic_id); });
    case protocol::PartitionRecord::kRecordType:
      return decode<protocol::PartitionRecord>(
          record, [this](const auto& r) { metadata_.topics[r.topic_id].partitions[r.partition_id] = r.leader_epoch; });
    case protocol::PartitionChangeRecord::kRecordType:
      return decode<protocol::PartitionChangeRecord>(record, [this](const auto& r) {
        if (r.leader != kNoLeaderChange) ++metadata_.topics[r.topic_id].partitions[r.partition_id];
      });
    case protocol::ConfigRecord::kRecordType:
      return decode<protocol::ConfigRecord>(record, [this](const auto& r) {
        std::pair key{records::ConfigResource{.type = static_cast<records::ResourceType>(r.resource_type),
                                              .name = r.resource_name.str()},
                      r.name.str()};
        if (r.value) {
          metadata_.configs[std::move(key)] = r.value->str();
        } else {
          metadata_.configs.erase(key);
        }
      });
    case protocol::ProducerIdsRecord::kRecordType:
      return decode<protocol::ProducerIdsRecord>(
          record, [this](const auto& r) { metadata_.next_producer_id = r.next_producer_id; });
    case protocol::ClientQuotaRecord::kRecordType:
      return decode<protocol::ClientQuotaRecord>(record, [this](const auto& r) {
        if (r.remove) {
          metadata_.quotas.erase(name_of(r));
        } else {
          metadata_.quotas.insert(name_of(r));
        }
      });
    default:
      // Others are about the brokers and controllers of the cluster that it was.
      return apply_security(record);
  }
}

bool Replay::apply_security(const MetadataRecord& record) {
  switch (static_cast<std::int16_t>(record.kind)) {
    case protocol::AccessControlEntryRecord::kRecordType:
      return decode<protocol::AccessControlEntryRecord>(record, [this](const auto& r) {
        metadata_.acls[r.id] = {.resource_type = static_cast<records::AclResourceType>(r.resource_type),
                                .resource_name = r.resource_name.str(),
                                .pattern_type = static_cast<records::AclPatternType>(r.pattern_type),
                                .principal = r.principal.str(),
                                .host = r.host.str(),
                                .operation = static_cast<records::AclOperation>(r.operation),
                                .permission = static_cast<records::AclPermission>(r.permission_type)};
      });
    case protocol::RemoveAccessControlEntryRecord::kRecordType:
      return decode<protocol::RemoveAccessControlEntryRecord>(record,
                                                              [this](const auto& r) { metadata_.acls.erase(r.id); });
    case protocol::UserScramCredentialRecord::kRecordType:
      return decode<protocol::UserScramCredentialRecord>(record, [this](const auto& r) {
        metadata_.scram_credentials[{.user = r.name.str(),
                                     .mechanism = static_cast<records::ScramMechanism>(r.mechanism)}] = {
            .iterations = r.iterations,
            .salt = r.salt.copy(),
            .stored_key = r.stored_key.copy(),
            .server_key = r.server_key.copy()};
      });
    case protocol::RemoveUserScramCredentialRecord::kRecordType:
      return decode<protocol::RemoveUserScramCredentialRecord>(record, [this](const auto& r) {
        metadata_.scram_credentials.erase(
            {.user = r.name.str(), .mechanism = static_cast<records::ScramMechanism>(r.mechanism)});
      });
    case protocol::DelegationTokenRecord::kRecordType:
      return decode<protocol::DelegationTokenRecord>(record, [this](const auto& r) {
        records::DelegationToken token{.token_id = r.token_id.str(),
                                       .owner = r.owner.str(),
                                       .requester = r.requester.str(),
                                       .issued_ms = r.issue_timestamp,
                                       .expires_ms = r.expiration_timestamp,
                                       .max_ms = r.max_timestamp};
        for (const auto& renewer : r.renewers) token.renewers.push_back(renewer.str());
        std::string id = token.token_id;
        metadata_.tokens.insert_or_assign(std::move(id), std::move(token));
      });
    case protocol::RemoveDelegationTokenRecord::kRecordType:
      return decode<protocol::RemoveDelegationTokenRecord>(
          record, [this](const auto& r) { metadata_.tokens.erase(r.token_id.str()); });
    default:
      return true;
  }
}

// 00000000000000000042-0000000003.checkpoint: a snapshot of everything before
// offset 42, made in epoch 3.
std::optional<std::int64_t> snapshot_end(std::string_view name) {
  if (!name.ends_with(kSnapshotSuffix)) return std::nullopt;
  std::int64_t end = 0;
  const auto [rest, error] = std::from_chars(name.data(), name.data() + name.size(), end);
  if (error != std::errc{} || *rest != '-') return std::nullopt;
  return end;
}

}  // namespace

base::Result<KafkaMetadata, std::string> read_kafka_metadata(runtime::FileSystem& files, const std::string& folder) {
  const auto entries = files.list(folder);
  if (!entries) return std::unexpected(entries.error().message());
  std::string snapshot;
  std::int64_t from = 0;
  for (const runtime::DirectoryEntry& entry : *entries) {
    const auto end = snapshot_end(entry.name);
    if (!end || *end < from) continue;
    snapshot = entry.name;
    from = *end;
  }
  KafkaMetadata metadata;
  Replay replay(metadata);
  protocol::Decompressor decompressor;
  const auto read = [&](std::int64_t first_offset) {
    return [&, first_offset](protocol::BatchView batch) {
      if (batch.is_control()) return true;
      bool makes_sense = true;
      const auto walked = protocol::for_each_record(batch, decompressor, [&](const protocol::Record& record) {
        if (record.offset < first_offset || !record.value) return;
        auto parsed = parse_frame(base::Bytes::copy_of(*record.value));
        makes_sense = makes_sense && parsed && replay.add(std::move(*parsed));
      });
      return walked.has_value() && makes_sense;
    };
  };
  if (!snapshot.empty()) TRY(read_kafka_batches(files, storage::in_directory(folder, snapshot), read(0)));
  TRY(read_kafka_log(files, folder, read(from)));
  return metadata;
}

}  // namespace thalweg::cli
