// What DescribeAcls and DeleteAcls share: their filters.
#pragma once

#include <optional>

#include "security/acl_filter.h"

namespace thalweg::server::handlers {

// The filter that a message spells out in fields of the same names.
template <class Fields>
security::AclFilter acl_filter_of(const Fields& fields) {
  const auto text = [](const auto& field) { return field ? std::optional(field->str()) : std::nullopt; };
  return {.resource_type = static_cast<records::AclResourceType>(fields.resource_type_filter),
          .resource_name = text(fields.resource_name_filter),
          .pattern_type = static_cast<records::AclPatternType>(fields.pattern_type_filter),
          .principal = text(fields.principal_filter),
          .host = text(fields.host_filter),
          .operation = static_cast<records::AclOperation>(fields.operation),
          .permission = static_cast<records::AclPermission>(fields.permission_type)};
}

}  // namespace thalweg::server::handlers
