// Dispatch: which APIs are served, in which versions, and by which handler.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "broker/request_context.h"
#include "protocol/api_key.h"
#include "runtime/await.h"
#include "server/reply.h"

namespace thalweg::server {

struct ServedApi {
  protocol::ApiKey key;
  std::int16_t lowest;
  std::int16_t highest;
  // Offered only with unstable.api.versions.enable, above `highest`; equal to it where there is none.
  std::int16_t highest_unstable;
  // What ApiVersions says is the lowest; older than `lowest` only for Produce, since old clients look for it.
  std::int16_t advertised_lowest;
  // Requests behind it on the connection do not wait for its answer; answers still leave in order.
  bool pipelined;
  // Decodes the body, runs the handler and encodes the answer.
  runtime::Awaitable<Reply> (*run)(broker::RequestContext& context, base::Bytes body);
};

// Every API that is really served, by key.
std::span<const ServedApi> served_apis();
// The API, or null where it is not served.
const ServedApi* find_served(std::int16_t key);
// Whether that version of it is served.
inline bool serves(const ServedApi& api, int version, bool unstable) {
  return version >= api.lowest && version <= (unstable ? api.highest_unstable : api.highest);
}

}  // namespace thalweg::server
