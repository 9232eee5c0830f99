#include "cli/rebuild_store.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "base/clock.h"
#include "metadata/offline_store.h"

namespace thalweg::cli {

namespace {

// As many ids as a broker takes at once: whatever was given out of the last block is behind it.
constexpr std::int64_t kProducerIdBlock = 1000;

struct FoundTopic {
  base::Uuid id;
  std::map<std::int32_t, const FoundPartition*> partitions;
};

using Topics = std::map<std::string, FoundTopic>;

Topics gather(const std::vector<FoundPartition>& partitions, std::vector<std::string>& left_out) {
  Topics topics;
  for (const FoundPartition& found : partitions) {
    FoundTopic& topic = topics.try_emplace(found.partition.topic, FoundTopic{.id = found.topic_id}).first->second;
    if (topic.id != found.topic_id) {
      left_out.push_back(fmt::format("{} is of topic id {}, the topic's other partitions are of {}",
                                     storage::folder_name(found.partition), found.topic_id.str(), topic.id.str()));
      continue;
    }
    topic.partitions.emplace(found.partition.partition, &found);
  }
  return topics;
}

metadata::ChangeSet changes_for(const std::string& name, const FoundTopic& topic, const RebuildOptions& options,
                                const base::Uuid& any_directory, std::int64_t now_ms) {
  const protocol::BrokerId node(options.node_id);
  records::TopicCreated created{.name = name, .topic_id = topic.id, .created_ms = now_ms};
  for (std::int32_t i = 0; i <= topic.partitions.rbegin()->first; ++i) {
    const auto found = topic.partitions.find(i);
    created.partitions.push_back(
        {.leader = node, .directory = found == topic.partitions.end() ? any_directory : found->second->directory});
  }
  metadata::ChangeSet changes;
  changes.records.emplace_back(std::move(created));
  for (const auto& [number, found] : topic.partitions) {
    // A batch of an epoch that is behind those before it would be cut off by the next recovery.
    if (found->latest_epoch < 0) continue;
    changes.records.emplace_back(records::PartitionChanged{.topic_id = topic.id,
                                                           .partition = number,
                                                           .leader = node,
                                                           .leader_epoch = found->latest_epoch + 1,
                                                           .directory = found->directory});
  }
  return changes;
}

}  // namespace

base::Result<Rebuilt, std::string> rebuild_store(const RebuildOptions& options) {
  Rebuilt rebuilt;
  const Topics topics = gather(options.partitions, rebuilt.left_out);
  auto store = metadata::OfflineStore::open(
      {.path = options.path, .node_id = protocol::BrokerId(options.node_id), .cluster_id = options.cluster_id});
  if (!store) return std::unexpected(store.error().message);
  const auto apply = [&](metadata::ChangeSet changes) -> base::Result<void, std::string> {
    if (auto committed = (*store)->commit(std::move(changes)); !committed)
      return std::unexpected(fmt::format("{}: {}", options.path, committed.error().message));
    return {};
  };
  const std::int64_t now_ms = base::SystemClock().wall_ms();
  for (const auto& [name, topic] : topics) {
    TRY(apply(changes_for(name, topic, options, options.partitions.front().directory, now_ms)));
    ++rebuilt.topics;
  }
  if (options.largest_producer_id >= 0) {
    metadata::ChangeSet ids;
    ids.records.emplace_back(
        records::ProducerIdBlockAllocated{.node_id = protocol::BrokerId(options.node_id),
                                          .next_producer_id = options.largest_producer_id + 1 + kProducerIdBlock});
    TRY(apply(std::move(ids)));
  }
  return rebuilt;
}

}  // namespace thalweg::cli
