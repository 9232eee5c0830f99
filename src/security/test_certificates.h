// Certificates made for a test, by OpenSSL, in memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "security/certificates.h"

namespace thalweg::security::test {

struct Pair {
  Certificate certificate;
  PrivateKey key;
};

struct Wanted {
  std::vector<std::pair<std::string, std::string>> subject = {{"CN", "localhost"}};
  std::string names = "DNS:localhost,IP:127.0.0.1";  // subject alternative names; empty: none
  std::int64_t begins_in_s = -86'400;
  std::int64_t ends_in_s = 86'400;
  bool authority = false;
};

// A certificate with a new key on the curve P-256, signed by `issuer` or by itself.
Pair make(const Wanted& wanted, const Pair* issuer = nullptr);
// An authority of that name.
Pair make_authority(std::string name);
// For a client of that name, from `issuer`.
Pair make_client(std::string name, const Pair& issuer);

std::string pem(const Certificate& certificate);
// In the form of PKCS#8; encrypted where there is a password.
std::string pem(const PrivateKey& key, std::string_view password = {});
// A PKCS#12 file: a key with its certificate and others, or certificates alone where there is no key.
//   key_password   of the key alone; empty: the same
std::string pkcs12(const Pair* pair, const std::vector<Certificate>& others, const std::string& password,
                   const std::string& key_password = {});

}  // namespace thalweg::security::test
