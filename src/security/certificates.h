// Certificates and private keys as OpenSSL holds them, with what people want to read of them.
#pragma once

#include <openssl/evp.h>
#include <openssl/x509.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace thalweg::security {

using Certificate = std::shared_ptr<X509>;
using PrivateKey = std::shared_ptr<EVP_PKEY>;

// What the other side is shown: the certificate of the key first, then its issuers as far as they are there.
struct KeyAndChain {
  PrivateKey key;
  std::vector<Certificate> chain;
};

// Take over what they are given.
Certificate own(X509* certificate);
PrivateKey own(EVP_PKEY* key);

// Who the certificate is of, as Java's X500Principal prints it.
std::string subject_of(const X509* certificate);
// Subject alternative names, sorted: "DNS:broker.example", "IP Address:127.0.0.1".
std::vector<std::string> alternative_names_of(const X509* certificate);
// "2027-01-31 12:00:00 UTC"
std::string end_of(const X509* certificate);

// Whether the certificate is in force at a time.
enum class Validity : std::uint8_t { not_yet, valid, expired };
Validity validity_at(const X509* certificate, std::int64_t wall_ms);

// Whether a certificate may take the place of another while clients know the old one: Kafka's rule behind
// ssl.allow.dn.changes and ssl.allow.san.changes.
//   errors   which key forbids it, and what differs
struct AllowedChanges {
  bool distinguished_name = false;
  bool alternative_names = false;
};
struct Forbidden {
  std::string key;
  std::string what;
};
base::Result<void, Forbidden> check_replacement(const X509* before, const X509* after, AllowedChanges allowed);

// What OpenSSL has to say about the last failure of this thread, which is forgotten: "bad decrypt". Empty where it says
// nothing.
std::string take_openssl_reason();

}  // namespace thalweg::security
