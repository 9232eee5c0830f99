#include "metadata/store_test_util.h"

#include <fmt/format.h>

#include "base/text.h"

namespace thalweg::metadata {

std::string text_of(const Snapshot& snapshot) {
  std::string out = fmt::format("cluster {}, next producer id {}, {} topics, {} partitions\n", snapshot.cluster_id(),
                                snapshot.next_producer_id(), snapshot.topic_count(), snapshot.partition_count());
  for (const auto& [id, node] : snapshot.nodes())
    out += fmt::format("node {} at {} incarnation {} directories {} endpoints {} rack {} started {} unclean {}\n",
                       id.value(), node->registered.value(), node->registration.incarnation.str(),
                       node->registration.directories.size(), node->registration.endpoints.size(),
                       node->registration.rack.value_or("-"), node->started_ms, node->unclean_starts);
  for (const auto& [name, topic] : snapshot.topics()) {
    out += fmt::format("topic {} {} created {} factor {} at {}:", name, topic->id.str(), topic->created_ms,
                       topic->replication_factor, topic->version.value());
    for (std::int32_t i = 0; i < topic->partitions.size(); ++i)
      out += fmt::format(" {}/{}/{}", topic->partitions[i].leader.value(), snapshot.leader_epoch(topic->partitions[i]),
                         topic->partitions[i].directory.str());
    out += fmt::format(" same by id {}\n", snapshot.topic(topic->id) == topic.get());
  }
  for (const auto& [resource, configs] : snapshot.configured_resources())
    for (const auto& [key, value] : *configs)
      out += fmt::format("config {} {} {}={} at {}\n", std::to_underlying(resource.type), resource.name, key,
                         value.value, value.version.value());
  for (const auto& [name, lease] : snapshot.leases())
    out +=
        fmt::format("lease {} owner {} epoch {} until {}\n", name, lease.owner.value(), lease.epoch, lease.expires_ms);
  for (const auto& [key, acl] : snapshot.acls())
    out += fmt::format("acl {} {} {} {} {} {} {}\n", std::to_underlying(acl->resource_type), acl->resource_name,
                       std::to_underlying(acl->pattern_type), acl->principal, acl->host,
                       std::to_underlying(acl->operation), std::to_underlying(acl->permission));
  const auto hex = [](const base::Bytes& bytes) { return base::hex_encode(bytes.span()); };
  for (const auto& [key, credential] : snapshot.scram_credentials())
    out += fmt::format("scram {} {} {} {} {} {}\n", key.user, std::to_underlying(key.mechanism), credential->iterations,
                       hex(credential->salt), hex(credential->stored_key), hex(credential->server_key));
  for (const auto& [id, token] : snapshot.delegation_tokens())
    out += fmt::format("token {} {} {} {} {} {} {} {}\n", id, token->owner, token->requester,
                       fmt::join(token->renewers, ","), token->issued_ms, token->expires_ms, token->max_ms,
                       token->key_check);
  return out;
}

}  // namespace thalweg::metadata
