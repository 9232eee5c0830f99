// The ACL as it is stored and as clients name it: who may, or may not, do what on which resources, from where. The
// numbers are Kafka's (ResourceType, PatternType, AclOperation, AclPermissionType); they are stored and must not
// change.
#pragma once

#include <cstdint>
#include <string>

namespace thalweg::records {

enum class AclResourceType : std::int8_t {
  unknown = 0,
  any = 1,
  topic = 2,
  group = 3,
  cluster = 4,
  transactional_id = 5,
  delegation_token = 6,
  user = 7
};

enum class AclPatternType : std::int8_t {
  unknown = 0,
  any = 1,       // in filters: literal and prefixed
  match = 2,     // in filters: whatever covers the name
  literal = 3,   // the name itself, or all names where it is *
  prefixed = 4,  // all names that begin with it
};

enum class AclOperation : std::int8_t {
  unknown = 0,
  any = 1,
  all = 2,
  read = 3,
  write = 4,
  create = 5,
  delete_ = 6,
  alter = 7,
  describe = 8,
  cluster_action = 9,
  describe_configs = 10,
  alter_configs = 11,
  idempotent_write = 12,
  create_tokens = 13,
  describe_tokens = 14,
  two_phase_commit = 15
};

enum class AclPermission : std::int8_t { unknown = 0, any = 1, deny = 2, allow = 3 };

// Its fields are its identity; they order ACLs so that those on one resource pattern stand together.
struct Acl {
  AclResourceType resource_type = AclResourceType::unknown;
  std::string resource_name{};
  AclPatternType pattern_type = AclPatternType::literal;
  std::string principal{};  // TYPE:NAME; User:* is everyone
  std::string host{};       // an address, a range as ADDRESS/BITS, or * for any
  AclOperation operation = AclOperation::unknown;
  AclPermission permission = AclPermission::unknown;
  friend bool operator==(const Acl&, const Acl&) = default;
  friend auto operator<=>(const Acl&, const Acl&) = default;
};

}  // namespace thalweg::records
