#include "security/acl_text.h"

#include <fmt/format.h>

#include <array>
#include <utility>

namespace thalweg::security {

namespace {

template <std::size_t n, class T>
std::string_view name_in(const std::array<std::string_view, n>& names, T value) {
  const auto index = static_cast<std::size_t>(std::to_underlying(value));
  return index < n ? names[index] : names[0];
}

}  // namespace

std::string_view name_of(records::AclResourceType type) {
  static constexpr auto kNames = std::to_array<std::string_view>(
      {"UNKNOWN", "ANY", "TOPIC", "GROUP", "CLUSTER", "TRANSACTIONAL_ID", "DELEGATION_TOKEN", "USER"});
  return name_in(kNames, type);
}

std::string_view name_of(records::AclPatternType type) {
  static constexpr auto kNames = std::to_array<std::string_view>({"UNKNOWN", "ANY", "MATCH", "LITERAL", "PREFIXED"});
  return name_in(kNames, type);
}

std::string_view name_of(records::AclOperation operation) {
  static constexpr auto kNames =
      std::to_array<std::string_view>({"UNKNOWN", "ANY", "ALL", "READ", "WRITE", "CREATE", "DELETE", "ALTER",
                                       "DESCRIBE", "CLUSTER_ACTION", "DESCRIBE_CONFIGS", "ALTER_CONFIGS",
                                       "IDEMPOTENT_WRITE", "CREATE_TOKENS", "DESCRIBE_TOKENS", "TWO_PHASE_COMMIT"});
  return name_in(kNames, operation);
}

std::string_view name_of(records::AclPermission permission) {
  static constexpr auto kNames = std::to_array<std::string_view>({"UNKNOWN", "ANY", "DENY", "ALLOW"});
  return name_in(kNames, permission);
}

std::string text_of(const records::Acl& acl) {
  return fmt::format("{} {} on {} {} {} to {} from {}", name_of(acl.permission), name_of(acl.operation),
                     name_of(acl.resource_type), name_of(acl.pattern_type), acl.resource_name, acl.principal, acl.host);
}

}  // namespace thalweg::security
