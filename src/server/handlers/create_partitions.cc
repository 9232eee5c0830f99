// CreatePartitions (API 37): one answer for each topic, never an empty list.
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "broker/broker.h"
#include "broker/topic_admin.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using broker::AclOperation;
using broker::ResourceType;
using protocol::CreatePartitionsResponse;
using protocol::ErrorCode;

CreatePartitionsResponse::CreatePartitionsTopicResult result_of(std::string_view name, ErrorCode error,
                                                                std::string message) {
  CreatePartitionsResponse::CreatePartitionsTopicResult result;
  result.name = protocol::TopicName(name);
  result.error_code = error;
  result.error_message.reset();
  if (!message.empty()) result.error_message = message;
  return result;
}

}  // namespace

Awaitable<CreatePartitionsResponse> create_partitions(RequestContext& context,
                                                      protocol::CreatePartitionsRequest request) {
  CreatePartitionsResponse response;
  std::map<std::string_view, int> times;
  for (const auto& topic : request.topics) ++times[topic.name.view()];
  for (const auto& [name, count] : times)
    if (count > 1)
      response.results.push_back(result_of(name, ErrorCode::invalid_request, "A topic can be named only once"));
  for (const auto& topic : request.topics) {
    if (times[topic.name.view()] > 1) continue;
    if (!context.authorized(AclOperation::alter, ResourceType::topic, topic.name)) {
      response.results.push_back(result_of(topic.name, ErrorCode::topic_authorization_failed, {}));
      continue;
    }
    std::optional<std::vector<broker::ManualAssignment>> assignments;
    if (topic.assignments) {
      assignments.emplace();
      for (const auto& assignment : *topic.assignments) {
        broker::ManualAssignment& manual = assignments->emplace_back();
        for (const protocol::BrokerId id : assignment.broker_ids) manual.brokers.push_back(id.value());
      }
    }
    auto added = co_await broker::add_partitions(context, topic.name.str(), topic.count, std::move(assignments),
                                                 request.validate_only);
    response.results.push_back(added ? result_of(topic.name, ErrorCode::none, {})
                                     : result_of(topic.name, added.error().code, std::move(added.error().detail)));
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
