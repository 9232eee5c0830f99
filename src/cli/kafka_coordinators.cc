#include "cli/kafka_coordinators.h"

#include <optional>
#include <unordered_map>
#include <utility>

#include "cli/kafka_log.h"
#include "protocol/messages/consumer_group_metadata_key.h"
#include "protocol/messages/group_metadata_key.h"
#include "protocol/messages/group_metadata_value.h"
#include "protocol/messages/offset_commit_key.h"
#include "protocol/messages/offset_commit_value.h"
#include "protocol/messages/share_group_metadata_key.h"
#include "protocol/messages/streams_group_metadata_key.h"
#include "protocol/messages/transaction_log_key.h"
#include "protocol/messages/transaction_log_value.h"
#include "protocol/record_batch.h"
#include "protocol/wire.h"
#include "storage/control_record.h"

namespace thalweg::cli {

namespace {

// The state of a transaction that is decided, while its markers are being
// written.
constexpr std::int8_t kPrepareCommit = 2;

// Keys and values begin with their type or version.
struct Versioned {
  std::int16_t version = -1;
  base::Bytes fields;
};

std::optional<Versioned> versioned(std::span<const std::uint8_t> bytes) {
  const base::Bytes all = base::Bytes::copy_of(bytes);
  protocol::Reader reader(all);
  Versioned versioned{.version = reader.fixed<std::int16_t>(), .fields = all.slice(sizeof(std::int16_t))};
  if (!reader.ok()) return std::nullopt;
  return versioned;
}

template <class Message>
std::optional<Message> decoded(const Versioned& bytes, std::int16_t version) {
  if (version < Message::kLowestVersion || version > Message::kHighestVersion) return std::nullopt;
  Message message;
  protocol::Reader reader(bytes.fields);
  message.decode(reader, version);
  if (!reader.ok()) return std::nullopt;
  return message;
}

// The keys have one version, and their type in its place.
template <class Key>
std::optional<Key> decoded_key(const Versioned& bytes) {
  return decoded<Key>(bytes, Key::kLowestVersion);
}

// A record of __consumer_offsets, apart from what it is about: what it makes of
// the groups.
using Change = std::function<void(KafkaGroups&)>;

std::optional<Change> offset_change(const Versioned& key_bytes, const std::optional<Versioned>& value_bytes) {
  const auto key = decoded_key<protocol::OffsetCommitKey>(key_bytes);
  if (!key) return std::nullopt;
  KafkaOffsetKey where{.group = key->group.str(), .topic = key->topic.str(), .partition = key->partition};
  if (!value_bytes) return [where = std::move(where)](KafkaGroups& groups) { groups.offsets.erase(where); };
  const auto value = decoded<protocol::OffsetCommitValue>(*value_bytes, value_bytes->version);
  if (!value) return std::nullopt;
  KafkaOffset offset{.offset = value->offset,
                     .leader_epoch = value->leader_epoch,
                     .metadata = value->metadata.str(),
                     .commit_ms = value->commit_timestamp,
                     .expire_ms = value->expire_timestamp};
  return
      [where = std::move(where), offset = std::move(offset)](KafkaGroups& groups) { groups.offsets[where] = offset; };
}

std::optional<Change> classic_change(const Versioned& key_bytes, const std::optional<Versioned>& value_bytes) {
  const auto key = decoded_key<protocol::GroupMetadataKey>(key_bytes);
  if (!key) return std::nullopt;
  std::string id = key->group.str();
  if (!value_bytes) return [id = std::move(id)](KafkaGroups& groups) { groups.classic.erase(id); };
  if (!decoded<protocol::GroupMetadataValue>(*value_bytes, value_bytes->version)) return std::nullopt;
  records::GroupChanged group{.group_id = id,
                              .kind = records::GroupKind::classic,
                              .state_version = value_bytes->version,
                              .state = value_bytes->fields.copy()};
  return [id = std::move(id), group = std::move(group)](KafkaGroups& groups) { groups.classic[id] = group; };
}

template <class Key>
std::optional<Change> newer_change(const Versioned& key_bytes, const std::optional<Versioned>& value_bytes) {
  const auto key = decoded_key<Key>(key_bytes);
  if (!key) return std::nullopt;
  return [id = key->group_id.str(), there = value_bytes.has_value()](KafkaGroups& groups) {
    if (there) {
      groups.newer.insert(id);
    } else {
      groups.newer.erase(id);
    }
  };
}

// Nothing where the bytes make no sense.
std::optional<Change> change_of(const protocol::Record& record) {
  if (!record.key) return std::nullopt;
  const auto key = versioned(*record.key);
  if (!key) return std::nullopt;
  std::optional<Versioned> value;
  if (record.value) {
    value = versioned(*record.value);
    if (!value) return std::nullopt;
  }
  switch (key->version) {
    // Committed offsets had another value once, of the same key.
    case 0:
    case protocol::OffsetCommitKey::kRecordType:
      return offset_change(*key, value);
    case protocol::GroupMetadataKey::kRecordType:
      return classic_change(*key, value);
    case protocol::ConsumerGroupMetadataKey::kRecordType:
      return newer_change<protocol::ConsumerGroupMetadataKey>(*key, value);
    case protocol::ShareGroupMetadataKey::kRecordType:
      return newer_change<protocol::ShareGroupMetadataKey>(*key, value);
    case protocol::StreamsGroupMetadataKey::kRecordType:
      return newer_change<protocol::StreamsGroupMetadataKey>(*key, value);
    default:
      // Members and assignments of the newer groups.
      return [](KafkaGroups&) {};
  }
}

// One partition of __consumer_offsets.
class GroupsReplay {
 public:
  explicit GroupsReplay(KafkaGroups& groups) : groups_(groups) {}

  bool add(protocol::BatchView batch) {
    if (batch.is_control()) {
      end_transaction(batch.producer_id(), storage::read_end_transaction_marker(batch.bytes()));
      return true;
    }
    if (batch.record_count() == 0) return true;
    bool makes_sense = true;
    const auto walked = protocol::for_each_record(batch, decompressor_, [&](const protocol::Record& record) {
      auto change = change_of(record);
      makes_sense = makes_sense && change;
      if (!change) return;
      if (batch.is_transactional()) {
        pending_[batch.producer_id()].push_back(std::move(*change));
      } else {
        (*change)(groups_);
      }
    });
    return walked.has_value() && makes_sense;
  }
  // At the end of the log.
  void end(const KafkaCommitting& committing) {
    for (const auto& [producer_id, changes] : pending_)
      if (committing.contains(producer_id)) apply(changes);
  }

 private:
  void end_transaction(std::int64_t producer_id, const std::optional<storage::EndTransactionMarker>& marker) {
    if (!marker) return;
    const std::vector<Change> changes = std::exchange(pending_[producer_id], {});
    if (marker->commit) apply(changes);
  }
  void apply(const std::vector<Change>& changes) {
    for (const Change& change : changes) change(groups_);
  }

  KafkaGroups& groups_;
  protocol::Decompressor decompressor_;
  std::unordered_map<std::int64_t, std::vector<Change>> pending_;  // by producer id
};

// A transactional id with what its coordinator last said of it.
using Transactions = std::map<std::string, std::pair<std::int64_t, std::int8_t>>;

bool note_transaction(const protocol::Record& record, Transactions& transactions) {
  const auto key_bytes = record.key ? versioned(*record.key) : std::nullopt;
  if (!key_bytes || key_bytes->version != protocol::TransactionLogKey::kRecordType) return false;
  const auto key = decoded_key<protocol::TransactionLogKey>(*key_bytes);
  if (!key) return false;
  if (!record.value) {
    transactions.erase(key->transactional_id.str());
    return true;
  }
  const auto value_bytes = versioned(*record.value);
  if (!value_bytes) return false;
  const auto value = decoded<protocol::TransactionLogValue>(*value_bytes, value_bytes->version);
  if (!value) return false;
  transactions[key->transactional_id.str()] = {value->producer_id, value->transaction_status};
  return true;
}

}  // namespace

base::Result<KafkaCommitting, std::string> read_kafka_transactions(runtime::FileSystem& files,
                                                                   const std::vector<std::string>& folders) {
  Transactions transactions;
  protocol::Decompressor decompressor;
  for (const std::string& folder : folders)
    TRY(read_kafka_log(files, folder, [&](protocol::BatchView batch) {
      if (batch.is_control() || batch.record_count() == 0) return true;
      bool makes_sense = true;
      const auto walked = protocol::for_each_record(batch, decompressor, [&](const protocol::Record& record) {
        makes_sense = note_transaction(record, transactions) && makes_sense;
      });
      return walked.has_value() && makes_sense;
    }));
  KafkaCommitting committing;
  for (const auto& [id, transaction] : transactions)
    if (transaction.second == kPrepareCommit) committing.insert(transaction.first);
  return committing;
}

base::Result<KafkaGroups, std::string> read_kafka_groups(runtime::FileSystem& files,
                                                         const std::vector<std::string>& folders,
                                                         const KafkaCommitting& committing) {
  KafkaGroups groups;
  for (const std::string& folder : folders) {
    GroupsReplay replay(groups);
    TRY(read_kafka_log(files, folder, [&](protocol::BatchView batch) { return replay.add(batch); }));
    replay.end(committing);
  }
  return groups;
}

}  // namespace thalweg::cli
