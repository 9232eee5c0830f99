#include "broker/request_context.h"

#include <initializer_list>

namespace thalweg::broker {

namespace {

std::int32_t bits(std::initializer_list<AclOperation> operations) {
  std::int32_t field = 0;
  for (const AclOperation operation : operations) field |= 1 << static_cast<int>(operation);
  return field;
}

}  // namespace

std::int32_t RequestContext::authorized_operations(ResourceType type) {
  using enum AclOperation;
  switch (type) {
    case ResourceType::topic:
      return bits({read, write, create, delete_, alter, describe, describe_configs, alter_configs});
    case ResourceType::group:
      return bits({read, delete_, describe, describe_configs, alter_configs});
    case ResourceType::cluster:
      return bits({create, alter, describe, cluster_action, describe_configs, alter_configs, idempotent_write});
    default:
      return 0;
  }
}

}  // namespace thalweg::broker
