#include "metadata/snapshot.h"

namespace thalweg::metadata {

namespace {

using records::Record;

void add_nodes(const Snapshot& before, const Snapshot& after, std::vector<Record>& out) {
  for (const auto& [id, node] : after.nodes()) {
    const Node* const old = before.node(id);
    if (old == node.get()) continue;
    if (old == nullptr || old->registration != node->registration) out.emplace_back(node->registration);
    const std::int32_t unclean = node->unclean_starts - (old == nullptr ? 0 : old->unclean_starts);
    for (std::int32_t i = 0; i < unclean; ++i)
      out.emplace_back(records::NodeStarted{.node_id = id, .started_ms = node->started_ms, .unclean = true});
    if (unclean == 0 && node->started_ms != (old == nullptr ? -1 : old->started_ms))
      out.emplace_back(records::NodeStarted{.node_id = id, .started_ms = node->started_ms, .unclean = false});
  }
}

std::vector<records::PartitionPlacement> placements(const Topic& topic, std::int32_t from) {
  std::vector<records::PartitionPlacement> result;
  for (std::int32_t i = from; i < topic.partitions.size(); ++i)
    result.push_back({.leader = topic.partitions[i].leader, .directory = topic.partitions[i].directory});
  return result;
}

// `count` partitions are in both; those added since begin with epoch 0.
void add_partition_changes(const Topic* old, const Topic& topic, const Snapshot& after, std::vector<Record>& out) {
  for (std::int32_t i = 0; i < topic.partitions.size(); ++i) {
    const Partition& partition = topic.partitions[i];
    const Partition* const known = old == nullptr ? nullptr : old->partition(i);
    if (known != nullptr ? *known == partition : after.leader_epoch(partition) == 0) continue;
    out.emplace_back(records::PartitionChanged{.topic_id = topic.id,
                                               .partition = i,
                                               .leader = partition.leader,
                                               .leader_epoch = after.leader_epoch(partition),
                                               .directory = partition.directory});
  }
}

void add_topics(const Snapshot& before, const Snapshot& after, std::vector<Record>& out) {
  for (const auto& [name, topic] : before.topics())
    if (after.topic(topic->id) == nullptr) out.emplace_back(records::TopicDeleted{.topic_id = topic->id});
  for (const auto& [name, topic] : after.topics()) {
    const Topic* const old = before.topic(topic->id);
    if (old == topic.get()) continue;
    if (old == nullptr) {
      out.emplace_back(records::TopicCreated{.name = topic->name.str(),
                                             .topic_id = topic->id,
                                             .created_ms = topic->created_ms,
                                             .replication_factor = topic->replication_factor,
                                             .partitions = placements(*topic, 0)});
    } else if (old->partitions.size() < topic->partitions.size()) {
      out.emplace_back(
          records::PartitionsAdded{.topic_id = topic->id, .partitions = placements(*topic, old->partitions.size())});
    }
    add_partition_changes(old, *topic, after, out);
  }
}

// The configs of a topic that was deleted, and perhaps made anew, went with it.
bool went_with_its_topic(const records::ConfigResource& resource, const Snapshot& before, const Snapshot& after) {
  if (resource.type != records::ResourceType::topic) return false;
  const Topic* const old = before.topic(std::string_view(resource.name));
  return old == nullptr || after.topic(old->id) == nullptr;
}

void add_configs(const Snapshot& before, const Snapshot& after, std::vector<Record>& out) {
  for (const auto& [resource, configs] : before.configured_resources()) {
    if (went_with_its_topic(resource, before, after)) continue;
    for (const auto& [key, value] : *configs)
      if (after.config(resource, key) == nullptr)
        out.emplace_back(records::ConfigRemoved{.resource = resource, .key = key});
  }
  for (const auto& [resource, configs] : after.configured_resources()) {
    const bool anew = went_with_its_topic(resource, before, after);
    for (const auto& [key, value] : *configs) {
      const ConfigValue* const old = anew ? nullptr : before.config(resource, key);
      if (old == nullptr || old->value != value.value)
        out.emplace_back(records::ConfigSet{.resource = resource, .key = key, .value = value.value});
    }
  }
}

void add_acls(const Snapshot& before, const Snapshot& after, std::vector<Record>& out) {
  for (const auto& [key, acl] : before.acls())
    if (after.acl(*acl) == nullptr) out.emplace_back(records::AclRemoved{.acl = *acl});
  for (const auto& [key, acl] : after.acls())
    if (before.acl(*acl) == nullptr) out.emplace_back(records::AclAdded{.acl = *acl});
}

void add_scram_credentials(const Snapshot& before, const Snapshot& after, std::vector<Record>& out) {
  for (const auto& [key, credential] : before.scram_credentials())
    if (after.scram_credential(key) == nullptr) out.emplace_back(records::ScramCredentialRemoved{.key = key});
  for (const auto& [key, credential] : after.scram_credentials()) {
    const records::ScramCredential* const old = before.scram_credential(key);
    if (old == nullptr || *old != *credential)
      out.emplace_back(records::ScramCredentialSet{.key = key, .credential = *credential});
  }
}

void add_delegation_tokens(const Snapshot& before, const Snapshot& after, std::vector<Record>& out) {
  for (const auto& [id, token] : before.delegation_tokens())
    if (after.delegation_token(id) == nullptr) out.emplace_back(records::DelegationTokenRemoved{.token_id = id});
  for (const auto& [id, token] : after.delegation_tokens()) {
    const auto old = before.delegation_token(id);
    if (old == nullptr || *old != *token) out.emplace_back(records::DelegationTokenCreated{.token = *token});
  }
}

}  // namespace

std::vector<Record> difference(const Snapshot& before, const Snapshot& after) {
  std::vector<Record> out;
  if (before.cluster_id() != after.cluster_id())
    out.emplace_back(records::ClusterCreated{.cluster_id = after.cluster_id()});
  add_nodes(before, after, out);
  add_topics(before, after, out);
  add_configs(before, after, out);
  if (before.next_producer_id() != after.next_producer_id())
    out.emplace_back(records::ProducerIdBlockAllocated{.node_id = protocol::kNoBroker,
                                                       .next_producer_id = after.next_producer_id()});
  for (const auto& [name, lease] : after.leases()) {
    const Lease* const old = before.lease(name);
    if (old == nullptr || *old != lease)
      out.emplace_back(records::LeaseChanged{
          .name = name, .owner = lease.owner, .epoch = lease.epoch, .expires_ms = lease.expires_ms});
  }
  add_acls(before, after, out);
  add_scram_credentials(before, after, out);
  add_delegation_tokens(before, after, out);
  return out;
}

}  // namespace thalweg::metadata
