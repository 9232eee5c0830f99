// CreateDelegationToken (API 38): a short-lived credential for the client itself or, with the right to, for another.
#include <utility>

#include "broker/shard.h"
#include "broker/token_admin.h"
#include "server/handlers/handlers.h"
#include "server/handlers/token_answers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::CreateDelegationTokenResponse;
using protocol::ErrorCode;

constexpr std::string_view kUser = "User";

CreateDelegationTokenResponse answer(const records::DelegationToken& token, int version) {
  CreateDelegationTokenResponse response;
  response.principal_type = principal_type(token.owner);
  response.principal_name = principal_name(token.owner);
  if (version >= 3) {  // nothing older can say it
    response.token_requester_principal_type = principal_type(token.requester);
    response.token_requester_principal_name = principal_name(token.requester);
  }
  response.issue_timestamp_ms = token.issued_ms;
  response.expiry_timestamp_ms = token.expires_ms;
  response.max_timestamp_ms = token.max_ms;
  response.token_id = token.token_id;
  return response;
}

CreateDelegationTokenResponse refusal(records::DelegationToken asked, int version, ErrorCode code) {
  // -1 where the client may not ask for this, 0 where there are no tokens, as in Kafka.
  const std::int64_t none = code == ErrorCode::delegation_token_auth_disabled ? 0 : -1;
  asked.issued_ms = asked.expires_ms = asked.max_ms = none;
  CreateDelegationTokenResponse response = answer(asked, version);
  response.error_code = code;
  return response;
}

}  // namespace

Awaitable<CreateDelegationTokenResponse> create_delegation_token(RequestContext& context,
                                                                 protocol::CreateDelegationTokenRequest request) {
  records::DelegationToken asked{.owner = context.connection.principal.str(),
                                 .requester = context.connection.principal.str()};
  if (request.owner_principal_name && !request.owner_principal_name->empty())
    asked.owner = principal_text(request.owner_principal_type ? request.owner_principal_type->view() : kUser,
                                 *request.owner_principal_name);
  bool users_only = true;
  for (const auto& renewer : request.renewers) {
    users_only = users_only && renewer.principal_type == kUser;
    asked.renewers.push_back(principal_text(renewer.principal_type, renewer.principal_name));
  }
  if (!broker::may_ask_for_tokens(context.connection))
    co_return refusal(asked, context.version, ErrorCode::delegation_token_request_not_allowed);
  if (asked.owner != asked.requester &&
      !context.authorized(broker::AclOperation::create_tokens, broker::ResourceType::user, asked.owner))
    co_return refusal(asked, context.version, ErrorCode::delegation_token_authorization_failed);
  if (!users_only) co_return refusal(asked, context.version, ErrorCode::invalid_principal_type);
  const auto made = co_await broker::create_token(context, asked, request.max_lifetime_ms);
  if (!made) co_return refusal(std::move(asked), context.version, made.error().code);
  CreateDelegationTokenResponse response = answer(*made, context.version);
  response.hmac = base::Bytes::copy_of(context.shard.tokens().key().hmac(made->token_id));
  co_return response;
}

}  // namespace thalweg::server::handlers
