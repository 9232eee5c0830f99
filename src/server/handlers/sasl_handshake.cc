// SaslHandshake (API 17) where no login is under way: on a listener without SASL, or of a client that is logged in and
// need not do so again.
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

Awaitable<protocol::SaslHandshakeResponse> sasl_handshake(RequestContext& /*context*/,
                                                          protocol::SaslHandshakeRequest /*request*/) {
  protocol::SaslHandshakeResponse response;
  response.error_code = protocol::ErrorCode::illegal_sasl_state;
  co_return response;
}

}  // namespace thalweg::server::handlers
