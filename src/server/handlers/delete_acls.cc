// DeleteAcls (API 31): removes what any of several filters means, and answers for each filter what that was.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "broker/acl_admin.h"
#include "broker/broker.h"
#include "broker/shard.h"
#include "server/handlers/acl_filters.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::DeleteAclsResponse;
using protocol::ErrorCode;

DeleteAclsResponse refuse_all(std::size_t filters, ErrorCode error) {
  DeleteAclsResponse response;
  response.filter_results.resize(filters);
  for (auto& result : response.filter_results) {
    result.error_code = error;
    result.error_message = protocol::error_text(error);
  }
  return response;
}

void add_match(DeleteAclsResponse::DeleteAclsFilterResult& result, const records::Acl& acl) {
  auto& match = result.matching_acls.emplace_back();
  match.error_message.reset();
  match.resource_type = static_cast<std::int8_t>(acl.resource_type);
  match.resource_name = acl.resource_name;
  match.pattern_type = static_cast<std::int8_t>(acl.pattern_type);
  match.principal = acl.principal;
  match.host = acl.host;
  match.operation = static_cast<std::int8_t>(acl.operation);
  match.permission_type = static_cast<std::int8_t>(acl.permission);
}

}  // namespace

Awaitable<AnswerOrClose<DeleteAclsResponse>> delete_acls(RequestContext& context, protocol::DeleteAclsRequest request) {
  std::vector<security::AclFilter> filters;
  for (const auto& filter : request.filters) filters.push_back(acl_filter_of(filter));
  if (std::ranges::any_of(filters, [](const security::AclFilter& filter) { return security::has_zero(filter); }))
    co_return close("a filter with an unknown part");
  if (!context.authorized(broker::AclOperation::alter, broker::ResourceType::cluster, broker::kClusterResource))
    co_return refuse_all(filters.size(), ErrorCode::cluster_authorization_failed);
  if (!context.broker.settings().authorizer) co_return refuse_all(filters.size(), ErrorCode::security_disabled);
  DeleteAclsResponse response;
  response.filter_results.resize(filters.size());
  std::vector<records::Record> changes;
  for (std::size_t i = 0; i < filters.size(); ++i) {
    auto& result = response.filter_results[i];
    result.error_message.reset();
    if (!security::is_known(filters[i])) {
      result.error_code = ErrorCode::invalid_request;
      result.error_message = "The filter has a number that means nothing";
      continue;
    }
    broker::for_each_acl(*context.shard.snapshot(), filters[i], [&](const std::shared_ptr<const records::Acl>& acl) {
      add_match(result, *acl);
      changes.emplace_back(records::AclRemoved{.acl = *acl});
    });
  }
  if (const auto done = co_await broker::change_acls(context, std::move(changes)); !done)
    co_return refuse_all(filters.size(), done.error().code);
  co_return response;
}

}  // namespace thalweg::server::handlers
