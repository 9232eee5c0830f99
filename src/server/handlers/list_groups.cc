// ListGroups (API 16): all groups, or those in some states (KIP-518) and of some types (KIP-848).
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "broker/broker.h"
#include "broker/gather.h"
#include "server/handlers/group_call.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::ListGroupsResponse;
using ListedGroup = ListGroupsResponse::ListedGroup;

// As Kafka reads the names of states and types.
std::string trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return std::string(text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1));
}

struct ListOnCore {
  Awaitable<std::vector<ListedGroup>> operator()(broker::Shard& shard,
                                                 std::vector<coordinator::GroupFilter> filters) const {
    return list(shard, std::move(filters));
  }
  static Awaitable<std::vector<ListedGroup>> list(broker::Shard& shard, std::vector<coordinator::GroupFilter> filters) {
    co_return shard.groups().coordinator().list(filters.front());
  }
};

}  // namespace

Awaitable<ListGroupsResponse> list_groups(RequestContext& context, protocol::ListGroupsRequest request) {
  coordinator::GroupFilter filter;
  for (const auto& state : request.states_filter) filter.states.push_back(trimmed(state));
  for (const auto& type : request.types_filter) filter.types.push_back(trimmed(type));
  broker::PerCore<coordinator::GroupFilter> cores(context.broker);
  for (int core = 0; core < context.broker.core_count(); ++core) cores.add(core, filter);
  ListGroupsResponse response;
  response.groups = co_await broker::gather<ListedGroup>(context.shard, std::move(cores), ListOnCore{});
  // Who may describe the cluster sees every group.
  if (!context.authorized(broker::AclOperation::describe, broker::ResourceType::cluster, broker::kClusterResource,
                          broker::Denial::quiet))
    std::erase_if(response.groups, [&context](const ListedGroup& group) {
      return !context.authorized(broker::AclOperation::describe, broker::ResourceType::group, group.group_id,
                                 broker::Denial::quiet);
    });
  co_return response;
}

}  // namespace thalweg::server::handlers
