#include "broker/delegation_tokens.h"

#include "base/log.h"
#include "runtime/core.h"
#include "security/scram_credential.h"

namespace thalweg::broker {

DelegationTokens::DelegationTokens(const TokenSettings& settings, runtime::Executor& pool) : pool_(pool) {
  if (!settings.secret_key.empty()) key_.emplace(settings.secret_key);
}

void DelegationTokens::load(const metadata::Snapshot& snapshot) {
  if (!key_) return;
  for (const auto& [id, token] : snapshot.delegation_tokens()) ids_.emplace(key_->hmac(id), id);
}

// An id is given once, so a token that is there is the one that was, whatever else has changed of it.
void DelegationTokens::apply(const metadata::Snapshot& snapshot, const std::string& token_id) {
  if (!key_) return;
  std::string hmac = key_->hmac(token_id);
  if (snapshot.delegation_token(token_id) != nullptr) {
    ids_.emplace(std::move(hmac), token_id);
  } else {
    ids_.erase(hmac);
    credentials_.erase(token_id);
  }
}

const std::string* DelegationTokens::find(std::string_view hmac) const {
  const auto found = ids_.find(hmac);
  return found == ids_.end() ? nullptr : &found->second;
}

runtime::Awaitable<records::ScramCredential> DelegationTokens::credential_of(std::string token_id,
                                                                             records::ScramMechanism mechanism) {
  if (const auto known = credentials_.find(token_id); known != credentials_.end())
    if (const auto made = known->second.find(mechanism); made != known->second.end()) co_return made->second;
  const std::string hmac = key_->hmac(token_id);
  // The password is the HMAC as clients are given it. A salt from the key is the same on every core and broker.
  auto make = [mechanism, password = security::base64_encode(hmac), salt = security::salt_for(hmac, token_id)] {
    return security::credential_of(mechanism, password, salt, security::kLeastScramIterations);
  };
  records::ScramCredential credential = co_await runtime::run_on(pool_, std::move(make));
  // The token may be gone by now.
  if (ids_.contains(hmac)) credentials_[token_id][mechanism] = credential;
  co_return credential;
}

void warn_of_other_keys(const metadata::Snapshot& snapshot, const TokenSettings& settings) {
  if (settings.secret_key.empty()) return;
  const std::uint32_t check = security::TokenKey(settings.secret_key).check();
  std::size_t others = 0;
  // Of a token that was taken over from another broker the key is not known.
  for (const auto& [id, token] : snapshot.delegation_tokens())
    others += token->key_check == check || token->key_check == 0 ? 0 : 1;
  if (others > 0)
    LOG_WARN("tokens", "delegation.token.secret.key has changed: {} delegation tokens made under another key are void",
             others);
}

}  // namespace thalweg::broker
