// LeaveGroup (API 13): members leave at once instead of being missed (classic groups; several at a time: KIP-345).
#include "server/handlers/group_call.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::ErrorCode;
using protocol::LeaveGroupRequest;
using protocol::LeaveGroupResponse;

// From here on a request names several members, each with an answer of its own.
constexpr int kManyMembers = 3;

}  // namespace

Awaitable<LeaveGroupResponse> leave_group(RequestContext& context, LeaveGroupRequest request) {
  LeaveGroupResponse response;
  response.error_code = check_group(context, broker::AclOperation::read, request.group_id);
  if (response.error_code == ErrorCode::none && request.group_id.empty())
    response.error_code = ErrorCode::invalid_group_id;
  if (response.error_code != ErrorCode::none) co_return response;
  if (context.version < kManyMembers) request.members.emplace_back().member_id = request.member_id;
  const auto leave = [&request](coordinator::GroupCoordinator& groups, coordinator::Time now,
                                coordinator::Reply<LeaveGroupResponse> reply, coordinator::Step& step) {
    groups.leave(request.group_id, request.members, now, std::move(reply), step);
  };
  response = co_await broker::ask_group<LeaveGroupResponse>(context, request.group_id.str(), leave);
  if (context.version < kManyMembers) {
    if (response.error_code == ErrorCode::none && !response.members.empty())
      response.error_code = response.members.front().error_code;
    response.members.clear();
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
