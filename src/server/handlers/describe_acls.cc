// DescribeAcls (API 29): the ACLs that a filter means, gathered by resource.
#include <memory>
#include <utility>

#include "broker/acl_admin.h"
#include "broker/broker.h"
#include "broker/shard.h"
#include "server/handlers/acl_filters.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::DescribeAclsResponse;
using protocol::ErrorCode;

DescribeAclsResponse refused(ErrorCode error) {
  DescribeAclsResponse response;
  response.error_code = error;
  response.error_message = protocol::error_text(error);
  return response;
}

}  // namespace

Awaitable<AnswerOrClose<DescribeAclsResponse>> describe_acls(RequestContext& context,
                                                             protocol::DescribeAclsRequest request) {
  const security::AclFilter filter = acl_filter_of(request);
  if (security::has_zero(filter)) co_return close("a filter with an unknown part");
  if (!context.authorized(broker::AclOperation::describe, broker::ResourceType::cluster, broker::kClusterResource))
    co_return refused(ErrorCode::cluster_authorization_failed);
  if (!context.broker.settings().authorizer) co_return refused(ErrorCode::security_disabled);
  DescribeAclsResponse response;
  response.error_message = "";  // as in Kafka
  const records::Acl* last = nullptr;
  broker::for_each_acl(*context.shard.snapshot(), filter, [&](const std::shared_ptr<const records::Acl>& acl) {
    // They come in the order of their resources.
    if (last == nullptr || last->resource_type != acl->resource_type || last->resource_name != acl->resource_name ||
        last->pattern_type != acl->pattern_type) {
      auto& resource = response.resources.emplace_back();
      resource.resource_type = static_cast<std::int8_t>(acl->resource_type);
      resource.resource_name = acl->resource_name;
      resource.pattern_type = static_cast<std::int8_t>(acl->pattern_type);
    }
    last = acl.get();
    auto& described = response.resources.back().acls.emplace_back();
    described.principal = acl->principal;
    described.host = acl->host;
    described.operation = static_cast<std::int8_t>(acl->operation);
    described.permission_type = static_cast<std::int8_t>(acl->permission);
  });
  co_return response;
}

}  // namespace thalweg::server::handlers
