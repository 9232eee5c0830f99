#include "broker/request_context.h"

#include <fmt/format.h>

#include <initializer_list>
#include <span>

#include "base/log.h"
#include "broker/shard.h"
#include "security/acl_text.h"
#include "security/authorizer.h"

namespace thalweg::broker {

namespace {

// What can be asked for on a resource of the type.
std::span<const AclOperation> operations_of(ResourceType type) {
  using enum AclOperation;
  static constexpr AclOperation kTopic[] = {read,  write,    create,           delete_,
                                            alter, describe, describe_configs, alter_configs};
  static constexpr AclOperation kGroup[] = {read, delete_, describe, describe_configs, alter_configs};
  static constexpr AclOperation kCluster[] = {create,           alter,         describe,        cluster_action,
                                              describe_configs, alter_configs, idempotent_write};
  switch (type) {
    case ResourceType::topic:
      return kTopic;
    case ResourceType::group:
      return kGroup;
    case ResourceType::cluster:
      return kCluster;
    default:
      return {};
  }
}

security::Client client_of(const ConnectionInfo& connection) {
  return {.principal = connection.principal.str(), .host = connection.peer_host};
}

}  // namespace

bool RequestContext::authorized_on(const Shard& here, AclOperation operation, ResourceType type, std::string_view name,
                                   Denial denial) const {
  const security::Authorizer* const authorizer = here.authorizer();
  if (authorizer == nullptr) return true;
  const security::Decision decision =
      authorizer->decide(client_of(connection), {.operation = operation, .type = type, .name = name});
  if (!decision.allowed && denial == Denial::logged)
    LOG_INFO("authorizer", "denied {} from {}: {} {} {} ({} by client {}): {}", connection.principal.str(),
             connection.peer_host, security::name_of(operation), security::name_of(type), name,
             protocol::find_api(static_cast<std::int16_t>(api_key))->name, client_id, security::text_of(decision));
  return decision.allowed;
}

bool RequestContext::authorized_by_type(AclOperation operation, ResourceType type) const {
  const security::Authorizer* const authorizer = shard.authorizer();
  return authorizer == nullptr || authorizer->decide_by_type(client_of(connection), operation, type);
}

std::int32_t RequestContext::authorized_operations(ResourceType type, std::string_view name) const {
  std::int32_t field = 0;
  for (const AclOperation operation : operations_of(type))
    if (authorized(operation, type, name, Denial::quiet)) field |= 1 << static_cast<int>(operation);
  return field;
}

}  // namespace thalweg::broker
