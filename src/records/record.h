// The typed records of the metadata store: what a change set is made of, what followers are told, and what the tables
// are written from. A record says what became true; the same records in the same order give the same state anywhere.
//
// Text is std::string on purpose, not the String of messages: a record outlives the request whose frame a String may
// alias, so by its type it owns what it says. Opaque bytes are Bytes; copy() those that would pin a big frame. Every
// field has a default, so that an initializer names only what differs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include "base/bytes.h"
#include "base/uuid.h"
#include "protocol/ids.h"
#include "records/acl.h"
#include "records/delegation_token.h"
#include "records/scram_credential.h"

namespace thalweg::records {

// The cluster got its id; once in the life of a store.
struct ClusterCreated {
  std::string cluster_id{};
  friend bool operator==(const ClusterCreated&, const ClusterCreated&) = default;
};

// Where clients reach a node by one of its listeners.
struct Endpoint {
  std::string listener{};  // its name, such as PLAINTEXT or INTERNAL
  std::string host{};
  std::uint16_t port = 0;
  std::int16_t security_protocol = 0;  // Kafka's numbers: 0 PLAINTEXT, 1 SSL, 2 SASL_PLAINTEXT, 3 SASL_SSL
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

// A node joined, or came back with other facts: everything but its count of unclean starts is replaced.
struct NodeRegistered {
  protocol::BrokerId node_id = protocol::kNoBroker;
  base::Uuid incarnation{};               // a new one each time the process starts
  std::vector<base::Uuid> directories{};  // ids of its log directories, in the order of log.dirs
  std::vector<Endpoint> endpoints{};
  std::optional<std::string> rack{};
  friend bool operator==(const NodeRegistered&, const NodeRegistered&) = default;
};

// A registered node started. After an unclean stop the leader epoch of every partition that it leads goes up by one,
// however many those are: the epochs are kept relative to the node's count of unclean starts, so this is one row.
struct NodeStarted {
  protocol::BrokerId node_id = protocol::kNoBroker;
  std::int64_t started_ms = 0;
  bool unclean = false;
  friend bool operator==(const NodeStarted&, const NodeStarted&) = default;
};

// Where one partition begins its life; its leader epoch is 0.
struct PartitionPlacement {
  protocol::BrokerId leader = protocol::kNoBroker;
  base::Uuid directory{};  // log directory of the leader; zero for a partition that has none (diskless)
  friend bool operator==(const PartitionPlacement&, const PartitionPlacement&) = default;
};

// A topic with partitions 0 .. partitions.size()-1. Its configs are ConfigSet records of the same change set.
struct TopicCreated {
  std::string name{};
  base::Uuid topic_id{};
  std::int64_t created_ms = 0;
  std::int16_t replication_factor = 1;  // as asked for
  std::vector<PartitionPlacement> partitions{};
  friend bool operator==(const TopicCreated&, const TopicCreated&) = default;
};

// More partitions, numbered on from those there are.
struct PartitionsAdded {
  base::Uuid topic_id{};
  std::vector<PartitionPlacement> partitions{};
  friend bool operator==(const PartitionsAdded&, const PartitionsAdded&) = default;
};

// The topic is gone, and with it its partitions, its configs and the offsets that any group committed for it.
struct TopicDeleted {
  base::Uuid topic_id{};
  friend bool operator==(const TopicDeleted&, const TopicDeleted&) = default;
};

// A partition has another leader, leader epoch or log directory; all three are given.
struct PartitionChanged {
  base::Uuid topic_id{};
  std::int32_t partition = 0;
  protocol::BrokerId leader = protocol::kNoBroker;
  std::int32_t leader_epoch = 0;
  base::Uuid directory{};
  friend bool operator==(const PartitionChanged&, const PartitionChanged&) = default;
};

// What a config belongs to. The numbers are Kafka's (ConfigResource.Type); they are stored and must not change.
enum class ResourceType : std::int8_t {
  topic = 2,
  broker = 4,  // the name is the node id, or empty for the default of all brokers
  client_metrics = 16,
  group = 32,
};

struct ConfigResource {
  ResourceType type = ResourceType::topic;
  std::string name{};
  friend bool operator==(const ConfigResource&, const ConfigResource&) = default;
  friend auto operator<=>(const ConfigResource&, const ConfigResource&) = default;
};

// The resource that holds the configs all brokers share unless they have their own.
inline ConfigResource broker_default() { return {.type = ResourceType::broker, .name = {}}; }

// The config was set, or changed.
struct ConfigSet {
  ConfigResource resource{};
  std::string key{};
  std::string value{};
  friend bool operator==(const ConfigSet&, const ConfigSet&) = default;
};

// The config is back at what it would be had it never been set; no error where it was not set.
struct ConfigRemoved {
  ConfigResource resource{};
  std::string key{};
  friend bool operator==(const ConfigRemoved&, const ConfigRemoved&) = default;
};

// A node took the producer ids below `next_producer_id` that nobody had taken before.
struct ProducerIdBlockAllocated {
  protocol::BrokerId node_id = protocol::kNoBroker;
  std::int64_t next_producer_id = 0;
  friend bool operator==(const ProducerIdBlockAllocated&, const ProducerIdBlockAllocated&) = default;
};

// `owner` holds the named lease (of a coordinator, say) at this epoch; every new ownership has a higher epoch. An
// owner of kNoBroker says that it was given back.
struct LeaseChanged {
  std::string name{};
  protocol::BrokerId owner = protocol::kNoBroker;
  std::int32_t epoch = 0;
  std::int64_t expires_ms = -1;  // -1: does not expire
  friend bool operator==(const LeaseChanged&, const LeaseChanged&) = default;
};

// A group committed an offset. One for a topic that is no longer there is dropped: the deletion wins.
struct OffsetCommitted {
  std::string group_id{};
  base::Uuid topic_id{};
  std::string topic{};
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  std::int32_t leader_epoch = -1;
  std::string metadata{};
  std::int64_t commit_ms = 0;
  std::int64_t expire_ms = -1;  // -1: kept by the rule of offsets.retention.minutes
  friend bool operator==(const OffsetCommitted&, const OffsetCommitted&) = default;
};

// The group has no offset for the partition; no error where it had none.
struct OffsetDeleted {
  std::string group_id{};
  base::Uuid topic_id{};
  std::int32_t partition = 0;
  friend bool operator==(const OffsetDeleted&, const OffsetDeleted&) = default;
};

// The kinds of group. The numbers are stored and must not change.
enum class GroupKind : std::int8_t { classic = 0, consumer = 1, share = 2, streams = 3 };

// The state of a group, whole; what the bytes mean is the coordinator's business.
struct GroupChanged {
  std::string group_id{};
  GroupKind kind = GroupKind::classic;
  std::int16_t state_version = 0;  // of the form of `state`
  base::Bytes state{};
  friend bool operator==(const GroupChanged&, const GroupChanged&) = default;
};

// The group is gone with all its offsets.
struct GroupDeleted {
  std::string group_id{};
  friend bool operator==(const GroupDeleted&, const GroupDeleted&) = default;
};

// The ACL is in force; no error where it was there already.
struct AclAdded {
  Acl acl{};
  friend bool operator==(const AclAdded&, const AclAdded&) = default;
};

// The ACL is no longer in force; no error where it was not there.
struct AclRemoved {
  Acl acl{};
  friend bool operator==(const AclRemoved&, const AclRemoved&) = default;
};

// The user has this credential for the mechanism, in place of any other.
struct ScramCredentialSet {
  ScramKey key{};
  ScramCredential credential{};
  friend bool operator==(const ScramCredentialSet&, const ScramCredentialSet&) = default;
};

// The user has no credential for the mechanism; no error where there was none.
struct ScramCredentialRemoved {
  ScramKey key{};
  friend bool operator==(const ScramCredentialRemoved&, const ScramCredentialRemoved&) = default;
};

// The delegation token was made.
struct DelegationTokenCreated {
  DelegationToken token{};
  friend bool operator==(const DelegationTokenCreated&, const DelegationTokenCreated&) = default;
};

// The delegation token has another end; no error where it is gone, which it then stays.
struct DelegationTokenRenewed {
  std::string token_id{};
  std::int64_t expires_ms = 0;
  friend bool operator==(const DelegationTokenRenewed&, const DelegationTokenRenewed&) = default;
};

// The delegation token is gone; no error where there was none.
struct DelegationTokenRemoved {
  std::string token_id{};
  friend bool operator==(const DelegationTokenRemoved&, const DelegationTokenRemoved&) = default;
};

using Record =
    std::variant<ClusterCreated, NodeRegistered, NodeStarted, TopicCreated, PartitionsAdded, TopicDeleted,
                 PartitionChanged, ConfigSet, ConfigRemoved, ProducerIdBlockAllocated, LeaseChanged, OffsetCommitted,
                 OffsetDeleted, GroupChanged, GroupDeleted, AclAdded, AclRemoved, ScramCredentialSet,
                 ScramCredentialRemoved, DelegationTokenCreated, DelegationTokenRenewed, DelegationTokenRemoved>;

// Whether records of this kind are about the inside of a group. Those belong to the coordinator that owns the group:
// they are in no snapshot and no follower is told of them.
template <class R>
inline constexpr bool kOfCoordinator = std::is_same_v<R, OffsetCommitted> || std::is_same_v<R, OffsetDeleted> ||
                                       std::is_same_v<R, GroupChanged> || std::is_same_v<R, GroupDeleted>;

inline bool of_coordinator(const Record& record) {
  return std::visit([]<class R>(const R&) { return kOfCoordinator<R>; }, record);
}

// Calls the one of several lambdas that fits the record: std::visit(Overloaded{...}, record).
template <class... Cases>
struct Overloaded : Cases... {
  using Cases::operator()...;
};

}  // namespace thalweg::records
