// TlsListener: what a listener that speaks TLS offers. Reads the stores that its keys name, and reads them again when
// they change.
#pragma once

#include <openssl/ssl.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "broker/request_context.h"
#include "config/config.h"
#include "config/listeners.h"
#include "runtime/tls_context.h"
#include "security/certificates.h"
#include "security/principal_mapping.h"

namespace thalweg::server {

class TlsListener {
 public:
  // Reads keys, stores and rules. Blocks.
  //   errors   one line: listener, place, key, what is wrong, what is allowed; never a secret
  static base::Result<std::unique_ptr<TlsListener>, std::string> open(const config::Config& config,
                                                                      const config::Endpoint& endpoint,
                                                                      const base::Clock& clock);

  // Reads the stores again, where `force` is set or a file has changed since. Blocks; on the thread that opened it.
  //   returns  the context for connections from now on; null where nothing has changed, or where what was read cannot
  //            be used: that is logged, and the old one stays in use
  enum class Force : std::uint8_t { no, yes };
  std::shared_ptr<SSL_CTX> reload(Force force);

  // The context that was made last.
  [[nodiscard]] std::shared_ptr<SSL_CTX> context() const { return current_.tls.context; }
  // Whose certificate is shown, until when, and what is offered, in one line.
  [[nodiscard]] std::string description() const;
  // Logs what is active, and what is about to go wrong.
  void log_state(std::string_view what) const;

  // Who has shown a certificate; User:ANONYMOUS for who has not. Any thread.
  //   errors   no rule of ssl.principal.mapping.rules applies
  [[nodiscard]] base::Result<broker::Principal, std::string> principal_of(const X509* certificate) const;

 private:
  // How a file looked when it was read.
  struct Stamp {
    std::int64_t changed_ns = 0;
    std::int64_t size = -1;
    std::uint64_t inode = 0;
    friend bool operator==(const Stamp&, const Stamp&) = default;
  };
  struct State {
    runtime::TlsContext tls;
    security::KeyAndChain identity;
    std::size_t trusted = 0;
    bool trusts_system = false;
    std::map<std::string, Stamp> files;
  };

  TlsListener(const config::Config& config, const config::Endpoint& endpoint, const base::Clock& clock)
      : config_(config), name_(endpoint.listener), protocol_(endpoint.protocol), clock_(clock) {}

  base::Result<State, std::string> read() const;
  base::Result<security::KeyAndChain, std::string> read_identity(State& state) const;
  base::Result<std::vector<security::Certificate>, std::string> read_trusted(State& state,
                                                                             const std::string& path) const;
  base::Result<security::KeyAndChain, std::string> identity_in_file(const std::string& bytes,
                                                                    const std::string& path) const;
  base::Result<std::string, std::string> read_file(State& state, std::string_view key, const std::string& path) const;
  base::Result<runtime::ClientAuth, std::string> client_auth() const;

  [[nodiscard]] config::Scope scope() const { return {.listener = name_}; }
  // The line about a key as it was set: with the listener's prefix or without, with its value unless that is secret.
  [[nodiscard]] std::unexpected<std::string> fault(std::string_view key, std::string_view what) const;
  static Stamp stamp_of(const std::string& path);
  [[nodiscard]] bool files_changed() const;

  const config::Config config_;
  const std::string name_;
  const config::SecurityProtocol protocol_;
  const base::Clock& clock_;
  runtime::ClientAuth client_auth_ = runtime::ClientAuth::none;
  security::PrincipalMapping mapping_;
  State current_;
  std::map<std::string, Stamp> refused_;  // the files as they were when they could not be used
};

}  // namespace thalweg::server
