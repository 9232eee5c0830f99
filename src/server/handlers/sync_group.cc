// SyncGroup (API 14): the leader hands in the assignment of a generation, every member gets its own (classic groups).
#include "server/handlers/group_call.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::ErrorCode;
using protocol::SyncGroupRequest;
using protocol::SyncGroupResponse;

// From here on the protocol's type and name must be given (KIP-559).
constexpr int kProtocolNamed = 5;

}  // namespace

Awaitable<SyncGroupResponse> sync_group(RequestContext& context, SyncGroupRequest request) {
  SyncGroupResponse response;
  if (context.version >= kProtocolNamed && (!request.protocol_type || !request.protocol_name)) {
    response.error_code = ErrorCode::inconsistent_group_protocol;
    co_return response;
  }
  response.error_code = check_group(context, broker::AclOperation::read, request.group_id);
  if (response.error_code == ErrorCode::none && request.group_id.empty())
    response.error_code = ErrorCode::invalid_group_id;
  if (response.error_code != ErrorCode::none) co_return response;
  const auto sync = [&request](coordinator::GroupCoordinator& groups, coordinator::Time now,
                               coordinator::Reply<SyncGroupResponse> reply,
                               coordinator::Step& step) { groups.sync(request, now, std::move(reply), step); };
  response = co_await broker::ask_group<SyncGroupResponse>(context, request.group_id.str(), sync);
  co_return response;
}

}  // namespace thalweg::server::handlers
