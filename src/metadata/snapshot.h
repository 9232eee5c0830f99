// Snapshot: the metadata as of one revision. Copying one is cheap, as copies share everything that does not differ; a
// change copies the path to what it changes. Published snapshots are const: any thread reads one without a lock for as
// long as it holds the pointer, and pointers and references into it live as long as it does.
//
// Offsets and the state of groups are not in here: they belong to the coordinators (Store::load_group_state).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/uuid.h"
#include "metadata/persistent_map.h"
#include "metadata/revision.h"
#include "protocol/ids.h"
#include "records/record.h"

namespace thalweg::metadata {

struct Partition {
  protocol::BrokerId leader = protocol::kNoBroker;
  // The leader epoch less the leader's count of unclean starts; ask Snapshot::leader_epoch for the epoch itself.
  std::int32_t epoch_base = 0;
  base::Uuid directory{};
  friend bool operator==(const Partition&, const Partition&) = default;
};

// The partitions of a topic. Held in chunks that copies share, so that a change of one among thousands is cheap.
class Partitions {
 public:
  [[nodiscard]] std::int32_t size() const { return size_; }
  // The partition must be one of 0 .. size()-1.
  const Partition& operator[](std::int32_t partition) const {
    const auto index = static_cast<std::size_t>(partition);
    return (*chunks_[index / kChunk])[index % kChunk];
  }
  // Adds partitions behind the last.
  void append(const std::vector<Partition>& more);
  // Replaces a partition that is there.
  void set(std::int32_t partition, const Partition& value);
  friend bool operator==(const Partitions& a, const Partitions& b);

 private:
  static constexpr std::size_t kChunk = 64;
  using Chunk = std::vector<Partition>;
  std::vector<std::shared_ptr<const Chunk>> chunks_;
  std::int32_t size_ = 0;
};

struct Topic {
  protocol::TopicName name;
  base::Uuid id;
  std::int64_t created_ms = 0;
  std::int16_t replication_factor = 1;
  Revision version;  // raised by whatever changes the topic or a partition of it, not by its configs
  Partitions partitions;

  // The partition, or null where the topic has none of that number.
  [[nodiscard]] const Partition* partition(std::int32_t number) const {
    return number >= 0 && number < partitions.size() ? &partitions[number] : nullptr;
  }
};

struct Node {
  records::NodeRegistered registration;
  Revision registered;  // the revision that registered it: Kafka's broker epoch
  std::int64_t started_ms = -1;
  std::int32_t unclean_starts = 0;
};

struct ConfigValue {
  std::string value;
  Revision version;
  friend bool operator==(const ConfigValue&, const ConfigValue&) = default;
};
// The configs set on one resource, by key.
using Configs = std::map<std::string, ConfigValue, std::less<>>;

struct Lease {
  protocol::BrokerId owner = protocol::kNoBroker;
  std::int32_t epoch = 0;
  std::int64_t expires_ms = -1;
  friend bool operator==(const Lease&, const Lease&) = default;
};

// Orders ACLs by what they say, wherever they stand.
struct AclLess {
  bool operator()(const records::Acl* a, const records::Acl* b) const { return *a < *b; }
};

// Why a record cannot be applied, for the log.
struct ApplyFault {
  std::string what;
};

class Snapshot {
 public:
  using TopicsByName = PersistentMap<std::string_view, std::shared_ptr<const Topic>>;
  using TopicsById = PersistentMap<base::Uuid, std::shared_ptr<const Topic>>;
  using Nodes = PersistentMap<protocol::BrokerId, std::shared_ptr<const Node>>;
  using ConfigsByResource = PersistentMap<records::ConfigResource, std::shared_ptr<const Configs>>;
  using Leases = PersistentMap<std::string, Lease>;
  // The keys point to what the values hold.
  using Acls = PersistentMap<const records::Acl*, std::shared_ptr<const records::Acl>, AclLess>;

  using ScramCredentials = PersistentMap<records::ScramKey, std::shared_ptr<const records::ScramCredential>>;
  using DelegationTokens = PersistentMap<std::string, std::shared_ptr<const records::DelegationToken>>;

  // The revision that this is the state of. Revisions that change nothing a snapshot holds are not published on their
  // own, so it may be behind the newest commit of an offset.
  [[nodiscard]] Revision revision() const { return revision_; }
  // 22 characters of URL-safe base64; empty only before the store's first change set.
  [[nodiscard]] const std::string& cluster_id() const { return cluster_id_; }
  // The first producer id that no node has taken.
  [[nodiscard]] std::int64_t next_producer_id() const { return next_producer_id_; }

  // The topic, or null where there is none of that name or id.
  [[nodiscard]] const Topic* topic(std::string_view name) const { return get(topics_by_name_.find(name)); }
  [[nodiscard]] const Topic* topic(const base::Uuid& id) const { return get(topics_by_id_.find(id)); }
  // All topics as {name, topic}, in the order of their names; lower_bound(name) starts further on.
  [[nodiscard]] const TopicsByName& topics() const { return topics_by_name_; }
  [[nodiscard]] std::size_t topic_count() const { return topics_by_name_.size(); }
  // The sum over all topics.
  [[nodiscard]] std::int64_t partition_count() const { return partition_count_; }
  // The leader epoch of a partition of this snapshot: what its last change set, plus the unclean starts of its leader
  // since.
  [[nodiscard]] std::int32_t leader_epoch(const Partition& partition) const {
    return partition.epoch_base + unclean_starts(partition.leader);
  }

  [[nodiscard]] const Node* node(protocol::BrokerId id) const { return get(nodes_.find(id)); }
  // All registered nodes as {id, node}, in the order of their ids.
  [[nodiscard]] const Nodes& nodes() const { return nodes_; }

  // What is set on the resource, by key; empty where nothing is.
  [[nodiscard]] const Configs& configs(const records::ConfigResource& resource) const;
  // One config, or null where it is not set on this resource.
  [[nodiscard]] const ConfigValue* config(const records::ConfigResource& resource, std::string_view key) const;
  // Every resource that has something set, ordered by type and name.
  [[nodiscard]] const ConfigsByResource& configured_resources() const { return configs_; }

  // The lease, or null where nobody ever held it.
  [[nodiscard]] const Lease* lease(const std::string& name) const { return leases_.find(name); }
  [[nodiscard]] const Leases& leases() const { return leases_; }

  // All ACLs, those on one resource pattern beside each other.
  [[nodiscard]] const Acls& acls() const { return acls_; }
  // The ACL as the snapshot holds it, or null where it is not in force.
  [[nodiscard]] std::shared_ptr<const records::Acl> acl(const records::Acl& acl) const {
    const auto* const found = acls_.find(&acl);
    return found == nullptr ? nullptr : *found;
  }

  // All SCRAM credentials, those of one user beside each other.
  [[nodiscard]] const ScramCredentials& scram_credentials() const { return scram_credentials_; }
  // The credential, or null where the user has none for the mechanism.
  [[nodiscard]] const records::ScramCredential* scram_credential(const records::ScramKey& key) const {
    return get(scram_credentials_.find(key));
  }

  // All delegation tokens by their ids.
  [[nodiscard]] const DelegationTokens& delegation_tokens() const { return delegation_tokens_; }
  // The token, or null where there is none of that id.
  [[nodiscard]] std::shared_ptr<const records::DelegationToken> delegation_token(const std::string& id) const {
    const auto* const found = delegation_tokens_.find(id);
    return found == nullptr ? nullptr : *found;
  }

  // Makes this the state after `record`, which revision `revision` commits. A record of a coordinator changes nothing.
  //   errors   the record contradicts what is there (a name taken, an unknown topic, an id that goes back): this copy
  //            is then of no more use
  base::Result<void, ApplyFault> apply(Revision revision, const records::Record& record);
  // Says that the snapshot is current as of `revision`, where the revision changed nothing in it.
  void advance_to(Revision revision) { revision_ = revision; }

  // Puts rows in as a store holds them, for loading.
  void restore_topic(Topic topic);
  void restore_node(Node node);
  void restore_config(const records::ConfigResource& resource, std::string key, ConfigValue value);
  void restore_lease(std::string name, Lease lease);
  void restore_acl(records::Acl acl);
  void restore_scram_credential(records::ScramKey key, records::ScramCredential credential);
  void restore_delegation_token(records::DelegationToken token);
  void restore_facts(std::string cluster_id, std::int64_t next_producer_id);

 private:
  template <class T>
  static const T* get(const std::shared_ptr<const T>* found) {
    return found == nullptr ? nullptr : found->get();
  }
  [[nodiscard]] std::int32_t unclean_starts(protocol::BrokerId id) const {
    const Node* const found = node(id);
    return found == nullptr ? 0 : found->unclean_starts;
  }
  void put(std::shared_ptr<const Topic> topic);
  void add_partitions(Topic& topic, const std::vector<records::PartitionPlacement>& placements);
  base::Result<void, ApplyFault> applied(Revision revision, const records::ClusterCreated& record);
  base::Result<void, ApplyFault> applied(Revision revision, const records::NodeRegistered& record);
  base::Result<void, ApplyFault> applied(Revision revision, const records::NodeStarted& record);
  base::Result<void, ApplyFault> applied(Revision revision, const records::TopicCreated& record);
  base::Result<void, ApplyFault> applied(Revision revision, const records::PartitionsAdded& record);
  base::Result<void, ApplyFault> applied(Revision revision, const records::TopicDeleted& record);
  base::Result<void, ApplyFault> applied(Revision revision, const records::PartitionChanged& record);
  base::Result<void, ApplyFault> applied(Revision revision, const records::ConfigSet& record);
  base::Result<void, ApplyFault> applied(Revision revision, const records::ConfigRemoved& record);
  base::Result<void, ApplyFault> applied(Revision revision, const records::ProducerIdBlockAllocated& record);
  base::Result<void, ApplyFault> applied(Revision revision, const records::LeaseChanged& record);
  base::Result<void, ApplyFault> applied(Revision revision, const records::AclAdded& record);
  base::Result<void, ApplyFault> applied(Revision revision, const records::AclRemoved& record);
  base::Result<void, ApplyFault> applied(Revision revision, const records::ScramCredentialSet& record);
  base::Result<void, ApplyFault> applied(Revision revision, const records::ScramCredentialRemoved& record);
  base::Result<void, ApplyFault> applied(Revision revision, const records::DelegationTokenCreated& record);
  base::Result<void, ApplyFault> applied(Revision revision, const records::DelegationTokenRenewed& record);
  base::Result<void, ApplyFault> applied(Revision revision, const records::DelegationTokenRemoved& record);

  Revision revision_;
  std::string cluster_id_;
  std::int64_t next_producer_id_ = 0;
  std::int64_t partition_count_ = 0;
  TopicsByName topics_by_name_;  // keys are the names inside the topics they lead to
  TopicsById topics_by_id_;
  Nodes nodes_;
  ConfigsByResource configs_;
  Leases leases_;
  Acls acls_;
  ScramCredentials scram_credentials_;
  DelegationTokens delegation_tokens_;
};

// The news between two snapshots as records, for followers of whom a reload hides the change sets themselves. They tell
// of everything that differs as it is in `after`; what came and went in between they do not tell.
std::vector<records::Record> difference(const Snapshot& before, const Snapshot& after);

}  // namespace thalweg::metadata
