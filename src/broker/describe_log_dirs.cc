#include "broker/describe_log_dirs.h"

#include "broker/broker.h"
#include "broker/shard.h"

namespace thalweg::broker {

namespace {

void add_logs(Shard& shard, const metadata::Topic& topic, std::int32_t number, std::vector<LogInDirectory>& logs) {
  Broker& broker = shard.broker();
  LogInDirectory log{.directory = broker.directory_index(topic.partition(number)->directory),
                     .topic = topic.name.str(),
                     .partition = number};
  const PartitionKey key{.topic_id = topic.id, .partition = number};
  Partition* partition = shard.known_partition(key);
  if (partition != nullptr) {
    log.directory = partition->directory();
    if (partition->is_open()) log.size_bytes = partition->log().size_bytes();
  }
  if (log.directory == kNoDirectory || broker.log_directories()[log.directory]->offline) return;
  logs.push_back(std::move(log));
}

}  // namespace

std::vector<LogInDirectory> logs_in_directories(Shard& shard, const WantedLogs& wanted) {
  std::vector<LogInDirectory> logs;
  const std::shared_ptr<const metadata::Snapshot> snapshot = shard.snapshot();
  const auto is_here = [&](const std::string& topic, std::int32_t partition) {
    return shard.broker().owner_of(topic, partition) == shard.core().index();
  };
  if (wanted) {
    for (const auto& [name, number] : *wanted) {
      const metadata::Topic* topic = snapshot->topic(name);
      if (topic != nullptr && topic->partition(number) != nullptr && is_here(name, number))
        add_logs(shard, *topic, number, logs);
    }
    return logs;
  }
  for (const auto& [name, topic] : snapshot->topics())
    for (std::int32_t number = 0; number < topic->partitions.size(); ++number)
      if (is_here(topic->name.str(), number)) add_logs(shard, *topic, number, logs);
  return logs;
}

}  // namespace thalweg::broker
