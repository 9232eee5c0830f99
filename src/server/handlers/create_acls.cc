// CreateAcls (API 30): one answer for each ACL, in the order of the request.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "broker/acl_admin.h"
#include "broker/broker.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::CreateAclsResponse;
using protocol::ErrorCode;

records::Acl acl_of(const protocol::CreateAclsRequest::AclCreation& creation) {
  return {.resource_type = static_cast<records::AclResourceType>(creation.resource_type),
          .resource_name = creation.resource_name.str(),
          .pattern_type = static_cast<records::AclPatternType>(creation.resource_pattern_type),
          .principal = creation.principal.str(),
          .host = creation.host.str(),
          .operation = static_cast<records::AclOperation>(creation.operation),
          .permission = static_cast<records::AclPermission>(creation.permission_type)};
}

void set_error(CreateAclsResponse::AclCreationResult& result, ErrorCode code, std::string_view detail) {
  result.error_code = code;
  // Success has an empty text, as in Kafka.
  const bool is_plain = code == ErrorCode::none || !detail.empty();
  result.error_message = is_plain ? detail : protocol::error_text(code);
}

}  // namespace

Awaitable<AnswerOrClose<CreateAclsResponse>> create_acls(RequestContext& context, protocol::CreateAclsRequest request) {
  std::vector<records::Acl> acls;
  for (const auto& creation : request.creations) acls.push_back(acl_of(creation));
  if (std::ranges::any_of(acls, [](const records::Acl& acl) { return security::has_zero(acl); }))
    co_return close("an ACL with an unknown part");
  CreateAclsResponse response;
  response.results.resize(acls.size());
  ErrorCode refused = ErrorCode::none;
  if (!context.authorized(broker::AclOperation::alter, broker::ResourceType::cluster, broker::kClusterResource)) {
    refused = ErrorCode::cluster_authorization_failed;
  } else if (!context.broker.settings().authorizer) {
    refused = ErrorCode::security_disabled;
  }
  std::vector<records::Record> changes;
  std::vector<CreateAclsResponse::AclCreationResult*> asked;
  for (std::size_t i = 0; i < acls.size(); ++i) {
    set_error(response.results[i], refused, {});
    if (refused != ErrorCode::none) continue;
    if (const auto good = broker::check_new_acl(acls[i]); !good) {
      set_error(response.results[i], good.error().code, good.error().detail);
      continue;
    }
    changes.emplace_back(records::AclAdded{.acl = std::move(acls[i])});
    asked.push_back(&response.results[i]);
  }
  if (const auto done = co_await broker::change_acls(context, std::move(changes)); !done)
    for (auto* const result : asked) set_error(*result, done.error().code, {});
  co_return response;
}

}  // namespace thalweg::server::handlers
