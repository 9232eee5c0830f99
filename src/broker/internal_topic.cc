#include "broker/internal_topic.h"

#include <fmt/format.h>

#include "broker/broker.h"

namespace thalweg::broker {

base::Result<bool, std::string> create_internal_topic(Broker& broker, std::string_view name, int partitions,
                                                      const std::vector<std::pair<std::string, std::string>>& configs) {
  if (broker.store().opened_snapshot()->topic(name) != nullptr) return false;
  records::TopicCreated topic;
  topic.name = name;
  topic.topic_id = broker.random().next();
  topic.created_ms = broker.clock().wall_ms();
  const auto directories = broker.directories_for_new_partitions(*broker.store().opened_snapshot(), partitions);
  if (directories.empty())
    return std::unexpected(
        fmt::format("cordoned.log.dirs: no log directory takes the partitions of {}, which is to be made", name));
  for (const base::Uuid& directory : directories)
    topic.partitions.push_back({.leader = broker.node_id(), .directory = directory});
  metadata::ChangeSet changes;
  changes.preconditions.emplace_back(metadata::TopicNameFree{.name = topic.name});
  const records::ConfigResource resource{.type = records::ResourceType::topic, .name = topic.name};
  changes.records.emplace_back(std::move(topic));
  for (const auto& [key, value] : configs)
    changes.records.emplace_back(records::ConfigSet{.resource = resource, .key = key, .value = value});
  if (const metadata::CommitResult made = broker.commit_and_wait(std::move(changes)); !made)
    return std::unexpected("cannot write the metadata store: " + made.error().detail);
  return true;
}

}  // namespace thalweg::broker
