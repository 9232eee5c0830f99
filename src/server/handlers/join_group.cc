// JoinGroup (API 11): a member joins its group's next generation (classic groups).
#include "server/handlers/group_call.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::ErrorCode;
using protocol::JoinGroupRequest;
using protocol::JoinGroupResponse;

// From here on "no protocol" is null; before, it is the empty string.
constexpr int kNullableProtocol = 7;

}  // namespace

Awaitable<JoinGroupResponse> join_group(RequestContext& context, JoinGroupRequest request) {
  JoinGroupResponse response;
  response.error_code = check_group(context, broker::AclOperation::read, request.group_id);
  if (response.error_code == ErrorCode::none && request.group_id.empty())
    response.error_code = ErrorCode::invalid_group_id;
  if (response.error_code != ErrorCode::none) {
    response.member_id = request.member_id;
    if (context.version >= kNullableProtocol) response.protocol_name.reset();
    co_return response;
  }
  const auto join = [&request, caller = OwnedCaller(context)](
                        coordinator::GroupCoordinator& groups, coordinator::Time now,
                        coordinator::Reply<JoinGroupResponse> reply,
                        coordinator::Step& step) { groups.join(request, caller.view(), now, std::move(reply), step); };
  response = co_await broker::ask_group<JoinGroupResponse>(context, request.group_id.str(), join);
  if (context.version < kNullableProtocol && !response.protocol_name) response.protocol_name = "";
  co_return response;
}

}  // namespace thalweg::server::handlers
