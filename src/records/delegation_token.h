// A delegation token as it is stored: all but its HMAC, which is computed anew from the secret key whenever it is asked
// for, so that nobody can log in with what the store holds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace thalweg::records {

struct DelegationToken {
  std::string token_id{};
  std::string owner{};      // TYPE:NAME, who a login with the token is
  std::string requester{};  // TYPE:NAME, who asked for it
  std::vector<std::string> renewers{};
  std::int64_t issued_ms = 0;
  std::int64_t expires_ms = 0;
  std::int64_t max_ms = 0;      // no renewal goes beyond
  std::uint32_t key_check = 0;  // of the secret key that it was made under; too short to find the key by
  friend bool operator==(const DelegationToken&, const DelegationToken&) = default;
};

}  // namespace thalweg::records
