// Metadata (API 3): brokers and topics; creates topics on demand.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "broker/broker.h"
#include "broker/shard.h"
#include "broker/topic_admin.h"
#include "server/handlers/handlers.h"
#include "server/handlers/topic_view.h"

namespace thalweg::server::handlers {

namespace {

using broker::AclOperation;
using broker::ResourceType;
using protocol::ErrorCode;
using protocol::MetadataRequest;
using protocol::MetadataResponse;

MetadataResponse::MetadataResponseTopic topic_answer(const RequestContext& context, const metadata::Topic& topic) {
  MetadataResponse::MetadataResponseTopic answer;
  answer.name = topic.name;
  answer.topic_id = topic.id;
  answer.is_internal = broker::is_internal_topic(topic.name);
  answer.partitions.reserve(static_cast<std::size_t>(topic.partitions.size()));
  for (std::int32_t i = 0; i < topic.partitions.size(); ++i) {
    const PartitionView view = view_partition(context, topic, i);
    MetadataResponse::MetadataResponsePartition& partition = answer.partitions.emplace_back();
    partition.error_code = view.error;
    partition.partition_index = i;
    partition.leader_id = view.leader;
    partition.leader_epoch = view.leader_epoch;
    partition.replica_nodes = view.replicas;
    partition.isr_nodes = view.isr;
    partition.offline_replicas = view.offline;
  }
  return answer;
}

MetadataResponse::MetadataResponseTopic topic_error(ErrorCode error, std::optional<protocol::TopicName> name,
                                                    const base::Uuid& id) {
  MetadataResponse::MetadataResponseTopic answer;
  answer.error_code = error;
  answer.is_internal = name && broker::is_internal_topic(*name);
  answer.name = std::move(name);
  answer.topic_id = id;
  return answer;
}

// The answer to a request that names a topic in no way its version knows.
MetadataResponse refuse_all(const MetadataRequest& request) {
  MetadataResponse response;
  response.controller_id = protocol::kNoBroker;
  response.error_code = ErrorCode::invalid_request;
  for (const auto& topic : *request.topics)
    response.topics.push_back(
        topic_error(ErrorCode::invalid_request, topic.name.value_or(protocol::TopicName()), topic.topic_id));
  return response;
}

// Before version 12 topics are named by their names only; from then on by the name or the id.
bool names_topics(const MetadataRequest& request, int version) {
  if (!request.topics) return true;
  return std::ranges::all_of(*request.topics, [version](const auto& topic) {
    return version < 12 ? topic.name && topic.topic_id.is_zero() : topic.name || !topic.topic_id.is_zero();
  });
}

bool may_be_created(const RequestContext& context, std::string_view name) {
  return context.authorized(AclOperation::create, ResourceType::cluster, broker::kClusterResource,
                            broker::Denial::quiet) ||
         context.authorized(AclOperation::create, ResourceType::topic, name);
}

Awaitable<MetadataResponse::MetadataResponseTopic> named_topic(RequestContext& context, std::string name,
                                                               bool may_create) {
  if (!context.authorized(AclOperation::describe, ResourceType::topic, name)) {
    auto refused = topic_error(ErrorCode::topic_authorization_failed, name, {});
    refused.is_internal = false;
    co_return refused;
  }
  if (const metadata::Topic* topic = context.shard.snapshot()->topic(name)) co_return topic_answer(context, *topic);
  if (may_create && context.broker.settings().auto_create_topics && !may_be_created(context, name))
    co_return topic_error(ErrorCode::topic_authorization_failed, name, {});
  if (broker::topic_name_fault(name)) co_return topic_error(ErrorCode::invalid_topic_exception, name, {});
  if (!may_create || !context.broker.settings().auto_create_topics || broker::is_internal_topic(name))
    co_return topic_error(ErrorCode::unknown_topic_or_partition, name, {});
  broker::NewTopic wanted;
  wanted.name = name;
  const auto created = co_await broker::create_topic(context, std::move(wanted), false);
  if (const metadata::Topic* topic = context.shard.snapshot()->topic(name)) co_return topic_answer(context, *topic);
  co_return topic_error(created ? ErrorCode::leader_not_available : created.error().code, name, {});
}

}  // namespace

Awaitable<MetadataResponse> metadata(RequestContext& context, MetadataRequest request) {
  if (!names_topics(request, context.version)) co_return refuse_all(request);
  MetadataResponse response;
  const std::shared_ptr<const metadata::Snapshot> snapshot = context.shard.snapshot();
  if (const auto* endpoint = context.broker.advertised(context.connection.listener->name)) {
    MetadataResponse::MetadataResponseBroker& broker = response.brokers.emplace_back();
    broker.node_id = context.broker.node_id();
    broker.host = endpoint->host;
    broker.port = endpoint->port;
    if (context.broker.settings().rack) broker.rack = *context.broker.settings().rack;
  }
  response.cluster_id = context.broker.cluster_id();
  response.controller_id = context.broker.node_id();

  // Version 0 has no null: there an empty list asks for all.
  const bool all = !request.topics || (context.version == 0 && request.topics->empty());
  if (all) {
    for (const auto& [name, topic] : snapshot->topics())
      if (context.authorized(AclOperation::describe, ResourceType::topic, name, broker::Denial::quiet))
        response.topics.push_back(topic_answer(context, *topic));
  } else {
    const bool by_id =
        std::ranges::any_of(*request.topics, [](const auto& topic) { return !topic.topic_id.is_zero(); });
    std::set<base::Uuid> ids;
    std::set<std::string> names;
    for (auto& wanted : *request.topics) {
      if (by_id) {
        // Where ids are given, names are not looked at.
        if (wanted.topic_id.is_zero() || !ids.insert(wanted.topic_id).second) continue;
        const metadata::Topic* topic = snapshot->topic(wanted.topic_id);
        if (topic == nullptr) {
          response.topics.push_back(topic_error(ErrorCode::unknown_topic_id, std::nullopt, wanted.topic_id));
        } else if (!context.authorized(AclOperation::describe, ResourceType::topic, topic->name)) {
          response.topics.push_back(topic_error(ErrorCode::topic_authorization_failed, std::nullopt, wanted.topic_id));
        } else {
          response.topics.push_back(topic_answer(context, *topic));
        }
      } else if (names.insert(wanted.name->str()).second) {
        const bool may_create = context.version < 4 || request.allow_auto_topic_creation;
        auto answer = co_await named_topic(context, wanted.name->str(), may_create);
        response.topics.push_back(std::move(answer));
      }
    }
  }
  if (request.include_topic_authorized_operations)
    for (auto& topic : response.topics)
      if (topic.name && topic.error_code != ErrorCode::topic_authorization_failed)
        topic.topic_authorized_operations = context.authorized_operations(ResourceType::topic, *topic.name);
  if (request.include_cluster_authorized_operations)
    response.cluster_authorized_operations = cluster_operations(context);
  co_return response;
}

}  // namespace thalweg::server::handlers
