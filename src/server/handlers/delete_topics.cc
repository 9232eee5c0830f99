// DeleteTopics (API 20): by name, and from version 6 by id.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/broker.h"
#include "broker/shard.h"
#include "broker/topic_admin.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using broker::AclOperation;
using broker::ResourceType;
using protocol::DeleteTopicsResponse;
using protocol::ErrorCode;
using Result = DeleteTopicsResponse::DeletableTopicResult;

struct Wanted {
  std::optional<std::string> name;
  base::Uuid id;
};

Result result_of(const Wanted& wanted, ErrorCode error, std::optional<std::string> message) {
  Result result;
  result.name.reset();
  if (wanted.name) result.name = protocol::TopicName(*wanted.name);
  result.topic_id = wanted.id;
  result.error_code = error;
  result.error_message.reset();
  if (message) result.error_message = *message;
  if (error != ErrorCode::none && !message) result.error_message = protocol::error_text(error);
  return result;
}

}  // namespace

Awaitable<DeleteTopicsResponse> delete_topics(RequestContext& context, protocol::DeleteTopicsRequest request) {
  DeleteTopicsResponse response;
  std::vector<Wanted> wanted;
  for (const auto& topic : request.topics)
    wanted.push_back({topic.name ? std::optional(topic.name->str()) : std::nullopt, topic.topic_id});
  for (const auto& name : request.topic_names) wanted.push_back({name.str(), {}});

  std::map<std::string, int> names;
  std::map<base::Uuid, int> ids;
  for (const Wanted& topic : wanted) {
    if (topic.name) ++names[*topic.name];
    if (!topic.id.is_zero()) ++ids[topic.id];
  }
  const bool anywhere =
      context.authorized(AclOperation::delete_, ResourceType::cluster, broker::kClusterResource, broker::Denial::quiet);
  std::set<std::string> told_names;
  std::set<base::Uuid> told_ids;
  for (Wanted& topic : wanted) {
    if (topic.name && !topic.id.is_zero()) {
      response.responses.push_back(
          result_of(topic, ErrorCode::invalid_request, "A topic is named by its name or its id, not both"));
      continue;
    }
    if (!topic.name && topic.id.is_zero()) {
      response.responses.push_back(result_of(topic, ErrorCode::invalid_request, "A topic needs a name or an id"));
      continue;
    }
    if (topic.name && names[*topic.name] > 1) {
      if (told_names.insert(*topic.name).second)
        response.responses.push_back(result_of(topic, ErrorCode::invalid_request, "A topic can be named only once"));
      continue;
    }
    if (!topic.name && ids[topic.id] > 1) {
      if (told_ids.insert(topic.id).second)
        response.responses.push_back(result_of(topic, ErrorCode::invalid_request, "A topic id can be given only once"));
      continue;
    }
    const auto may_delete = [&](std::string_view name) {
      return anywhere || context.authorized(AclOperation::delete_, ResourceType::topic, name);
    };
    const metadata::Snapshot& snapshot = *context.shard.snapshot();
    const metadata::Topic* found = topic.name ? snapshot.topic(*topic.name) : snapshot.topic(topic.id);
    if (found == nullptr) {
      // Of a name that the client must not use it does not hear whether it exists.
      const ErrorCode error = !topic.name                ? ErrorCode::unknown_topic_id
                              : !may_delete(*topic.name) ? ErrorCode::topic_authorization_failed
                                                         : ErrorCode::unknown_topic_or_partition;
      response.responses.push_back(result_of(topic, error, std::nullopt));
      continue;
    }
    const bool by_name = topic.name.has_value();
    topic.name = found->name.str();
    topic.id = found->id;
    if (by_name ? ids.contains(topic.id) : names.contains(*topic.name)) {
      // Told once, where the name stands.
      if (by_name)
        response.responses.push_back(
            result_of(topic, ErrorCode::invalid_request, "The topic was named by its id as well"));
      continue;
    }
    if (!may_delete(*topic.name)) {
      // Neither the id of a name nor the name of an id is told to who must not describe the topic.
      if (by_name) {
        topic.id = {};
      } else if (!context.authorized(AclOperation::describe, ResourceType::topic, *topic.name)) {
        topic.name.reset();
      }
      response.responses.push_back(result_of(topic, ErrorCode::topic_authorization_failed, std::nullopt));
      continue;
    }
    if (!context.broker.settings().delete_topics) {
      response.responses.push_back(result_of(
          topic, context.version < 3 ? ErrorCode::invalid_request : ErrorCode::topic_deletion_disabled, std::nullopt));
      continue;
    }
    const auto deleted = co_await broker::delete_topic(context, topic.id);
    response.responses.push_back(deleted ? result_of(topic, ErrorCode::none, std::nullopt)
                                         : result_of(topic, deleted.error().code, std::nullopt));
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
