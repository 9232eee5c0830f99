// SaslAuthenticate (API 36) where no login is under way, as in sasl_handshake.cc.
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

Awaitable<protocol::SaslAuthenticateResponse> sasl_authenticate(RequestContext& /*context*/,
                                                                protocol::SaslAuthenticateRequest /*request*/) {
  protocol::SaslAuthenticateResponse response;
  response.error_code = protocol::ErrorCode::illegal_sasl_state;
  response.error_message = "No login is under way on this connection";
  co_return response;
}

}  // namespace thalweg::server::handlers
