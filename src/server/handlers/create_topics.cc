// CreateTopics (API 19).
#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "broker/broker.h"
#include "broker/shard.h"
#include "broker/topic_admin.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using broker::AclOperation;
using broker::ResourceType;
using protocol::CreateTopicsResponse;
using protocol::ErrorCode;
using Result = CreateTopicsResponse::CreatableTopicResult;

broker::NewTopic wanted_topic(const protocol::CreateTopicsRequest::CreatableTopic& topic) {
  broker::NewTopic wanted;
  wanted.name = topic.name.str();
  wanted.partitions = topic.num_partitions;
  wanted.replication_factor = topic.replication_factor;
  for (const auto& assignment : topic.assignments) {
    broker::ManualAssignment& manual = wanted.assignments.emplace_back();
    manual.partition = assignment.partition_index;
    for (const protocol::BrokerId id : assignment.broker_ids) manual.brokers.push_back(id.value());
  }
  for (const auto& config : topic.configs)
    wanted.configs.emplace_back(config.name.str(), config.value ? std::optional(config.value->str()) : std::nullopt);
  return wanted;
}

void add_configs(Result& result, const RequestContext& context, const config::Overrides& overrides) {
  const metadata::Snapshot& snapshot = *context.shard.snapshot();
  const config::Overrides cluster = broker::Broker::overrides_of(snapshot, records::broker_default());
  const config::Overrides own = broker::Broker::overrides_of(
      snapshot, {.type = records::ResourceType::broker, .name = std::to_string(context.broker.settings().node_id)});
  const config::BrokerLayers layers{.file = context.broker.file_config(), .cluster = cluster, .broker = own};
  auto& configs = result.configs.emplace();
  for (const config::Described& described : config::describe_created_topic(overrides, layers)) {
    auto& out = configs.emplace_back();
    out.name = described.name;
    out.value.reset();
    if (described.value) out.value = *described.value;
    out.read_only = described.read_only;
    out.config_source = static_cast<std::int8_t>(described.source);
    out.is_sensitive = described.sensitive;
  }
}

Result failed(std::string_view name, ErrorCode error, std::string message) {
  Result result;
  result.name = protocol::TopicName(name);
  result.error_code = error;
  result.error_message = std::move(message);
  if (result.error_message->empty()) result.error_message = protocol::error_text(error);
  result.configs.emplace();
  return result;
}

}  // namespace

Awaitable<CreateTopicsResponse> create_topics(RequestContext& context, protocol::CreateTopicsRequest request) {
  CreateTopicsResponse response;
  std::map<std::string_view, int> times;
  for (const auto& topic : request.topics) ++times[topic.name.view()];
  for (const auto& [name, count] : times)
    if (count > 1)
      response.topics.push_back(failed(name, ErrorCode::invalid_request, "A topic can be named only once"));
  const bool anywhere =
      context.authorized(AclOperation::create, ResourceType::cluster, broker::kClusterResource, broker::Denial::quiet);
  for (const auto& topic : request.topics) {
    if (times[topic.name.view()] > 1) continue;
    if (!anywhere && !context.authorized(AclOperation::create, ResourceType::topic, topic.name)) {
      response.topics.push_back(failed(topic.name, ErrorCode::topic_authorization_failed, {}));
      continue;
    }
    auto created = co_await broker::create_topic(context, wanted_topic(topic), request.validate_only);
    if (!created) {
      response.topics.push_back(failed(topic.name, created.error().code, std::move(created.error().detail)));
      continue;
    }
    Result& result = response.topics.emplace_back();
    result.name = topic.name;
    result.topic_id = created->topic_id;
    result.error_message.reset();
    if (!context.authorized(AclOperation::describe_configs, ResourceType::topic, topic.name, broker::Denial::quiet)) {
      result.topic_config_error_code = static_cast<std::int16_t>(ErrorCode::topic_authorization_failed);
      continue;
    }
    result.num_partitions = created->partitions;
    result.replication_factor = created->replication_factor;
    add_configs(result, context, created->configs);
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
