#include "metadata/snapshot.h"

#include <fmt/format.h>

#include <algorithm>

namespace thalweg::metadata {

using base::Result;

namespace {

std::unexpected<ApplyFault> fault(std::string what) { return std::unexpected(ApplyFault{.what = std::move(what)}); }

std::unexpected<ApplyFault> unknown_topic(const base::Uuid& id) {
  return fault(fmt::format("there is no topic with the id {}", id.str()));
}

}  // namespace

void Partitions::append(const std::vector<Partition>& more) {
  auto from = more.begin();
  while (from != more.end()) {
    const std::size_t used = static_cast<std::size_t>(size_) % kChunk;
    // Chunks may be shared with other snapshots: the last one, where it has room, is replaced by a longer one.
    auto chunk = std::make_shared<Chunk>();
    const auto count = std::min<std::size_t>(kChunk - used, static_cast<std::size_t>(more.end() - from));
    chunk->reserve(used + count);
    if (used != 0) {
      chunk->assign(chunks_.back()->begin(), chunks_.back()->end());
      chunks_.pop_back();
    }
    chunk->insert(chunk->end(), from, from + static_cast<std::ptrdiff_t>(count));
    chunks_.push_back(std::move(chunk));
    from += static_cast<std::ptrdiff_t>(count);
    size_ += static_cast<std::int32_t>(count);
  }
}

void Partitions::set(std::int32_t partition, const Partition& value) {
  const auto index = static_cast<std::size_t>(partition);
  auto chunk = std::make_shared<Chunk>(*chunks_[index / kChunk]);
  (*chunk)[index % kChunk] = value;
  chunks_[index / kChunk] = std::move(chunk);
}

bool operator==(const Partitions& a, const Partitions& b) {
  if (a.size_ != b.size_) return false;
  for (std::size_t i = 0; i < a.chunks_.size(); ++i)
    if (a.chunks_[i] != b.chunks_[i] && *a.chunks_[i] != *b.chunks_[i]) return false;
  return true;
}

const Configs& Snapshot::configs(const records::ConfigResource& resource) const {
  static const Configs kNone;
  const Configs* const found = get(configs_.find(resource));
  return found == nullptr ? kNone : *found;
}

const ConfigValue* Snapshot::config(const records::ConfigResource& resource, std::string_view key) const {
  const Configs& all = configs(resource);
  const auto found = all.find(key);
  return found == all.end() ? nullptr : &found->second;
}

Result<void, ApplyFault> Snapshot::apply(Revision revision, const records::Record& record) {
  revision_ = revision;
  return std::visit(
      [&]<class R>(const R& value) -> Result<void, ApplyFault> {
        if constexpr (records::kOfCoordinator<R>)
          return {};
        else
          return applied(revision, value);
      },
      record);
}

// The name index is keyed by a view of the name inside the topic that the same entry holds.
void Snapshot::put(std::shared_ptr<const Topic> topic) {
  topics_by_id_.set(topic->id, topic);
  topics_by_name_.set(topic->name.view(), topic);
}

void Snapshot::add_partitions(Topic& topic, const std::vector<records::PartitionPlacement>& placements) {
  std::vector<Partition> more;
  more.reserve(placements.size());
  for (const records::PartitionPlacement& placement : placements)
    more.push_back({.leader = placement.leader,
                    .epoch_base = -unclean_starts(placement.leader),  // so that the epoch is 0
                    .directory = placement.directory});
  topic.partitions.append(more);
  partition_count_ += static_cast<std::int64_t>(more.size());
}

Result<void, ApplyFault> Snapshot::applied(Revision /*revision*/, const records::ClusterCreated& record) {
  if (!cluster_id_.empty()) return fault(fmt::format("the cluster has the id {} already", cluster_id_));
  if (record.cluster_id.empty()) return fault("the cluster id is empty");
  cluster_id_ = record.cluster_id;
  return {};
}

Result<void, ApplyFault> Snapshot::applied(Revision revision, const records::NodeRegistered& record) {
  if (record.node_id.value() < 0) return fault(fmt::format("{} is no node id", record.node_id.value()));
  const Node* const before = node(record.node_id);
  auto after = before == nullptr ? std::make_shared<Node>() : std::make_shared<Node>(*before);
  after->registration = record;
  after->registered = revision;
  nodes_.set(record.node_id, std::move(after));
  return {};
}

Result<void, ApplyFault> Snapshot::applied(Revision /*revision*/, const records::NodeStarted& record) {
  const Node* const before = node(record.node_id);
  if (before == nullptr) return fault(fmt::format("node {} is not registered", record.node_id.value()));
  auto after = std::make_shared<Node>(*before);
  after->started_ms = record.started_ms;
  if (record.unclean) ++after->unclean_starts;
  nodes_.set(record.node_id, std::move(after));
  return {};
}

Result<void, ApplyFault> Snapshot::applied(Revision revision, const records::TopicCreated& record) {
  if (record.name.empty()) return fault("the topic has no name");
  if (record.topic_id.is_zero()) return fault(fmt::format("topic {} has no id", record.name));
  if (topic(std::string_view(record.name)) != nullptr) return fault(fmt::format("there is a topic {}", record.name));
  if (topic(record.topic_id) != nullptr)
    return fault(fmt::format("there is a topic with the id {}", record.topic_id.str()));
  auto created = std::make_shared<Topic>();
  created->name = record.name;
  created->id = record.topic_id;
  created->created_ms = record.created_ms;
  created->replication_factor = record.replication_factor;
  created->version = revision;
  add_partitions(*created, record.partitions);
  put(std::move(created));
  return {};
}

Result<void, ApplyFault> Snapshot::applied(Revision revision, const records::PartitionsAdded& record) {
  const Topic* const before = topic(record.topic_id);
  if (before == nullptr) return unknown_topic(record.topic_id);
  auto after = std::make_shared<Topic>(*before);
  after->version = revision;
  add_partitions(*after, record.partitions);
  put(std::move(after));
  return {};
}

Result<void, ApplyFault> Snapshot::applied(Revision /*revision*/, const records::TopicDeleted& record) {
  const auto* const found = topics_by_id_.find(record.topic_id);
  if (found == nullptr) return unknown_topic(record.topic_id);
  const std::shared_ptr<const Topic> gone = *found;  // its name is the key, until the last index lets go
  partition_count_ -= gone->partitions.size();
  topics_by_id_.erase(gone->id);
  topics_by_name_.erase(gone->name.view());
  configs_.erase(records::ConfigResource{.type = records::ResourceType::topic, .name = gone->name.str()});
  return {};
}

Result<void, ApplyFault> Snapshot::applied(Revision revision, const records::PartitionChanged& record) {
  const Topic* const before = topic(record.topic_id);
  if (before == nullptr) return unknown_topic(record.topic_id);
  const Partition* const partition = before->partition(record.partition);
  if (partition == nullptr)
    return fault(fmt::format("topic {} has no partition {}", before->name.view(), record.partition));
  if (record.leader_epoch < leader_epoch(*partition))
    return fault(fmt::format("the leader epoch of {}-{} would go back from {} to {}", before->name.view(),
                             record.partition, leader_epoch(*partition), record.leader_epoch));
  auto after = std::make_shared<Topic>(*before);
  after->version = revision;
  after->partitions.set(record.partition, {.leader = record.leader,
                                           .epoch_base = record.leader_epoch - unclean_starts(record.leader),
                                           .directory = record.directory});
  put(std::move(after));
  return {};
}

Result<void, ApplyFault> Snapshot::applied(Revision revision, const records::ConfigSet& record) {
  // A config that outlived its topic would be the next topic's of that name.
  if (record.resource.type == records::ResourceType::topic && topic(std::string_view(record.resource.name)) == nullptr)
    return fault(fmt::format("there is no topic {} to configure", record.resource.name));
  auto after = std::make_shared<Configs>(configs(record.resource));
  (*after)[record.key] = {.value = record.value, .version = revision};
  configs_.set(record.resource, std::move(after));
  return {};
}

Result<void, ApplyFault> Snapshot::applied(Revision /*revision*/, const records::ConfigRemoved& record) {
  if (config(record.resource, record.key) == nullptr) return {};
  auto after = std::make_shared<Configs>(configs(record.resource));
  after->erase(record.key);
  if (after->empty())
    configs_.erase(record.resource);
  else
    configs_.set(record.resource, std::move(after));
  return {};
}

Result<void, ApplyFault> Snapshot::applied(Revision /*revision*/, const records::ProducerIdBlockAllocated& record) {
  if (record.next_producer_id < next_producer_id_)
    return fault(fmt::format("the producer ids below {} are taken, {} is not above", next_producer_id_,
                             record.next_producer_id));
  next_producer_id_ = record.next_producer_id;
  return {};
}

Result<void, ApplyFault> Snapshot::applied(Revision /*revision*/, const records::LeaseChanged& record) {
  const Lease* const before = lease(record.name);
  const bool same_owner = before != nullptr && before->owner == record.owner;
  if (before != nullptr && (record.epoch < before->epoch ||
                            (record.epoch == before->epoch && !same_owner && record.owner != protocol::kNoBroker)))
    return fault(fmt::format("lease {} is at epoch {}, {} is not above", record.name, before->epoch, record.epoch));
  leases_.set(record.name, {.owner = record.owner, .epoch = record.epoch, .expires_ms = record.expires_ms});
  return {};
}

Result<void, ApplyFault> Snapshot::applied(Revision /*revision*/, const records::AclAdded& record) {
  if (acls_.find(&record.acl) == nullptr) restore_acl(record.acl);
  return {};
}

Result<void, ApplyFault> Snapshot::applied(Revision /*revision*/, const records::AclRemoved& record) {
  acls_.erase(&record.acl);
  return {};
}

Result<void, ApplyFault> Snapshot::applied(Revision /*revision*/, const records::ScramCredentialSet& record) {
  restore_scram_credential(record.key, record.credential);
  return {};
}

Result<void, ApplyFault> Snapshot::applied(Revision /*revision*/, const records::ScramCredentialRemoved& record) {
  scram_credentials_.erase(record.key);
  return {};
}

Result<void, ApplyFault> Snapshot::applied(Revision /*revision*/, const records::DelegationTokenCreated& record) {
  if (record.token.token_id.empty()) return fault("the delegation token has no id");
  restore_delegation_token(record.token);
  return {};
}

Result<void, ApplyFault> Snapshot::applied(Revision /*revision*/, const records::DelegationTokenRenewed& record) {
  const auto before = delegation_token(record.token_id);
  if (before == nullptr) return {};
  records::DelegationToken after = *before;
  after.expires_ms = record.expires_ms;
  restore_delegation_token(std::move(after));
  return {};
}

Result<void, ApplyFault> Snapshot::applied(Revision /*revision*/, const records::DelegationTokenRemoved& record) {
  delegation_tokens_.erase(record.token_id);
  return {};
}

void Snapshot::restore_topic(Topic topic) {
  partition_count_ += topic.partitions.size();
  put(std::make_shared<const Topic>(std::move(topic)));
}

void Snapshot::restore_node(Node node) {
  const protocol::BrokerId id = node.registration.node_id;
  nodes_.set(id, std::make_shared<const Node>(std::move(node)));
}

void Snapshot::restore_config(const records::ConfigResource& resource, std::string key, ConfigValue value) {
  auto after = std::make_shared<Configs>(configs(resource));
  (*after)[std::move(key)] = std::move(value);
  configs_.set(resource, std::move(after));
}

void Snapshot::restore_lease(std::string name, Lease lease) { leases_.set(std::move(name), lease); }

void Snapshot::restore_acl(records::Acl acl) {
  auto held = std::make_shared<const records::Acl>(std::move(acl));
  const records::Acl* const key = held.get();
  acls_.set(key, std::move(held));
}

void Snapshot::restore_scram_credential(records::ScramKey key, records::ScramCredential credential) {
  scram_credentials_.set(std::move(key), std::make_shared<const records::ScramCredential>(std::move(credential)));
}

void Snapshot::restore_delegation_token(records::DelegationToken token) {
  auto held = std::make_shared<const records::DelegationToken>(std::move(token));
  delegation_tokens_.set(held->token_id, held);
}

void Snapshot::restore_facts(std::string cluster_id, std::int64_t next_producer_id) {
  cluster_id_ = std::move(cluster_id);
  next_producer_id_ = next_producer_id;
}

}  // namespace thalweg::metadata
