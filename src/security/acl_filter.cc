#include "security/acl_filter.h"

#include <utility>

#include "security/authorizer.h"

namespace thalweg::security {

using records::Acl;
using records::AclOperation;
using records::AclPatternType;
using records::AclPermission;
using records::AclResourceType;

namespace {

// Above "unknown", and not above the last that there is.
template <class T>
bool is_known(T value, T last) {
  return std::to_underlying(value) > 0 && value <= last;
}

bool fits_name(const AclFilter& filter, const Acl& acl) {
  const bool by_cover = filter.pattern_type == AclPatternType::match;
  if (!by_cover && filter.pattern_type != AclPatternType::any && filter.pattern_type != acl.pattern_type) return false;
  if (!filter.resource_name || *filter.resource_name == acl.resource_name) return true;
  if (!by_cover) return false;
  return acl.pattern_type == AclPatternType::prefixed ? filter.resource_name->starts_with(acl.resource_name)
                                                      : acl.resource_name == kAnyName;
}

}  // namespace

bool matches(const AclFilter& filter, const Acl& acl) {
  return (filter.resource_type == AclResourceType::any || filter.resource_type == acl.resource_type) &&
         (!filter.principal || *filter.principal == acl.principal) && (!filter.host || *filter.host == acl.host) &&
         (filter.operation == AclOperation::any || filter.operation == acl.operation) &&
         (filter.permission == AclPermission::any || filter.permission == acl.permission) && fits_name(filter, acl);
}

bool has_zero(const AclFilter& filter) {
  return filter.resource_type == AclResourceType::unknown || filter.pattern_type == AclPatternType::unknown ||
         filter.operation == AclOperation::unknown || filter.permission == AclPermission::unknown;
}

bool has_zero(const Acl& acl) {
  return acl.resource_type == AclResourceType::unknown || acl.pattern_type == AclPatternType::unknown ||
         acl.operation == AclOperation::unknown || acl.permission == AclPermission::unknown;
}

bool is_known(const AclFilter& filter) {
  return is_known(filter.resource_type, AclResourceType::user) &&
         is_known(filter.pattern_type, AclPatternType::prefixed) &&
         is_known(filter.operation, AclOperation::two_phase_commit) &&
         is_known(filter.permission, AclPermission::allow);
}

bool is_known(const Acl& acl) {
  return is_known(acl.resource_type, AclResourceType::user) && is_known(acl.pattern_type, AclPatternType::prefixed) &&
         is_known(acl.operation, AclOperation::two_phase_commit) && is_known(acl.permission, AclPermission::allow);
}

}  // namespace thalweg::security
