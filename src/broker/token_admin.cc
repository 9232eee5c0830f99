#include "broker/token_admin.h"

#include <memory>
#include <optional>
#include <utility>

#include "broker/broker.h"
#include "broker/commit.h"
#include "broker/shard.h"
#include "security/delegation_token.h"

namespace thalweg::broker {

using protocol::ErrorCode;
using protocol::fail;
using protocol::Result;
using records::DelegationToken;
using runtime::Awaitable;

namespace {

Awaitable<Result<void>> store(RequestContext& context, records::Record record) {
  metadata::ChangeSet changes;
  changes.records.push_back(std::move(record));
  const metadata::CommitResult committed = co_await commit(context, std::move(changes));
  if (!committed) co_return std::unexpected(store_error(committed.error()));
  co_return Result<void>();
}

// The token that the client shows the HMAC of.
Result<DelegationToken> shown_token(const RequestContext& context, std::string_view hmac) {
  if (!may_ask_for_tokens(context.connection)) return fail(ErrorCode::delegation_token_request_not_allowed);
  if (!context.shard.tokens().enabled()) return fail(ErrorCode::delegation_token_auth_disabled);
  const std::string* const id = context.shard.tokens().find(hmac);
  const auto token = id == nullptr ? nullptr : context.shard.snapshot()->delegation_token(*id);
  if (token == nullptr) return fail(ErrorCode::delegation_token_not_found);
  return *token;
}

}  // namespace

bool may_ask_for_tokens(const ConnectionInfo& connection) {
  const std::string_view protocol = connection.listener->security_protocol;
  const bool is_nobody = connection.principal == Principal();
  return !connection.by_token && protocol != "PLAINTEXT" && !(protocol == "SSL" && is_nobody);
}

Awaitable<Result<DelegationToken>> create_token(RequestContext& context, DelegationToken token,
                                                std::int64_t max_lifetime_ms) {
  const DelegationTokens& tokens = context.shard.tokens();
  if (!tokens.enabled()) co_return fail(ErrorCode::delegation_token_auth_disabled);
  token.token_id = context.shard.random().next().str();
  token.key_check = tokens.key().check();
  security::start_life(token, max_lifetime_ms, context.broker.settings().tokens.limits, context.shard.now_ms());
  CO_TRY(co_await store(context, records::DelegationTokenCreated{.token = token}));
  co_return token;
}

Awaitable<Result<std::int64_t>> renew_token(RequestContext& context, std::string hmac, std::int64_t period_ms) {
  CO_ASSIGN_OR_RETURN(DelegationToken token, shown_token(context, hmac));
  CO_ASSIGN_OR_RETURN(token, security::renew(std::move(token), context.connection.principal.str(), period_ms,
                                             context.broker.settings().tokens.limits, context.shard.now_ms()));
  CO_TRY(co_await store(context,
                        records::DelegationTokenRenewed{.token_id = token.token_id, .expires_ms = token.expires_ms}));
  co_return token.expires_ms;
}

Awaitable<Result<std::int64_t>> expire_token(RequestContext& context, std::string hmac, std::int64_t period_ms) {
  CO_ASSIGN_OR_RETURN(const DelegationToken token, shown_token(context, hmac));
  const std::int64_t now_ms = context.shard.now_ms();
  CO_ASSIGN_OR_RETURN(const std::optional<DelegationToken> changed,
                      security::expire(token, context.connection.principal.str(), period_ms, now_ms));
  if (!changed) {
    CO_TRY(co_await store(context, records::DelegationTokenRemoved{.token_id = token.token_id}));
    co_return now_ms;
  }
  CO_TRY(co_await store(
      context, records::DelegationTokenRenewed{.token_id = token.token_id, .expires_ms = changed->expires_ms}));
  co_return changed->expires_ms;
}

std::vector<records::Record> tokens_run_out(const metadata::Snapshot& metadata, std::int64_t now_ms) {
  std::vector<records::Record> removals;
  for (const auto& [id, token] : metadata.delegation_tokens())
    if (security::has_run_out(*token, now_ms)) removals.emplace_back(records::DelegationTokenRemoved{.token_id = id});
  return removals;
}

}  // namespace thalweg::broker
