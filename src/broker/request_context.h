// RequestContext: who asks, through what, and until when. Handlers ask it for permission from the first day, also while
// the answer is always yes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/uuid.h"
#include "protocol/api_key.h"
#include "records/acl.h"
#include "runtime/core.h"

namespace thalweg::broker {

class Broker;
class Shard;

// A named address that clients connect to.
struct ListenerInfo {
  std::string name;               // PLAINTEXT, INTERNAL, ...
  std::string security_protocol;  // PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL
};

// Who a client has shown to be.
class Principal {
 public:
  Principal() = default;
  Principal(std::string type, std::string name) : text_(type + ":" + name), type_size_(type.size()) {}
  [[nodiscard]] std::string_view type() const { return std::string_view(text_).substr(0, type_size_); }
  [[nodiscard]] std::string_view name() const { return std::string_view(text_).substr(type_size_ + 1); }
  // TYPE:NAME, as in ACLs.
  [[nodiscard]] const std::string& str() const { return text_; }
  friend bool operator==(const Principal&, const Principal&) = default;

 private:
  std::string text_ = "User:ANONYMOUS";
  std::size_t type_size_ = 4;
};

// What is known of one connection. Lives as long as the connection, on its core.
struct ConnectionInfo {
  std::string peer;       // 127.0.0.1:51234
  std::string peer_host;  // 127.0.0.1
  const ListenerInfo* listener = nullptr;
  Principal principal;
  bool by_token = false;  // the principal was shown by a delegation token
  // From ApiVersions; "unknown" until a client says.
  std::string client_software_name = "unknown";
  std::string client_software_version = "unknown";
  // The client instance that a telemetry request on this connection made known, and which appearance of it; else 0.
  base::Uuid telemetry_instance;
  std::uint64_t telemetry_serial = 0;
};

using AclOperation = records::AclOperation;
using ResourceType = records::AclResourceType;

inline constexpr std::string_view kClusterResource = "kafka-cluster";

// Whether a refusal is worth a line in the log: not where the question only finds out what to show.
enum class Denial { logged, quiet };

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
  [[nodiscard]] bool authorized(AclOperation operation, ResourceType type, std::string_view name,
                                Denial denial = Denial::logged) const {
    return authorized_on(shard, operation, type, name, denial);
  }
  // The same where the request has gone on to another core, which asks its own view of the ACLs.
  [[nodiscard]] bool authorized_on(const Shard& here, AclOperation operation, ResourceType type, std::string_view name,
                                   Denial denial = Denial::logged) const;
  // Whether the principal may do `operation` on some resource of the type.
  [[nodiscard]] bool authorized_by_type(AclOperation operation, ResourceType type) const;
  // Operations the principal may do on a resource, as Kafka's bit field: bit n stands for operation n.
  [[nodiscard]] std::int32_t authorized_operations(ResourceType type, std::string_view name) const;
};

}  // namespace thalweg::broker
