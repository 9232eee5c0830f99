#include "broker/acl_admin.h"

#include <fmt/format.h>

#include <utility>

#include "broker/commit.h"
#include "security/acl_text.h"
#include "security/host_pattern.h"

namespace thalweg::broker {

using protocol::ErrorCode;
using protocol::fail;
using protocol::Result;
using records::Acl;
using records::AclPatternType;
using records::AclPermission;
using runtime::Awaitable;

Result<void> check_new_acl(const Acl& acl) {
  const auto refuse = [](std::string why) { return fail(ErrorCode::invalid_request, std::move(why)); };
  if (!security::is_known(acl)) return refuse("The ACL has a number that means nothing");
  if (acl.resource_type == ResourceType::cluster && acl.resource_name != kClusterResource)
    return refuse(fmt::format("The cluster's only name is {}", kClusterResource));
  if (acl.resource_name.empty()) return refuse("The resource name must not be empty");
  if (acl.resource_type == ResourceType::any) return refuse("An ACL is for one type of resource, not for any");
  if (acl.pattern_type != AclPatternType::literal && acl.pattern_type != AclPatternType::prefixed)
    return refuse(fmt::format("An ACL's pattern is LITERAL or PREFIXED, not {}", security::name_of(acl.pattern_type)));
  if (acl.operation == AclOperation::any) return refuse("An ACL is for one operation or ALL, not for any");
  if (acl.permission != AclPermission::allow && acl.permission != AclPermission::deny)
    return refuse("An ACL allows or denies");
  if (!acl.principal.contains(':')) return refuse(fmt::format("'{}' is no principal; write TYPE:NAME", acl.principal));
  if (auto host = security::HostPattern::validate(acl.host); !host) return refuse(std::move(host.error()));
  return {};
}

void for_each_acl(const metadata::Snapshot& snapshot, const security::AclFilter& filter,
                  const std::function<void(const std::shared_ptr<const Acl>& acl)>& visit) {
  const auto& acls = snapshot.acls();
  const bool is_one_name =
      filter.resource_type != ResourceType::any && filter.resource_name && filter.pattern_type != AclPatternType::match;
  // Only those of the name, which stand together, or all.
  Acl first;
  if (is_one_name) {
    first.resource_type = filter.resource_type;
    first.resource_name = *filter.resource_name;
    first.pattern_type = AclPatternType::unknown;
  }
  for (auto at = acls.lower_bound(&std::as_const(first)); at != acls.end(); ++at) {
    const std::shared_ptr<const Acl>& acl = at->second;
    if (is_one_name && (acl->resource_type != first.resource_type || acl->resource_name != first.resource_name)) return;
    if (security::matches(filter, *acl)) visit(acl);
  }
}

Awaitable<Result<void>> change_acls(RequestContext& context, std::vector<records::Record> changes) {
  if (changes.empty()) co_return Result<void>();
  metadata::ChangeSet set{.preconditions = {}, .records = std::move(changes)};
  const metadata::CommitResult committed = co_await commit(context, std::move(set));
  if (!committed) co_return std::unexpected(store_error(committed.error()));
  co_return Result<void>();
}

}  // namespace thalweg::broker
