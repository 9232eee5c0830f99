#include "runtime/tls_context.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <openssl/err.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace thalweg::runtime {

namespace {

constexpr std::string_view kProtocolsKey = "ssl.enabled.protocols";
constexpr std::string_view kCiphersKey = "ssl.cipher.suites";

std::unexpected<TlsFault> fault(std::string_view key, std::string what) {
  return std::unexpected(TlsFault{.key = std::string(key), .what = std::move(what)});
}
// With what OpenSSL has to say about the failure.
std::unexpected<TlsFault> openssl_fault(std::string_view key, std::string_view what) {
  const unsigned long first = ERR_get_error();
  ERR_clear_error();
  const char* reason = first == 0 ? nullptr : ERR_reason_error_string(first);
  return fault(key, reason == nullptr ? std::string(what) : fmt::format("{} ({})", what, reason));
}

struct Protocol {
  std::string_view name;
  int version;
};
constexpr std::array kProtocols = {Protocol{"TLSv1.2", TLS1_2_VERSION}, Protocol{"TLSv1.3", TLS1_3_VERSION}};

struct Versions {
  bool tls12 = false;
  bool tls13 = false;
};

base::Result<Versions, TlsFault> versions_of(const std::vector<std::string>& names) {
  Versions versions;
  for (const std::string& name : names) {
    if (name == kProtocols[0].name) {
      versions.tls12 = true;
    } else if (name == kProtocols[1].name) {
      versions.tls13 = true;
    } else {
      return fault(kProtocolsKey, fmt::format("{} is not offered; allowed: TLSv1.2, TLSv1.3", name));
    }
  }
  if (!versions.tls12 && !versions.tls13) return fault(kProtocolsKey, "none is named; allowed: TLSv1.2, TLSv1.3");
  return versions;
}

// The suites in the two lists that OpenSSL keeps.
struct Suites {
  std::vector<std::string> tls12;  // OpenSSL's names
  std::vector<std::string> tls13;
};

// A client's sign that it knows of safe renegotiation: Java lists it among the suites.
constexpr std::string_view kRenegotiationSign = "TLS_EMPTY_RENEGOTIATION_INFO_SCSV";

base::Result<Suites, TlsFault> suites_of(const std::vector<std::string>& names) {
  Suites suites;
  for (const std::string& name : names) {
    if (name == kRenegotiationSign) continue;
    // The names of TLS 1.3 suites do not say how keys are agreed on and are the same everywhere.
    if (name.starts_with("TLS_") && !name.contains("_WITH_")) {
      suites.tls13.push_back(name);
      continue;
    }
    const std::string own_name = OPENSSL_cipher_name(name.c_str());
    if (own_name == "(NONE)") return fault(kCiphersKey, fmt::format("{} is no cipher suite that OpenSSL offers", name));
    suites.tls12.push_back(own_name);
  }
  if (suites.tls12.empty() && suites.tls13.empty()) return fault(kCiphersKey, "no cipher suite is named");
  return suites;
}

base::Result<void, TlsFault> set_protocols_and_ciphers(SSL_CTX* context, const TlsOptions& options) {
  ASSIGN_OR_RETURN(Versions versions, versions_of(options.protocols));
  if (!options.cipher_suites.empty()) {
    ASSIGN_OR_RETURN(const Suites suites, suites_of(options.cipher_suites));
    // A version without a suite is not offered.
    versions.tls12 = versions.tls12 && !suites.tls12.empty();
    versions.tls13 = versions.tls13 && !suites.tls13.empty();
    if (!versions.tls12 && !versions.tls13)
      return fault(kCiphersKey, fmt::format("none of the suites is of a protocol in ssl.enabled.protocols ({})",
                                            fmt::join(options.protocols, ", ")));
    if (versions.tls13 &&
        SSL_CTX_set_ciphersuites(context, fmt::format("{}", fmt::join(suites.tls13, ":")).c_str()) != 1)
      return openssl_fault(kCiphersKey, fmt::format("{} cannot be offered", fmt::join(suites.tls13, ", ")));
    if (versions.tls12 &&
        SSL_CTX_set_cipher_list(context, fmt::format("{}", fmt::join(suites.tls12, ":")).c_str()) != 1)
      return openssl_fault(kCiphersKey, fmt::format("{} cannot be offered", fmt::join(options.cipher_suites, ", ")));
  } else if (SSL_CTX_set_cipher_list(context, kDefaultCiphers) != 1) {
    return openssl_fault(kCiphersKey, "the default suites cannot be offered");
  }
  SSL_CTX_set_min_proto_version(context, versions.tls12 ? TLS1_2_VERSION : TLS1_3_VERSION);
  SSL_CTX_set_max_proto_version(context, versions.tls13 ? TLS1_3_VERSION : TLS1_2_VERSION);
  return {};
}

base::Result<void, TlsFault> set_identity(SSL_CTX* context, const TlsOptions& identity) {
  constexpr std::string_view kKey = "ssl.keystore";
  if (SSL_CTX_use_certificate(context, identity.chain.front().get()) != 1)
    return openssl_fault(kKey, "the certificate cannot be used");
  for (std::size_t i = 1; i < identity.chain.size(); ++i)
    if (SSL_CTX_add1_chain_cert(context, identity.chain[i].get()) != 1)
      return openssl_fault(kKey, "an issuer's certificate cannot be used");
  if (SSL_CTX_use_PrivateKey(context, identity.key.get()) != 1)
    return openssl_fault(kKey, "the private key cannot be used");
  return {};
}

base::Result<void, TlsFault> set_trust(SSL_CTX* context, const TlsOptions& options) {
  constexpr std::string_view kKey = "ssl.truststore";
  if (options.client_auth == ClientAuth::none) {
    SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nullptr);
    return {};
  }
  SSL_CTX_set_verify(
      context, SSL_VERIFY_PEER | (options.client_auth == ClientAuth::required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
      nullptr);
  if (!options.trusted) {
    if (SSL_CTX_set_default_verify_paths(context) != 1)
      return openssl_fault(kKey, "the authorities that the system trusts cannot be read");
    return {};
  }
  // As in Java, what is trusted need not be an authority at the top of a chain.
  X509_STORE* store = SSL_CTX_get_cert_store(context);
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  for (const auto& certificate : *options.trusted) {
    if (X509_STORE_add_cert(store, certificate.get()) != 1)
      return openssl_fault(kKey, "a trusted certificate cannot be used");
    SSL_CTX_add_client_CA(context, certificate.get());
  }
  return {};
}

// What a connection would offer, in its order.
void describe(TlsContext& config) {
  const std::unique_ptr<SSL, decltype(&SSL_free)> probe(SSL_new(config.context.get()), SSL_free);
  if (probe == nullptr) return;
  for (const Protocol& protocol : kProtocols)
    if (SSL_get_min_proto_version(probe.get()) <= protocol.version &&
        protocol.version <= SSL_get_max_proto_version(probe.get()))
      config.protocols.emplace_back(protocol.name);
  const std::unique_ptr<STACK_OF(SSL_CIPHER), void (*)(STACK_OF(SSL_CIPHER)*)> ciphers(
      SSL_get1_supported_ciphers(probe.get()), [](STACK_OF(SSL_CIPHER) * list) { sk_SSL_CIPHER_free(list); });
  for (int i = 0; ciphers != nullptr && i < sk_SSL_CIPHER_num(ciphers.get()); ++i)
    config.ciphers.emplace_back(SSL_CIPHER_standard_name(sk_SSL_CIPHER_value(ciphers.get(), i)));
}

}  // namespace

std::string_view name_of(ClientAuth auth) {
  switch (auth) {
    case ClientAuth::none:
      return "none";
    case ClientAuth::requested:
      return "requested";
    case ClientAuth::required:
      return "required";
  }
  return {};
}

std::optional<ClientAuth> parse_client_auth(std::string_view word) {
  std::string lower(word);
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  for (const ClientAuth auth : {ClientAuth::none, ClientAuth::requested, ClientAuth::required})
    if (lower == name_of(auth)) return auth;
  return std::nullopt;
}

base::Result<TlsContext, TlsFault> make_tls_context(const TlsOptions& options) {
  ERR_clear_error();
  TlsContext config;
  config.context = std::shared_ptr<SSL_CTX>(SSL_CTX_new(TLS_server_method()), SSL_CTX_free);
  SSL_CTX* context = config.context.get();
  if (context == nullptr) return openssl_fault("ssl", "OpenSSL makes no context");
  SSL_CTX_set_options(context, SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                                   SSL_OP_PRIORITIZE_CHACHA | SSL_OP_IGNORE_UNEXPECTED_EOF | SSL_OP_ENABLE_KTLS);
  SSL_CTX_set_mode(context,
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_dh_auto(context, 1);
  // Sessions are resumed by tickets alone, which cost no memory here; a new context has new keys for them, so nobody
  // comes back by a ticket of before a reload.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  constexpr std::string_view kSessions = "thalweg";
  SSL_CTX_set_session_id_context(context, reinterpret_cast<const unsigned char*>(kSessions.data()), kSessions.size());
  SSL_CTX_set_num_tickets(context, 1);
  TRY(set_protocols_and_ciphers(context, options));
  TRY(set_identity(context, options));
  TRY(set_trust(context, options));
  describe(config);
  if (config.ciphers.empty()) return fault(kCiphersKey, "no cipher suite is left to offer");
  return config;
}

}  // namespace thalweg::runtime
