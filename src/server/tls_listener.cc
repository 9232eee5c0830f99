#include "server/tls_listener.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "base/letter_case.h"
#include "base/log.h"
#include "runtime/tls_stream.h"
#include "security/key_store.h"

namespace thalweg::server {

namespace {

constexpr std::string_view kArea = "tls";
constexpr std::string_view kKeyStore = "ssl.keystore.location";
constexpr std::string_view kKeyStoreType = "ssl.keystore.type";
constexpr std::string_view kKeyStorePassword = "ssl.keystore.password";
constexpr std::string_view kKey = "ssl.keystore.key";
constexpr std::string_view kChain = "ssl.keystore.certificate.chain";
constexpr std::string_view kKeyPassword = "ssl.key.password";
constexpr std::string_view kTrustStore = "ssl.truststore.location";
constexpr std::string_view kTrustStoreType = "ssl.truststore.type";
constexpr std::string_view kTrustStorePassword = "ssl.truststore.password";
constexpr std::string_view kTrusted = "ssl.truststore.certificates";
constexpr std::string_view kRules = "ssl.principal.mapping.rules";

// Forms of a store. JKS, the default, stands for what Java makes of it: its own format or PKCS#12.
enum class StoreType : std::uint8_t { pem, binary };
std::optional<StoreType> parse_store_type(std::string_view type) {
  const std::string name = base::upper_case(type);
  if (name == "PEM") return StoreType::pem;
  if (name == "PKCS12" || name == "JKS") return StoreType::binary;
  return std::nullopt;
}

constexpr std::string_view kTypesAllowed = "allowed: PEM, PKCS12, JKS";

}  // namespace

base::Result<std::unique_ptr<TlsListener>, std::string> TlsListener::open(const config::Config& config,
                                                                          const config::Endpoint& endpoint,
                                                                          const base::Clock& clock) {
  std::unique_ptr<TlsListener> listener(new TlsListener(config, endpoint, clock));
  ASSIGN_OR_RETURN(listener->client_auth_, listener->client_auth());
  auto mapping = security::PrincipalMapping::parse(config.get_string(kRules, listener->scope()));
  if (!mapping) return listener->fault(kRules, mapping.error());
  listener->mapping_ = std::move(*mapping);
  ASSIGN_OR_RETURN(listener->current_, listener->read());
  return listener;
}

std::unexpected<std::string> TlsListener::fault(std::string_view key, std::string_view what) const {
  const config::ConfigKey* known = config_.table().find(key);
  std::string name = fmt::format("listener.name.{}.{}", base::lower_case(name_), key);
  if (!config_.is_set(name)) name = key;
  std::string value;
  if (known != nullptr && config_.is_set(name) && !known->sensitive())
    value = fmt::format("={}", config_.find(name)->value);
  return std::unexpected(fmt::format("{}{}{}: listener {}: {}", config_.where(name), name, value, name_, what));
}

base::Result<runtime::ClientAuth, std::string> TlsListener::client_auth() const {
  constexpr std::string_view kClientAuth = "ssl.client.auth";
  // Where SASL says who a client is, only a listener's own key asks for certificates, as in Kafka.
  if (config::uses_sasl(protocol_) &&
      !config_.is_set(fmt::format("listener.name.{}.{}", base::lower_case(name_), kClientAuth))) {
    if (config_.is_set(kClientAuth))
      LOG_WARN(kArea, "listener {}: ssl.client.auth has no effect on a listener with SASL; set listener.name.{}.{}",
               name_, base::lower_case(name_), kClientAuth);
    return runtime::ClientAuth::none;
  }
  const auto auth = runtime::parse_client_auth(config_.get_string(kClientAuth, scope()));
  if (!auth) return fault(kClientAuth, "allowed: none, requested, required");
  return *auth;
}

base::Result<std::string, std::string> TlsListener::read_file(State& state, std::string_view key,
                                                              const std::string& path) const {
  state.files[path] = stamp_of(path);
  const auto unreadable = [&](int error) {
    return fault(key, fmt::format("cannot be read: {}", std::generic_category().message(error)));
  };
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return unreadable(EISDIR);
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in.is_open()) return unreadable(errno);
  std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad()) return unreadable(errno);
  if (bytes.empty()) return fault(key, "the file is empty");
  return bytes;
}

base::Result<security::KeyAndChain, std::string> TlsListener::identity_in_file(const std::string& bytes,
                                                                               const std::string& path) const {
  const auto type = parse_store_type(config_.get_string(kKeyStoreType, scope()));
  const auto password = config_.find_password(kKeyStorePassword, scope());
  const auto key_password = config_.find_password(kKeyPassword, scope());
  if (type == StoreType::pem) {
    if (password) return fault(kKeyStorePassword, "a PEM store has none; the key's own is ssl.key.password");
    auto pair = security::key_from_pem(bytes, key_password);
    if (!pair) return fault(kKeyStore, pair.error());
    return pair;
  }
  if (security::is_java_key_store(bytes)) return fault(kKeyStore, security::how_to_convert(path));
  if (!password) return fault(kKeyStore, "ssl.keystore.password is missing");
  auto pair = security::key_from_pkcs12(bytes, *password, key_password);
  if (!pair && bytes.contains("-----BEGIN"))
    return fault(kKeyStoreType, "the file holds PEM text; set ssl.keystore.type=PEM");
  if (!pair) return fault(kKeyStore, pair.error());
  return pair;
}

base::Result<security::KeyAndChain, std::string> TlsListener::read_identity(State& state) const {
  const std::string type = config_.get_string(kKeyStoreType, scope());
  if (!parse_store_type(type)) return fault(kKeyStoreType, kTypesAllowed);
  const auto path = config_.find_string(kKeyStore, scope());
  const auto key = config_.find_password(kKey, scope());
  const auto chain = config_.find_password(kChain, scope());
  if (!key && !chain) {
    if (!path)
      return fault(kKeyStore,
                   "TLS needs the broker's key and certificate: set ssl.keystore.location, or ssl.keystore.key "
                   "and ssl.keystore.certificate.chain with ssl.keystore.type=PEM");
    ASSIGN_OR_RETURN(const std::string bytes, read_file(state, kKeyStore, *path));
    return identity_in_file(bytes, *path);
  }
  if (parse_store_type(type) != StoreType::pem)
    return fault(kKeyStoreType,
                 "ssl.keystore.key and ssl.keystore.certificate.chain are PEM text; set ssl.keystore.type=PEM");
  if (!chain) return fault(kKey, "ssl.keystore.certificate.chain is missing");
  if (!key) return fault(kChain, "ssl.keystore.key is missing");
  if (path) return fault(kKeyStore, "ssl.keystore.key is set too; only one of them may be");
  if (config_.find_password(kKeyStorePassword, scope()))
    return fault(kKeyStorePassword, "a PEM store has none; the key's own is ssl.key.password");
  auto pair = security::key_from_pem(*key, *chain, config_.find_password(kKeyPassword, scope()));
  if (!pair) return fault(kKey, pair.error());
  return pair;
}

base::Result<std::vector<security::Certificate>, std::string> TlsListener::read_trusted(State& state,
                                                                                        const std::string& path) const {
  ASSIGN_OR_RETURN(const std::string bytes, read_file(state, kTrustStore, path));
  const auto password = config_.find_password(kTrustStorePassword, scope());
  if (parse_store_type(config_.get_string(kTrustStoreType, scope())) == StoreType::pem) {
    if (password) return fault(kTrustStorePassword, "a PEM store has none");
    auto trusted = security::certificates_from_pem(bytes);
    if (!trusted) return fault(kTrustStore, trusted.error());
    return trusted;
  }
  if (security::is_java_key_store(bytes)) return fault(kTrustStore, security::how_to_convert(path));
  auto trusted = security::trusted_from_pkcs12(bytes, password);
  if (!trusted && bytes.contains("-----BEGIN"))
    return fault(kTrustStoreType, "the file holds PEM text; set ssl.truststore.type=PEM");
  if (!trusted) return fault(kTrustStore, trusted.error());
  return trusted;
}

base::Result<TlsListener::State, std::string> TlsListener::read() const {
  State state;
  ASSIGN_OR_RETURN(state.identity, read_identity(state));

  const std::string type = config_.get_string(kTrustStoreType, scope());
  if (!parse_store_type(type)) return fault(kTrustStoreType, kTypesAllowed);
  const auto path = config_.find_string(kTrustStore, scope());
  const auto text = config_.find_password(kTrusted, scope());
  std::optional<std::vector<security::Certificate>> trusted;
  if (text) {
    if (parse_store_type(type) != StoreType::pem)
      return fault(kTrustStoreType, "ssl.truststore.certificates is PEM text; set ssl.truststore.type=PEM");
    if (path) return fault(kTrustStore, "ssl.truststore.certificates is set too; only one of them may be");
    auto read = security::certificates_from_pem(*text);
    if (!read) return fault(kTrusted, read.error());
    trusted = std::move(*read);
  } else if (path) {
    ASSIGN_OR_RETURN(trusted, read_trusted(state, *path));
  } else if (config_.find_password(kTrustStorePassword, scope())) {
    return fault(kTrustStorePassword, "ssl.truststore.location is missing");
  }
  state.trusted = trusted ? trusted->size() : 0;
  state.trusts_system = !trusted && client_auth_ != runtime::ClientAuth::none;

  auto tls = runtime::make_tls_context({.protocols = config_.get_list("ssl.enabled.protocols", scope()),
                                        .cipher_suites = config_.get_list("ssl.cipher.suites", scope()),
                                        .client_auth = client_auth_,
                                        .key = state.identity.key,
                                        .chain = state.identity.chain,
                                        .trusted = std::move(trusted)});
  if (!tls)
    return fault(tls.error().key == "ssl.keystore" ? kKeyStore : std::string_view(tls.error().key), tls.error().what);
  state.tls = std::move(*tls);
  return state;
}

std::string TlsListener::description() const {
  const security::Certificate& own = current_.identity.chain.front();
  std::string names = fmt::format("{}", fmt::join(security::alternative_names_of(own.get()), ", "));
  std::string line =
      fmt::format("{}; certificate of {}{}, until {}; client certificates {}", fmt::join(current_.tls.protocols, ", "),
                  security::subject_of(own.get()), names.empty() ? "" : " for " + names, security::end_of(own.get()),
                  runtime::name_of(client_auth_));
  if (current_.trusted > 0)
    line += fmt::format(", {} trusted certificate{}", current_.trusted, current_.trusted == 1 ? "" : "s");
  line += fmt::format(
      "; encrypted by {}; ciphers {}",
      runtime::kernel_offers_tls() ? "the kernel where it knows the cipher" : "OpenSSL, for the kernel offers no TLS",
      fmt::join(current_.tls.ciphers, ", "));
  return line;
}

void TlsListener::log_state(std::string_view what) const {
  LOG_INFO(kArea, "listener {}: {}{}", name_, what, description());
  const X509* own = current_.identity.chain.front().get();
  const auto validity = security::validity_at(own, clock_.wall_ms());
  if (validity == security::Validity::expired)
    LOG_WARN(kArea, "listener {}: the certificate has expired ({}); clients will refuse it", name_,
             security::end_of(own));
  if (validity == security::Validity::not_yet)
    LOG_WARN(kArea, "listener {}: the certificate is not yet valid; clients will refuse it", name_);
  if (current_.trusts_system)
    LOG_WARN(
        kArea,
        "listener {}: ssl.truststore.location is not set: clients with a certificate of any authority that the system "
        "trusts are let in",
        name_);
}

base::Result<broker::Principal, std::string> TlsListener::principal_of(const X509* certificate) const {
  if (certificate == nullptr) return broker::Principal();
  const std::string subject = security::subject_of(certificate);
  auto user = mapping_.user_name(subject);
  if (!user) return std::unexpected(fmt::format("no rule of ssl.principal.mapping.rules applies to {}", subject));
  return broker::Principal("User", std::move(*user));
}

TlsListener::Stamp TlsListener::stamp_of(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0 || S_ISDIR(info.st_mode)) return {};
  return {.changed_ns = static_cast<std::int64_t>(info.st_mtim.tv_sec) * 1'000'000'000 + info.st_mtim.tv_nsec,
          .size = static_cast<std::int64_t>(info.st_size),
          .inode = info.st_ino};
}

bool TlsListener::files_changed() const {
  // What could not be used is not tried again until it changes again.
  const auto& known = refused_.empty() ? current_.files : refused_;
  return std::ranges::any_of(known, [](const auto& file) { return stamp_of(file.first) != file.second; });
}

std::shared_ptr<SSL_CTX> TlsListener::reload(Force force) {
  if (force == Force::no && !files_changed()) return nullptr;
  std::map<std::string, Stamp> seen;
  for (const auto& [path, stamp] : current_.files) seen[path] = stamp_of(path);
  auto next = read();
  if (next) {
    const security::AllowedChanges allowed{.distinguished_name = config_.get_bool("ssl.allow.dn.changes", scope()),
                                           .alternative_names = config_.get_bool("ssl.allow.san.changes", scope())};
    const auto fits =
        security::check_replacement(current_.identity.chain.front().get(), next->identity.chain.front().get(), allowed);
    if (!fits)
      next = std::unexpected(fmt::format("{}=false: listener {}: {}", fits.error().key, name_, fits.error().what));
  }
  if (!next) {
    refused_ = std::move(seen);
    LOG_ERROR(kArea, "what was in use stays in use: {}", next.error());
    return nullptr;
  }
  refused_.clear();
  current_ = std::move(*next);
  log_state("read again: ");
  return current_.tls.context;
}

}  // namespace thalweg::server
