// AclFilter: which ACLs a DescribeAcls or DeleteAcls request means (KIP-290).
#pragma once

#include <optional>
#include <string>

#include "records/acl.h"

namespace thalweg::security {

struct AclFilter {
  records::AclResourceType resource_type = records::AclResourceType::any;
  std::optional<std::string> resource_name{};  // nothing: every name
  records::AclPatternType pattern_type = records::AclPatternType::any;
  std::optional<std::string> principal{};
  std::optional<std::string> host{};
  records::AclOperation operation = records::AclOperation::any;
  records::AclPermission permission = records::AclPermission::any;
};

// Whether the filter means the ACL. A name with the pattern type `match` means whatever covers it.
bool matches(const AclFilter& filter, const records::Acl& acl);

// Whether every number of the filter, or of the ACL, is one that means something.
bool is_known(const AclFilter& filter);
bool is_known(const records::Acl& acl);
// Whether one of them is 0, the number that no client may send.
bool has_zero(const AclFilter& filter);
bool has_zero(const records::Acl& acl);

}  // namespace thalweg::security
