// DescribeLogDirs (API 35): the log directories with the space of their disks, and the logs in them.
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "broker/broker.h"
#include "broker/describe_log_dirs.h"
#include "broker/gather.h"
#include "runtime/core.h"
#include "runtime/volume.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using broker::LogInDirectory;
using broker::WantedLogs;
using protocol::DescribeLogDirsResponse;
using protocol::ErrorCode;

using Wanted = std::shared_ptr<const WantedLogs>;

struct Run {
  Awaitable<std::vector<LogInDirectory>> operator()(broker::Shard& shard, std::vector<Wanted> wanted) const {
    co_return broker::logs_in_directories(shard, *wanted.front());
  }
};

Wanted wanted_of(const protocol::DescribeLogDirsRequest& request) {
  auto wanted = std::make_shared<WantedLogs>();
  if (!request.topics) return wanted;
  wanted->emplace();
  for (const auto& topic : *request.topics)
    for (const std::int32_t partition : topic.partitions) (*wanted)->emplace(topic.topic.str(), partition);
  return wanted;
}

void add_topics(DescribeLogDirsResponse::DescribeLogDirsResult& result, std::vector<LogInDirectory*> logs) {
  std::map<std::string_view, std::vector<LogInDirectory*>> by_topic;
  for (LogInDirectory* log : logs) by_topic[log->topic].push_back(log);
  for (const auto& [name, of_topic] : by_topic) {
    auto& topic = result.topics.emplace_back();
    topic.name = protocol::TopicName(name);
    for (const LogInDirectory* log : of_topic) {
      auto& partition = topic.partitions.emplace_back();
      partition.partition_index = log->partition;
      partition.partition_size = log->size_bytes;
    }
  }
}

}  // namespace

Awaitable<DescribeLogDirsResponse> describe_log_dirs(RequestContext& context,
                                                     protocol::DescribeLogDirsRequest request) {
  DescribeLogDirsResponse response;
  if (!context.authorized(broker::AclOperation::describe, broker::ResourceType::cluster, broker::kClusterResource)) {
    response.error_code = ErrorCode::cluster_authorization_failed;
    co_return response;
  }
  broker::Broker& broker = context.broker;
  broker::PerCore<Wanted> everywhere(broker);
  const Wanted wanted = wanted_of(request);
  for (int core = 0; core < broker.core_count(); ++core) everywhere.add(core, wanted);
  auto logs = co_await broker::gather<LogInDirectory>(context.shard, std::move(everywhere), Run{});

  const auto& directories = broker.log_directories();
  std::vector<std::vector<LogInDirectory*>> by_directory(directories.size());
  for (LogInDirectory& log : logs) by_directory[log.directory].push_back(&log);
  const std::vector<bool> cordoned = broker.cordoned_directories(*context.shard.snapshot());
  for (std::size_t i = 0; i < directories.size(); ++i) {
    auto& result = response.results.emplace_back();
    result.log_dir = directories[i]->absolute_path;
    result.is_cordoned = cordoned[i];
    if (directories[i]->offline) {
      result.error_code = ErrorCode::kafka_storage_error;
      continue;
    }
    const auto space = co_await runtime::run_on(broker.disk_pool(),
                                                [path = directories[i]->path] { return runtime::volume_of(path); });
    if (space) {
      response.results[i].total_bytes = static_cast<std::int64_t>(space->total_bytes);
      response.results[i].usable_bytes = static_cast<std::int64_t>(space->usable_bytes);
    }
    add_topics(response.results[i], std::move(by_directory[i]));
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
