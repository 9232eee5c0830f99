// ExpireDelegationToken (API 40): an earlier end for a token that the client shows, or its end at once.
#include <string>

#include "broker/token_admin.h"
#include "server/handlers/handlers.h"
#include "server/handlers/token_answers.h"

namespace thalweg::server::handlers {

Awaitable<protocol::ExpireDelegationTokenResponse> expire_delegation_token(
    RequestContext& context, protocol::ExpireDelegationTokenRequest request) {
  const auto end =
      co_await broker::expire_token(context, std::string(request.hmac.view()), request.expiry_time_period_ms);
  co_return end_of_token<protocol::ExpireDelegationTokenResponse>(end);
}

}  // namespace thalweg::server::handlers
