// Login: what a connection of a listener with SASL goes through before its requests are served, and again when its
// session ends.
//
//   ApiVersions (once, may be left out)
//   SaslHandshake           names the mechanism; version 0: the tokens that follow are bare, without Kafka's headers
//   SaslAuthenticate ...    one token each, until the mechanism is satisfied
//
// Anything else ends the connection. A login that failed for the client's sake is answered, and the connection ended,
// only after a while (connection.failed.authentication.delay.ms), so that guessing is slow.
//
//   source   KIP-43, KIP-152, KIP-368; Kafka 4.4 for the order of checks and its words to clients
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/clock.h"
#include "broker/request_context.h"
#include "broker/sasl_settings.h"
#include "broker/shard.h"
#include "records/scram_credential.h"
#include "runtime/await.h"
#include "security/sasl.h"
#include "security/scram.h"
#include "server/reply.h"

namespace thalweg::server {

class Login {
 public:
  Login(broker::Shard& shard, broker::ConnectionInfo& connection, std::shared_ptr<const broker::SaslListener> listener);

  // What comes of a frame.
  struct Outcome {
    enum class Next {
      go_on,
      end_at_once,  // the client does not speak the protocol
      end_later,    // it does, and failed: the reply, if any, is held back too
    };
    Reply reply{};  // an empty frame: nothing is answered
    Next next = Next::go_on;
    std::string why{};  // the connection ends, for the log
  };

  // Whether the client is logged in, so that its requests are served.
  [[nodiscard]] bool complete() const { return state_ == State::complete; }
  // Whether the next frame is a token without a header.
  [[nodiscard]] bool takes_bare_tokens() const { return state_ == State::authenticate && !with_headers_; }
  // Whether the session of a complete login has ended: nothing but another login is taken.
  [[nodiscard]] bool expired(base::SteadyTime now) const { return expires_ && now > *expires_; }
  // A SaslHandshake came after the login. True where it begins another one; else it is a request like others.
  bool begin_again(base::SteadyTime now);

  // Takes a request of a login that is not complete; `body` is what stands behind its header.
  runtime::Awaitable<Outcome> request(broker::RequestContext& context, base::Bytes body);
  // Takes a token without a header.
  runtime::Awaitable<Outcome> bare_token(base::Bytes token);

 private:
  enum class State { first_request, handshake, authenticate, bad_mechanism, complete };

  // What a mechanism makes of a token.
  struct Step {
    std::string answer;
    bool done = false;
  };

  runtime::Awaitable<Outcome> api_versions(broker::RequestContext& context, base::Bytes body);
  Outcome handshake(broker::RequestContext& context, const base::Bytes& body);
  runtime::Awaitable<Outcome> authenticate(broker::RequestContext& context, base::Bytes body);
  runtime::Awaitable<security::SaslResult<Step>> step(base::Bytes token);
  security::SaslResult<Step> plain(const base::Bytes& token);
  runtime::Awaitable<security::SaslResult<Step>> scram(base::Bytes token);
  // The credential that a claim is checked against; a decoy where there is none. It says who the claimant would be.
  runtime::Awaitable<records::ScramCredential> credential_of(security::ScramServer::Claim claim);
  // The mechanism is satisfied. Returns for how long the login holds, 0 for ever.
  std::int64_t finish();
  void log_failure(const security::SaslFailure& failure) const;

  broker::Shard& shard_;
  broker::ConnectionInfo& connection_;
  std::shared_ptr<const broker::SaslListener> listener_;
  State state_ = State::first_request;
  bool with_headers_ = false;
  broker::SaslMechanism mechanism_;
  std::optional<security::ScramServer> scram_;
  bool challenged_ = false;
  bool is_known_ = false;                      // the claim is one that can be proved at all
  std::string user_;                           // who it says it is; shown once the mechanism is satisfied
  std::optional<std::int64_t> token_ends_ms_;  // where a delegation token shows who it is

  bool again_ = false;  // there was a login before
  std::optional<base::SteadyTime> expires_;
  std::optional<base::SteadyTime> began_again_;
};

}  // namespace thalweg::server
