// DescribeDelegationToken (API 41): the tokens of some owners, or all, as far as the client may see them.
#include <algorithm>
#include <string>
#include <vector>

#include "broker/shard.h"
#include "broker/token_admin.h"
#include "security/delegation_token.h"
#include "server/handlers/handlers.h"
#include "server/handlers/token_answers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::DescribeDelegationTokenResponse;
using protocol::ErrorCode;
using records::DelegationToken;

// Owner and renewers see a token; others with DESCRIBE on it, or DESCRIBE_TOKENS on its owner.
bool may_see(const RequestContext& context, const DelegationToken& token) {
  using broker::AclOperation;
  using broker::Denial;
  using broker::ResourceType;
  return security::is_owner_or_renewer(token, context.connection.principal.str()) ||
         context.authorized(AclOperation::describe, ResourceType::delegation_token, token.token_id, Denial::quiet) ||
         context.authorized(AclOperation::describe_tokens, ResourceType::user, token.owner, Denial::quiet);
}

void describe(const DelegationToken& token, const security::TokenKey& key, int version,
              DescribeDelegationTokenResponse& response) {
  auto& described = response.tokens.emplace_back();
  described.principal_type = principal_type(token.owner);
  described.principal_name = principal_name(token.owner);
  if (version >= 3) {  // nothing older can say it
    described.token_requester_principal_type = principal_type(token.requester);
    described.token_requester_principal_name = principal_name(token.requester);
  }
  described.issue_timestamp = token.issued_ms;
  described.expiry_timestamp = token.expires_ms;
  described.max_timestamp = token.max_ms;
  described.token_id = token.token_id;
  described.hmac = base::Bytes::copy_of(key.hmac(token.token_id));
  for (const std::string& renewer : token.renewers) {
    auto& entry = described.renewers.emplace_back();
    entry.principal_type = principal_type(renewer);
    entry.principal_name = principal_name(renewer);
  }
}

}  // namespace

Awaitable<DescribeDelegationTokenResponse> describe_delegation_token(RequestContext& context,
                                                                     protocol::DescribeDelegationTokenRequest request) {
  DescribeDelegationTokenResponse response;
  if (!broker::may_ask_for_tokens(context.connection)) {
    response.error_code = ErrorCode::delegation_token_request_not_allowed;
    co_return response;
  }
  if (!context.shard.tokens().enabled()) {
    response.error_code = ErrorCode::delegation_token_auth_disabled;
    co_return response;
  }
  std::vector<std::string> owners;
  if (request.owners)
    for (const auto& owner : *request.owners)
      owners.push_back(principal_text(owner.principal_type, owner.principal_name));
  for (const auto& [id, token] : context.shard.snapshot()->delegation_tokens()) {
    const auto is_meant = [&token](const std::string& owner) { return security::is_owner_or_renewer(*token, owner); };
    if (request.owners && std::ranges::none_of(owners, is_meant)) continue;
    if (may_see(context, *token)) describe(*token, context.shard.tokens().key(), context.version, response);
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
