// What the handlers of group APIs share: who calls, and whether a group id can be one.
#pragma once

#include <string>

#include "broker/group_service.h"
#include "broker/request_context.h"
#include "coordinator/classic_group.h"

namespace thalweg::server::handlers {

// Who calls, in values of its own, as a call goes to another core.
struct OwnedCaller {
  explicit OwnedCaller(const broker::RequestContext& context)
      : client_id(context.client_id), client_host("/" + context.connection.peer_host), version(context.version) {}
  [[nodiscard]] coordinator::Caller view() const {
    return {.client_id = client_id, .client_host = client_host, .version = version};
  }

  std::string client_id;
  std::string client_host;  // the way Java prints an address, which is what tools show
  int version;
};

// The error for a request that names a group, before any coordinator is asked; none where it may go on.
inline protocol::ErrorCode check_group(const broker::RequestContext& context, broker::AclOperation operation,
                                       std::string_view group_id) {
  if (!context.authorized(operation, broker::ResourceType::group, group_id))
    return protocol::ErrorCode::group_authorization_failed;
  return protocol::ErrorCode::none;
}

}  // namespace thalweg::server::handlers
