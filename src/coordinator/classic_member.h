// A member of a classic group: what it can do, what it was given, and the answers it waits for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "coordinator/group_step.h"
#include "protocol/messages/join_group_request.h"
#include "protocol/messages/join_group_response.h"
#include "protocol/messages/sync_group_response.h"

namespace thalweg::coordinator {

struct ClassicMember {
  struct Protocol {
    std::string name;  // of an assignor, such as "range"
    base::Bytes metadata;
    friend bool operator==(const Protocol&, const Protocol&) = default;
  };

  std::string id;
  std::optional<std::string> instance_id;  // of a static member (KIP-345)
  std::string client_id;
  std::string client_host;  // as Kafka writes it: "/127.0.0.1"
  std::int32_t rebalance_timeout_ms = -1;
  std::int32_t session_timeout_ms = 0;
  std::vector<Protocol> protocols;  // in the order of the member's preference
  base::Bytes assignment;

  // Until its first generation: it may be expired while it waits, as its client may have given up and left no trace.
  bool is_new = false;
  std::int64_t expires_ms = kNever;  // steady time of the end of its session
  Reply<protocol::JoinGroupResponse> join_reply;
  Reply<protocol::SyncGroupResponse> sync_reply;

  [[nodiscard]] bool awaits_join() const { return static_cast<bool>(join_reply); }
  [[nodiscard]] bool awaits_sync() const { return static_cast<bool>(sync_reply); }
  [[nodiscard]] bool is_static() const { return instance_id.has_value(); }
  // What the member said about a protocol; empty where it does not know it.
  [[nodiscard]] base::Bytes metadata(std::string_view protocol) const;
  [[nodiscard]] bool knows(std::string_view protocol) const;
};

// The protocols of a request, in memory of their own.
std::vector<ClassicMember::Protocol> own_protocols(const protocol::JoinGroupRequest& request);

}  // namespace thalweg::coordinator
