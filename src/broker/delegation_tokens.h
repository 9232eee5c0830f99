// DelegationTokens: the delegation tokens as one core knows them, found by what clients show of them.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/string.h"
#include "metadata/snapshot.h"
#include "records/record.h"
#include "runtime/await.h"
#include "runtime/executor.h"
#include "security/delegation_token.h"

namespace thalweg::broker {

struct TokenSettings {
  std::string secret_key;  // delegation.token.secret.key; empty: there are no tokens
  security::TokenLimits limits;
  std::int64_t check_interval_ms = 3'600'000;  // delegation.token.expiry.check.interval.ms
};

class DelegationTokens {
 public:
  // `pool` is where passwords are made to keys, which takes milliseconds.
  DelegationTokens(const TokenSettings& settings, runtime::Executor& pool);

  [[nodiscard]] bool enabled() const { return key_.has_value(); }
  // The secret key; only where tokens are enabled.
  [[nodiscard]] const security::TokenKey& key() const { return *key_; }

  // Takes all tokens of a view of the metadata.
  void load(const metadata::Snapshot& snapshot);
  // Takes what a change did to the token.
  void apply(const metadata::Snapshot& snapshot, const std::string& token_id);

  // The id of the token with the HMAC, or null.
  [[nodiscard]] const std::string* find(std::string_view hmac) const;

  // The credential that logs the token in, computed once for each mechanism.
  runtime::Awaitable<records::ScramCredential> credential_of(std::string token_id, records::ScramMechanism mechanism);

 private:
  using Credentials = std::map<records::ScramMechanism, records::ScramCredential>;

  runtime::Executor& pool_;
  std::optional<security::TokenKey> key_;
  std::unordered_map<std::string, std::string, base::TextHash, base::TextEqual> ids_;  // by HMAC
  std::unordered_map<std::string, Credentials> credentials_;                           // of tokens that there are
};

// Logs how many tokens were made under another secret key: nobody who holds one can log in with it any more.
void warn_of_other_keys(const metadata::Snapshot& snapshot, const TokenSettings& settings);

}  // namespace thalweg::broker
