// TlsContext: what a listener offers over TLS, from the values of Kafka's keys to a context that OpenSSL makes
// connections from.
#pragma once

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace thalweg::runtime {

// Whether clients must, may or do not show a certificate: `ssl.client.auth`.
enum class ClientAuth : std::uint8_t { none, requested, required };

// "none", "requested", "required"
std::string_view name_of(ClientAuth auth);
// Nothing for another word; case does not matter.
std::optional<ClientAuth> parse_client_auth(std::string_view word);

struct TlsOptions {
  std::vector<std::string> protocols;      // ssl.enabled.protocols
  std::vector<std::string> cipher_suites;  // ssl.cipher.suites, by their IANA names; empty: kDefaultCiphers
  ClientAuth client_auth = ClientAuth::none;
  std::shared_ptr<EVP_PKEY> key;
  std::vector<std::shared_ptr<X509>> chain;                   // the key's certificate, then its issuers
  std::optional<std::vector<std::shared_ptr<X509>>> trusted;  // whose clients are; none: the system's authorities
};

// What was wrong with which key.
struct TlsFault {
  std::string key;  // "ssl.cipher.suites"
  std::string what;
};

// What TLS 1.2 offers unless told: forward secrecy and authenticated encryption only. TLS 1.3 has nothing else.
inline constexpr const char* kDefaultCiphers = "ECDHE+AESGCM:ECDHE+CHACHA20:DHE+AESGCM:DHE+CHACHA20:!aDSS";

struct TlsContext {
  std::shared_ptr<SSL_CTX> context;
  std::vector<std::string> protocols;  // offered: "TLSv1.2", "TLSv1.3"
  std::vector<std::string> ciphers;    // offered, by their IANA names, best first
};

// Makes a server's context.
base::Result<TlsContext, TlsFault> make_tls_context(const TlsOptions& options);

}  // namespace thalweg::runtime
