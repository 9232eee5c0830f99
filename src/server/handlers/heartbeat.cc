// Heartbeat (API 12): a member is alive, and hears whether its group rebalances (classic groups).
#include "server/handlers/group_call.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

using protocol::ErrorCode;
using protocol::HeartbeatRequest;
using protocol::HeartbeatResponse;

Awaitable<HeartbeatResponse> heartbeat(RequestContext& context, HeartbeatRequest request) {
  HeartbeatResponse response;
  response.error_code = check_group(context, broker::AclOperation::read, request.group_id);
  if (response.error_code == ErrorCode::none && request.group_id.empty())
    response.error_code = ErrorCode::invalid_group_id;
  if (response.error_code != ErrorCode::none) co_return response;
  const auto beat = [&request](coordinator::GroupCoordinator& groups, coordinator::Time now,
                               coordinator::Reply<HeartbeatResponse> reply, coordinator::Step& step) {
    HeartbeatResponse answer;
    answer.error_code = groups.heartbeat(request, now);
    step.answer(std::move(reply), std::move(answer));
  };
  response = co_await broker::ask_group<HeartbeatResponse>(context, request.group_id.str(), beat);
  // While the coordinator loads the group its members are not to be troubled; their sessions start anew with it.
  if (response.error_code == ErrorCode::coordinator_load_in_progress) response.error_code = ErrorCode::none;
  co_return response;
}

}  // namespace thalweg::server::handlers
