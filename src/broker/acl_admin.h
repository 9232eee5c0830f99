// Adding, finding and removing ACLs: the rules, and the change sets that come of them.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "broker/request_context.h"
#include "metadata/snapshot.h"
#include "protocol/error.h"
#include "runtime/await.h"
#include "security/acl_filter.h"

namespace thalweg::broker {

// Whether there may be such an ACL.
//   errors   invalid_request: a number that means nothing, a type, operation or permission that only filters have, no
//   name, a name for the cluster
//            that is not the cluster's, a principal without a type, a host that is none
protocol::Result<void> check_new_acl(const records::Acl& acl);

// Calls visit(acl) for each ACL that the filter means, in their order.
void for_each_acl(const metadata::Snapshot& snapshot, const security::AclFilter& filter,
                  const std::function<void(const std::shared_ptr<const records::Acl>& acl)>& visit);

// Adds and removes ACLs, all in one change set. An ACL that is there, or is not, already is no error.
//   errors   those of the store
runtime::Awaitable<protocol::Result<void>> change_acls(RequestContext& context, std::vector<records::Record> changes);

}  // namespace thalweg::broker
