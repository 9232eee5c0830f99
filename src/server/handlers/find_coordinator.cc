// FindCoordinator (API 10): which broker coordinates a group or a transactional id.
#include "broker/broker.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::ErrorCode;
using protocol::FindCoordinatorRequest;
using protocol::FindCoordinatorResponse;

// What a key names (FindCoordinatorRequest.CoordinatorType).
enum class KeyType : std::int8_t { group = 0, transaction = 1, share = 2 };

// From here on a request may ask for several keys (KIP-699).
constexpr int kManyKeys = 4;
constexpr int kShareKeys = 6;

ErrorCode check(const RequestContext& context, std::int8_t type, std::string_view key) {
  switch (static_cast<KeyType>(type)) {
    case KeyType::group:
      return context.authorized(broker::AclOperation::describe, broker::ResourceType::group, key)
                 ? ErrorCode::none
                 : ErrorCode::group_authorization_failed;
    case KeyType::transaction:
      if (!context.authorized(broker::AclOperation::describe, broker::ResourceType::transactional_id, key))
        return ErrorCode::transactional_id_authorization_failed;
      // Not "not available": a client would ask again for as long as it lives.
      return ErrorCode::unsupported_version;
    case KeyType::share:
      if (context.version < kShareKeys) return ErrorCode::invalid_request;
      return context.authorized(broker::AclOperation::cluster_action, broker::ResourceType::cluster,
                                broker::kClusterResource)
                 ? ErrorCode::unsupported_version
                 : ErrorCode::cluster_authorization_failed;
  }
  return ErrorCode::invalid_request;
}

FindCoordinatorResponse::Coordinator coordinator_of(const RequestContext& context, std::int8_t type,
                                                    std::string_view key) {
  FindCoordinatorResponse::Coordinator answer;
  answer.key = key;
  answer.node_id = protocol::kNoBroker;
  answer.port = -1;
  answer.error_code = check(context, type, key);
  // Of a share partition, and to who must not ask, Kafka says only the code.
  const bool is_bare = static_cast<KeyType>(type) == KeyType::share ||
                       answer.error_code == ErrorCode::group_authorization_failed ||
                       answer.error_code == ErrorCode::transactional_id_authorization_failed;
  if (answer.error_code != ErrorCode::none && !is_bare) answer.error_message = protocol::error_text(answer.error_code);
  const auto* endpoint = context.broker.advertised(context.connection.listener->name);
  if (answer.error_code == ErrorCode::none && endpoint == nullptr)
    answer.error_code = ErrorCode::coordinator_not_available;
  if (answer.error_code == ErrorCode::none) {
    answer.node_id = context.broker.node_id();
    answer.host = endpoint->host;
    answer.port = endpoint->port;
  }
  return answer;
}

}  // namespace

Awaitable<FindCoordinatorResponse> find_coordinator(RequestContext& context, FindCoordinatorRequest request) {
  FindCoordinatorResponse response;
  if (context.version >= kManyKeys) {
    for (const auto& key : request.coordinator_keys)
      response.coordinators.push_back(coordinator_of(context, request.key_type, key));
    co_return response;
  }
  const auto answer = coordinator_of(context, request.key_type, request.key);
  response.error_code = answer.error_code;
  response.error_message = protocol::error_text(answer.error_code);
  response.node_id = answer.node_id;
  response.host = answer.host;
  response.port = answer.port;
  co_return response;
}

}  // namespace thalweg::server::handlers
