// DescribeGroups (API 15): state, members and assignments of classic groups.
#include <string>
#include <utility>

#include "broker/broker.h"
#include "server/handlers/group_call.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::DescribeGroupsResponse;
using protocol::ErrorCode;
using DescribedGroup = DescribeGroupsResponse::DescribedGroup;

// From here on a group that is not there is an error; before, it is dead (KIP-1043).
constexpr int kNotFoundIsAnError = 6;

DescribedGroup describe(const coordinator::GroupCoordinator& groups, const std::string& group_id, int version) {
  if (const auto* group = groups.find(group_id)) return group->classic.describe();
  DescribedGroup described;
  described.group_id = protocol::GroupId(group_id);
  described.group_state = "Dead";
  if (version >= kNotFoundIsAnError) {
    described.error_code = ErrorCode::group_id_not_found;
    described.error_message = "Group " + group_id + " not found.";
  }
  return described;
}

}  // namespace

Awaitable<DescribeGroupsResponse> describe_groups(RequestContext& context, protocol::DescribeGroupsRequest request) {
  DescribeGroupsResponse response;
  for (const auto& id : request.groups) {
    DescribedGroup described;
    described.error_code = check_group(context, broker::AclOperation::describe, id);
    if (described.error_code == ErrorCode::none) {
      auto call = [group_id = id.str(), version = context.version](
                      coordinator::GroupCoordinator& groups, coordinator::Time,
                      coordinator::Reply<DescribedGroup> reply,
                      coordinator::Step& step) { step.answer(std::move(reply), describe(groups, group_id, version)); };
      described = co_await broker::ask_group<DescribedGroup>(context, id.str(), std::move(call));
    }
    described.group_id = id;
    if (request.include_authorized_operations && described.error_code == ErrorCode::none)
      described.authorized_operations = context.authorized_operations(broker::ResourceType::group, id);
    response.groups.push_back(std::move(described));
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
