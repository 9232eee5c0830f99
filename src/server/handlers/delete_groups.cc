// DeleteGroups (API 42): removes groups without members, with their offsets (KIP-229).
#include <set>
#include <string>
#include <utility>

#include "broker/broker.h"
#include "server/handlers/group_call.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

using protocol::DeleteGroupsResponse;
using protocol::ErrorCode;
using Result = DeleteGroupsResponse::DeletableGroupResult;

Awaitable<DeleteGroupsResponse> delete_groups(RequestContext& context, protocol::DeleteGroupsRequest request) {
  DeleteGroupsResponse response;
  std::set<std::string> seen;
  for (const auto& id : request.groups_names) {
    if (!seen.insert(id.str()).second) continue;
    Result result;
    result.error_code = check_group(context, broker::AclOperation::delete_, id);
    if (result.error_code == ErrorCode::none) {
      auto call = [group_id = id.str()](coordinator::GroupCoordinator& groups, coordinator::Time,
                                        coordinator::Reply<Result> reply, coordinator::Step& step) {
        groups.delete_group(group_id, std::move(reply), step);
      };
      result = co_await broker::ask_group<Result>(context, id.str(), std::move(call));
    }
    result.group_id = id;
    response.results.push_back(std::move(result));
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
