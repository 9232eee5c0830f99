// AddRaftVoter (API 80): asks for another controller to vote on the metadata. The store of one broker takes none, so
// what a request of sound form comes to is what it would be with a controller that cannot be reached.
#include <fmt/format.h>

#include <algorithm>

#include "broker/broker.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::AddRaftVoterRequest;
using protocol::AddRaftVoterResponse;
using protocol::Error;
using protocol::ErrorCode;

constexpr std::string_view kControllerListener = "CONTROLLER";

// The listener by which controllers reach each other.
std::string controller_listener(const broker::Broker& broker) {
  const auto names = broker.file_config().find_list("controller.listener.names");
  return names && !names->empty() ? names->front() : std::string(kControllerListener);
}

Error check(const broker::Broker& broker, const AddRaftVoterRequest& request) {
  if (request.cluster_id && request.cluster_id->view() != broker.cluster_id())
    return {ErrorCode::inconsistent_cluster_id, fmt::format("This is cluster {}", broker.cluster_id())};
  if (request.voter_id < 0 || request.voter_directory_id.is_zero())
    return {ErrorCode::invalid_request, "A voter has an id of 0 or more and a directory"};
  const std::string listener = controller_listener(broker);
  if (std::ranges::none_of(request.listeners, [&](const auto& one) { return one.name == std::string_view(listener); }))
    return {ErrorCode::invalid_request, fmt::format("The voter's address for the listener {} is missing", listener)};
  if (request.voter_id == broker.settings().node_id)
    return {ErrorCode::duplicate_voter, fmt::format("{} votes already", request.voter_id)};
  return {};
}

}  // namespace

Awaitable<AddRaftVoterResponse> add_raft_voter(RequestContext& context, protocol::AddRaftVoterRequest request) {
  AddRaftVoterResponse response;
  response.error_message.reset();
  Error error;
  if (!context.authorized(broker::AclOperation::alter, broker::ResourceType::cluster, broker::kClusterResource)) {
    error = {ErrorCode::cluster_authorization_failed,
             std::string(protocol::error_text(ErrorCode::cluster_authorization_failed))};
  } else {
    error = check(context.broker, request);
  }
  if (error.code == ErrorCode::none) {
    error = {ErrorCode::request_timed_out, fmt::format("Controller {} did not answer", request.voter_id)};
  }
  response.error_code = error.code;
  response.error_message = error.detail;
  co_return response;
}

}  // namespace thalweg::server::handlers
