// Kafka's words for what ACLs are made of, and whole ACLs and decisions in one line for the log.
#pragma once

#include <string>
#include <string_view>

#include "records/acl.h"

namespace thalweg::security {

// TOPIC, TRANSACTIONAL_ID, ...; UNKNOWN for a number that is none.
std::string_view name_of(records::AclResourceType type);
// LITERAL, PREFIXED, ...
std::string_view name_of(records::AclPatternType type);
// READ, DESCRIBE_CONFIGS, ...
std::string_view name_of(records::AclOperation operation);
// ALLOW, DENY, ...
std::string_view name_of(records::AclPermission permission);

// "ALLOW READ on TOPIC PREFIXED orders- to User:alice from *".
std::string text_of(const records::Acl& acl);

}  // namespace thalweg::security
