// RenewDelegationToken (API 39): a later end for a token that the client shows, as far as its life goes.
#include <string>

#include "broker/token_admin.h"
#include "server/handlers/handlers.h"
#include "server/handlers/token_answers.h"

namespace thalweg::server::handlers {

Awaitable<protocol::RenewDelegationTokenResponse> renew_delegation_token(
    RequestContext& context, protocol::RenewDelegationTokenRequest request) {
  const auto end = co_await broker::renew_token(context, std::string(request.hmac.view()), request.renew_period_ms);
  co_return end_of_token<protocol::RenewDelegationTokenResponse>(end);
}

}  // namespace thalweg::server::handlers
