// What the handlers of delegation tokens share: principals as these APIs write them, and answers that are only an end.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "protocol/error.h"

namespace thalweg::server::handlers {

// TYPE and NAME of a principal TYPE:NAME.
inline std::string_view principal_type(std::string_view principal) { return principal.substr(0, principal.find(':')); }
inline std::string_view principal_name(std::string_view principal) { return principal.substr(principal.find(':') + 1); }

// TYPE:NAME.
inline std::string principal_text(std::string_view type, std::string_view name) {
  return std::string(type) + ":" + std::string(name);
}

// The new end of a token, or why there is none. As in Kafka the end is -1 where the client may not ask, 0 where what it
// asks for cannot be.
template <class Response>
Response end_of_token(const protocol::Result<std::int64_t>& end) {
  Response response;
  using protocol::ErrorCode;
  response.error_code = end ? ErrorCode::none : end.error().code;
  response.expiry_timestamp_ms = response.error_code == ErrorCode::delegation_token_request_not_allowed ? -1 : 0;
  if (end) response.expiry_timestamp_ms = *end;
  return response;
}

}  // namespace thalweg::server::handlers
