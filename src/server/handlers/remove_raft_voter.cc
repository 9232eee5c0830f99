// RemoveRaftVoter (API 81): takes the vote on the metadata from a controller. The only one there is keeps it.
#include <fmt/format.h>

#include "broker/broker.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::Error;
using protocol::ErrorCode;
using protocol::RemoveRaftVoterRequest;
using protocol::RemoveRaftVoterResponse;

Error check(broker::Broker& broker, const RemoveRaftVoterRequest& request) {
  if (request.cluster_id && request.cluster_id->view() != broker.cluster_id())
    return {ErrorCode::inconsistent_cluster_id, fmt::format("This is cluster {}", broker.cluster_id())};
  if (request.voter_id < 0 || request.voter_directory_id.is_zero())
    return {ErrorCode::invalid_request, "A voter has an id of 0 or more and a directory"};
  if (request.voter_id != broker.settings().node_id ||
      request.voter_directory_id != broker.log_directories().front()->id)
    return {ErrorCode::voter_not_found, fmt::format("{} with this directory does not vote", request.voter_id)};
  return {ErrorCode::voter_not_found, fmt::format("{} is the only voter and stays one", request.voter_id)};
}

}  // namespace

Awaitable<RemoveRaftVoterResponse> remove_raft_voter(RequestContext& context,
                                                     protocol::RemoveRaftVoterRequest request) {
  RemoveRaftVoterResponse response;
  Error error;
  if (!context.authorized(broker::AclOperation::alter, broker::ResourceType::cluster, broker::kClusterResource)) {
    error = {ErrorCode::cluster_authorization_failed,
             std::string(protocol::error_text(ErrorCode::cluster_authorization_failed))};
  } else {
    error = check(context.broker, request);
  }
  response.error_code = error.code;
  response.error_message = error.detail;
  co_return response;
}

}  // namespace thalweg::server::handlers
