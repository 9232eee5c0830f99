#include "security/delegation_token.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/endian.h"
#include "security/crypto.h"

namespace thalweg::security {

using protocol::ErrorCode;
using protocol::fail;
using protocol::Result;
using records::DelegationToken;

namespace {

// `now_ms` is far from both ends of the range, a period that a client sends may not be.
std::int64_t after(std::int64_t now_ms, std::int64_t period_ms) {
  return period_ms > std::numeric_limits<std::int64_t>::max() - now_ms ? std::numeric_limits<std::int64_t>::max()
                                                                       : now_ms + period_ms;
}

// What was asked for within a limit.
std::int64_t within(std::int64_t asked_ms, std::int64_t limit_ms) {
  return asked_ms > 0 ? std::min(asked_ms, limit_ms) : limit_ms;
}

}  // namespace

std::string TokenKey::hmac(std::string_view token_id) const { return security::hmac(Hash::sha_512, secret_, token_id); }

std::uint32_t TokenKey::check() const {
  // An id has 22 characters, so this is the HMAC of no token.
  const std::string bytes = hmac("which key is it");
  return base::load_be<std::uint32_t>(reinterpret_cast<const std::uint8_t*>(bytes.data()));
}

bool is_owner_or_renewer(const DelegationToken& token, std::string_view principal) {
  return principal == token.owner || std::ranges::find(token.renewers, principal) != token.renewers.end();
}

bool has_run_out(const DelegationToken& token, std::int64_t now_ms) {
  return token.max_ms < now_ms || token.expires_ms < now_ms;
}

void start_life(DelegationToken& token, std::int64_t max_lifetime_ms, const TokenLimits& limits, std::int64_t now_ms) {
  token.issued_ms = now_ms;
  token.max_ms = after(now_ms, within(max_lifetime_ms, limits.max_lifetime_ms));
  token.expires_ms = std::min(token.max_ms, after(now_ms, limits.expiry_ms));
}

Result<DelegationToken> renew(DelegationToken token, std::string_view principal, std::int64_t period_ms,
                              const TokenLimits& limits, std::int64_t now_ms) {
  if (has_run_out(token, now_ms)) return fail(ErrorCode::delegation_token_expired);
  if (!is_owner_or_renewer(token, principal)) return fail(ErrorCode::delegation_token_owner_mismatch);
  token.expires_ms = std::min(token.max_ms, after(now_ms, within(period_ms, limits.expiry_ms)));
  return token;
}

Result<std::optional<DelegationToken>> expire(DelegationToken token, std::string_view principal, std::int64_t period_ms,
                                              std::int64_t now_ms) {
  if (!is_owner_or_renewer(token, principal)) return fail(ErrorCode::delegation_token_owner_mismatch);
  if (period_ms < 0) return std::nullopt;
  if (has_run_out(token, now_ms)) return fail(ErrorCode::delegation_token_expired);
  token.expires_ms = std::min(token.max_ms, after(now_ms, period_ms));
  return token;
}

}  // namespace thalweg::security
