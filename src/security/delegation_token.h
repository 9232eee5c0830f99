// Delegation tokens: who may do what with one, and how long it lives. A token is an id and the HMAC of the id under the
// brokers' secret key; whoever shows that HMAC as the password of a SCRAM login is the token's owner.
//
//   source   KIP-48, KIP-373
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "protocol/error.h"
#include "records/delegation_token.h"

namespace thalweg::security {

// The secret key of `delegation.token.secret.key`.
class TokenKey {
 public:
  explicit TokenKey(std::string secret) : secret_(std::move(secret)) {}

  // The HMAC-SHA-512 of the id.
  [[nodiscard]] std::string hmac(std::string_view token_id) const;
  // A number that tells keys apart and says nothing about them.
  [[nodiscard]] std::uint32_t check() const;

 private:
  std::string secret_;
};

struct TokenLimits {
  std::int64_t max_lifetime_ms = 604'800'000;  // delegation.token.max.lifetime.ms
  std::int64_t expiry_ms = 86'400'000;         // delegation.token.expiry.time.ms
};

// Whether the principal (TYPE:NAME) may renew, expire and see the token. Who asked for it for another may not, as in
// Kafka.
bool is_owner_or_renewer(const records::DelegationToken& token, std::string_view principal);
// Whether nobody can log in with the token any more.
bool has_run_out(const records::DelegationToken& token, std::int64_t now_ms);

// Sets the times of a token that is being made. A `max_lifetime_ms` of 0 or less means the limit.
void start_life(records::DelegationToken& token, std::int64_t max_lifetime_ms, const TokenLimits& limits,
                std::int64_t now_ms);

// The token with its end at `period_ms` from now, or as far as the limits go; 0 or less means those.
//   errors   delegation_token_expired: no token comes back; delegation_token_owner_mismatch
protocol::Result<records::DelegationToken> renew(records::DelegationToken token, std::string_view principal,
                                                 std::int64_t period_ms, const TokenLimits& limits,
                                                 std::int64_t now_ms);

// The token with its end at `period_ms` from now but no later than its last day. Nothing where it is to be deleted: a
// negative period asks for that, also of a token that has run out.
//   errors   as of renew, but whose it is counts first
protocol::Result<std::optional<records::DelegationToken>> expire(records::DelegationToken token,
                                                                 std::string_view principal, std::int64_t period_ms,
                                                                 std::int64_t now_ms);

}  // namespace thalweg::security
