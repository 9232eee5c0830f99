// RequestContext: who asks, through what, and until when. Handlers ask it for permission from the first day, also while
// the answer is always yes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "protocol/api_key.h"
#include "runtime/core.h"

namespace thalweg::broker {

class Broker;
class Shard;

// A named address that clients connect to.
struct ListenerInfo {
  std::string name;               // PLAINTEXT, INTERNAL, ...
  std::string security_protocol;  // PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL
};

struct Principal {
  std::string type = "User";
  std::string name = "ANONYMOUS";
};

// What is known of one connection. Lives as long as the connection, on its core.
struct ConnectionInfo {
  std::string peer;       // 127.0.0.1:51234
  std::string peer_host;  // 127.0.0.1
  const ListenerInfo* listener = nullptr;
  Principal principal;
  // From ApiVersions; "unknown" until a client says.
  std::string client_software_name = "unknown";
  std::string client_software_version = "unknown";
};

// Kafka's numbers for operations and resources (AclOperation, ResourceType).
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
enum class ResourceType : std::int8_t {
  unknown = 0,
  any = 1,
  topic = 2,
  group = 3,
  cluster = 4,
  transactional_id = 5,
  delegation_token = 6,
  user = 7
};

inline constexpr std::string_view kClusterResource = "kafka-cluster";

struct RequestContext {
  Broker& broker;
  Shard& shard;         // of the core that the connection lives on
  runtime::Core& core;  // that core
  ConnectionInfo& connection;
  protocol::ApiKey api_key;
  int version = 0;
  std::int32_t correlation_id = 0;
  std::string_view client_id;  // empty where the client sent none; aliases the request's frame
  base::SteadyTime received;

  // Whether the principal may do `operation` on the resource. Without an authorizer everything is allowed, as in Kafka.
  [[nodiscard]] bool authorized(AclOperation operation, ResourceType type, std::string_view name) const {
    (void)operation;
    (void)type;
    (void)name;
    return true;
  }
  // Operations the principal may do on a resource of this type, as Kafka's bit field: bit n stands for operation n.
  [[nodiscard]] static std::int32_t authorized_operations(ResourceType type);
};

}  // namespace thalweg::broker
