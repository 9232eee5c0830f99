#include "server/login.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/endian.h"
#include "base/log.h"
#include "broker/broker.h"
#include "broker/scram_admin.h"
#include "protocol/messages/sasl_authenticate_request.h"
#include "protocol/messages/sasl_authenticate_response.h"
#include "protocol/messages/sasl_handshake_request.h"
#include "protocol/messages/sasl_handshake_response.h"
#include "runtime/secure_random.h"
#include "security/delegation_token.h"
#include "security/scram_credential.h"
#include "server/dispatch.h"
#include "server/handlers/handlers.h"
#include "server/request_header.h"

namespace thalweg::server {

namespace {

using protocol::ApiKey;
using protocol::ErrorCode;
using runtime::Awaitable;
using security::SaslFailure;
using security::SaslResult;

constexpr std::string_view kArea = "login";
constexpr std::size_t kNonceBytes = 24;
// A client logs in again not more often than this.
constexpr std::chrono::seconds kLeastBetweenLogins{1};

Login::Outcome end_at_once(std::string why) {
  return {.reply = {}, .next = Login::Outcome::Next::end_at_once, .why = std::move(why)};
}

Login::Outcome end_later(Reply reply, std::string why) {
  return {.reply = std::move(reply), .next = Login::Outcome::Next::end_later, .why = std::move(why)};
}

template <class Request>
bool decode(const broker::RequestContext& context, const base::Bytes& body, Request& request) {
  protocol::Reader reader(body);
  request.decode(reader, context.version);
  return reader.ok();
}

Reply bare_reply(std::string_view token) {
  std::string frame(4, '\0');
  base::store_be(reinterpret_cast<std::uint8_t*>(frame.data()), static_cast<std::int32_t>(token.size()));
  frame += token;
  Reply reply;
  reply.frame.append(base::Bytes::copy_of(frame));
  return reply;
}

bool is_served(const broker::RequestContext& context) {
  const ServedApi* const api = find_served(static_cast<std::int16_t>(context.api_key));
  return api != nullptr && serves(*api, context.version, context.broker.settings().unstable_api_versions);
}

}  // namespace

Login::Login(broker::Shard& shard, broker::ConnectionInfo& connection,
             std::shared_ptr<const broker::SaslListener> listener)
    : shard_(shard), connection_(connection), listener_(std::move(listener)) {}

bool Login::begin_again(base::SteadyTime now) {
  // One that has no end has no use for another.
  if (!expires_ || (began_again_ && now - *began_again_ < kLeastBetweenLogins)) return false;
  began_again_ = now;
  again_ = true;
  with_headers_ = false;
  state_ = State::handshake;
  if (auto listener = shard_.sasl(connection_.listener->name)) listener_ = std::move(listener);
  return true;
}

Awaitable<Login::Outcome> Login::request(broker::RequestContext& context, base::Bytes body) {
  const std::string_view name = api_name(static_cast<std::int16_t>(context.api_key));
  switch (state_) {
    case State::first_request:
    case State::handshake:
      if (context.api_key == ApiKey::sasl_handshake) co_return handshake(context, body);
      if (context.api_key != ApiKey::api_versions) co_return end_later({}, fmt::format("{} before the login", name));
      if (state_ == State::handshake) co_return end_at_once("ApiVersions a second time before the login");
      co_return co_await api_versions(context, std::move(body));
    case State::authenticate:
      co_return co_await authenticate(context, std::move(body));
    case State::bad_mechanism:
      co_return end_later({}, "another mechanism than at the first login");
    case State::complete:
      break;
  }
  co_return end_at_once("a login that is complete");
}

Awaitable<Login::Outcome> Login::api_versions(broker::RequestContext& context, base::Bytes body) {
  // One that is not served is told so, and may ask again.
  if (!is_served(context))
    co_return Outcome{.reply = internal::encode_reply(context, handlers::unsupported_api_versions(), 0)};
  protocol::ApiVersionsRequest request;
  if (!decode(context, body, request)) co_return end_at_once("an unreadable ApiVersions");
  const protocol::ApiVersionsResponse response = co_await handlers::api_versions(context, std::move(request));
  if (response.error_code == ErrorCode::none) state_ = State::handshake;
  co_return Outcome{.reply = internal::encode_reply(context, response, context.version)};
}

Login::Outcome Login::handshake(broker::RequestContext& context, const base::Bytes& body) {
  protocol::SaslHandshakeRequest request;
  if (!is_served(context) || !decode(context, body, request)) return end_at_once("an unreadable SaslHandshake");
  protocol::SaslHandshakeResponse response;
  for (const broker::SaslMechanism& mechanism : listener_->mechanisms) response.mechanisms.emplace_back(mechanism.name);
  const broker::SaslMechanism* const mechanism = listener_->find(request.mechanism);
  if (mechanism == nullptr) {
    response.error_code = ErrorCode::unsupported_sasl_mechanism;
    return end_later(internal::encode_reply(context, response, context.version),
                     "a SASL mechanism that is not enabled");
  }
  with_headers_ = context.version >= 1;
  if (again_ && mechanism->name != mechanism_.name) {
    state_ = State::bad_mechanism;
  } else {
    mechanism_ = *mechanism;
    scram_.reset();
    challenged_ = false;
    state_ = State::authenticate;
  }
  return {.reply = internal::encode_reply(context, response, context.version)};
}

Awaitable<Login::Outcome> Login::authenticate(broker::RequestContext& context, base::Bytes body) {
  const std::string_view name = api_name(static_cast<std::int16_t>(context.api_key));
  if (!is_served(context)) co_return end_at_once(fmt::format("{} version {} in a login", name, context.version));
  if (context.api_key != ApiKey::sasl_authenticate) {
    Reply reply;
    if (context.api_key == ApiKey::sasl_handshake) {
      protocol::SaslHandshakeResponse response;
      response.error_code = ErrorCode::illegal_sasl_state;
      reply = internal::encode_reply(context, response, context.version);
    } else if (context.api_key == ApiKey::api_versions) {
      protocol::ApiVersionsResponse response;
      response.error_code = ErrorCode::illegal_sasl_state;
      reply = internal::encode_reply(context, response, context.version);
    }
    co_return end_later(std::move(reply), fmt::format("{} within the login", name));
  }
  protocol::SaslAuthenticateRequest request;
  if (!decode(context, body, request)) co_return end_at_once("an unreadable SaslAuthenticate");
  protocol::SaslAuthenticateResponse response;
  const SaslResult<Step> taken = co_await step(request.auth_bytes);
  if (!taken) {
    log_failure(taken.error());
    response.error_code = ErrorCode::sasl_authentication_failed;
    response.error_message =
        taken.error().told.empty()
            ? fmt::format("Authentication failed during {} due to invalid credentials with SASL mechanism {}",
                          again_ ? "re-authentication" : "authentication", mechanism_.name)
            : taken.error().told;
    co_return end_later(internal::encode_reply(context, response, context.version), {});
  }
  response.auth_bytes = base::Bytes::copy_of(taken->answer);
  if (taken->done) response.session_lifetime_ms = finish();
  co_return Outcome{.reply = internal::encode_reply(context, response, context.version)};
}

Awaitable<Login::Outcome> Login::bare_token(base::Bytes token) {
  const SaslResult<Step> taken = co_await step(std::move(token));
  if (!taken) {
    log_failure(taken.error());
    co_return end_later({}, {});
  }
  if (taken->done) finish();
  co_return Outcome{.reply = bare_reply(taken->answer)};
}

Awaitable<SaslResult<Login::Step>> Login::step(base::Bytes token) {
  SaslResult<Step> taken;
  if (mechanism_.name == "PLAIN") {
    taken = plain(token);
  } else {
    taken = co_await scram(std::move(token));
  }
  if (taken && taken->done && again_ && connection_.principal != broker::Principal("User", user_))
    co_return std::unexpected(
        SaslFailure{.reason = "another principal than at the first login",
                    .told = fmt::format("Cannot change principals during re-authentication from {}.{}: User.{}",
                                        connection_.principal.type(), connection_.principal.name(), user_)});
  co_return taken;
}

SaslResult<Login::Step> Login::plain(const base::Bytes& token) {
  ASSIGN_OR_RETURN(user_, security::plain_login(listener_->plain_users, token.view()));
  return Step{.answer = {}, .done = true};
}

Awaitable<SaslResult<Login::Step>> Login::scram(base::Bytes token) {
  const auto mechanism = security::scram_mechanism(mechanism_.name);
  if (challenged_) {
    auto answer = scram_->finish(token.view());
    // No proof can be right for a decoy; the log says so, the client is told the same in both cases.
    if (!is_known_) co_return std::unexpected(SaslFailure{.reason = "no such user, or no such token"});
    if (!answer) co_return std::unexpected(std::move(answer).error());
    co_return Step{.answer = std::move(*answer), .done = true};
  }
  scram_.emplace(*mechanism, security::base64_encode(runtime::secure_random_bytes(kNonceBytes)));
  CO_ASSIGN_OR_RETURN(security::ScramServer::Claim claim, scram_->begin(token.view()));
  challenged_ = true;
  records::ScramCredential credential = co_await credential_of(std::move(claim));
  co_return Step{.answer = scram_->challenge(std::move(credential)), .done = false};
}

Awaitable<records::ScramCredential> Login::credential_of(security::ScramServer::Claim claim) {
  const records::ScramMechanism mechanism = *security::scram_mechanism(mechanism_.name);
  const metadata::Snapshot& metadata = *shard_.snapshot();
  // Made in any case, so that both ways take the same time.
  records::ScramCredential decoy = broker::decoy_for(metadata, {.user = claim.user, .mechanism = mechanism});
  token_ends_ms_.reset();
  if (claim.is_token) {
    const auto token = shard_.tokens().enabled() ? metadata.delegation_token(claim.user) : nullptr;
    is_known_ = token != nullptr && !security::has_run_out(*token, shard_.now_ms());
    if (!is_known_) co_return decoy;
    user_ = token->owner.substr(token->owner.find(':') + 1);
    token_ends_ms_ = token->expires_ms;
    co_return co_await shard_.tokens().credential_of(std::move(claim.user), mechanism);
  }
  const records::ScramCredential* const stored =
      metadata.scram_credential({.user = claim.user, .mechanism = mechanism});
  user_ = std::move(claim.user);
  is_known_ = stored != nullptr;
  co_return is_known_ ? *stored : std::move(decoy);
}

std::int64_t Login::finish() {
  state_ = State::complete;
  scram_.reset();
  connection_.principal = broker::Principal("User", user_);
  connection_.by_token = token_ends_ms_.has_value();
  expires_.reset();
  std::int64_t lifetime_ms = std::max<std::int64_t>(mechanism_.max_reauth_ms, 0);
  if (token_ends_ms_) {
    const std::int64_t left_ms = std::max<std::int64_t>(*token_ends_ms_ - shard_.now_ms(), 0);
    lifetime_ms = lifetime_ms > 0 ? std::min(lifetime_ms, left_ms) : left_ms;
  }
  if (lifetime_ms > 0 || token_ends_ms_)
    expires_ = shard_.core().clock().steady() + std::chrono::milliseconds(lifetime_ms);
  return lifetime_ms;
}

void Login::log_failure(const SaslFailure& failure) const {
  LOG_INFO(kArea, "{} ({}) failed to log in{} by {}: {}", connection_.peer, connection_.listener->name,
           again_ ? " again" : "", mechanism_.name, failure.reason);
}

}  // namespace thalweg::server
