// Delegation tokens as clients ask for them: the checks that need the broker, and what is stored.
#pragma once

#include <string>
#include <vector>

#include "broker/request_context.h"
#include "protocol/error.h"
#include "records/record.h"
#include "runtime/await.h"

namespace thalweg::broker {

// Whether the connection may ask about tokens at all. Not over a plain connection, not where TLS does not know the
// client, and not after a login that itself was by token.
bool may_ask_for_tokens(const ConnectionInfo& connection);

// Makes a token for who may have one; its times and what it was made under are filled in.
//   errors   delegation_token_auth_disabled: there is no secret key; those of the store
runtime::Awaitable<protocol::Result<records::DelegationToken>> create_token(RequestContext& context,
                                                                            records::DelegationToken token,
                                                                            std::int64_t max_lifetime_ms);

// Moves the end of the token with the HMAC. Returns the new end.
//   errors   delegation_token_request_not_allowed, delegation_token_auth_disabled, delegation_token_not_found; those of
//            security::renew and of the store
runtime::Awaitable<protocol::Result<std::int64_t>> renew_token(RequestContext& context, std::string hmac,
                                                               std::int64_t period_ms);

// Moves the end of the token with the HMAC nearer, or deletes it. Returns the new end; now, where it is deleted.
//   errors   as of renew_token, with those of security::expire
runtime::Awaitable<protocol::Result<std::int64_t>> expire_token(RequestContext& context, std::string hmac,
                                                                std::int64_t period_ms);

// The tokens that have run out, as records that remove them.
std::vector<records::Record> tokens_run_out(const metadata::Snapshot& metadata, std::int64_t now_ms);

}  // namespace thalweg::broker
