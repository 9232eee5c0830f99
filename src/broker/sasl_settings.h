// What a listener with SASL asks of its clients, read from the configuration.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "config/listeners.h"
#include "security/sasl_plain.h"

namespace thalweg::broker {

struct SaslMechanism {
  std::string name;                // PLAIN, SCRAM-SHA-256, SCRAM-SHA-512
  std::int64_t max_reauth_ms = 0;  // connections.max.reauth.ms; 0: a login does not end
};

struct SaslListener {
  std::vector<SaslMechanism> mechanisms;  // those enabled, in the order of the configuration
  security::PlainUsers plain_users;

  // The mechanism, or null where it is not enabled.
  [[nodiscard]] const SaslMechanism* find(std::string_view mechanism) const;
};

// The listeners with SASL by their names.
using SaslListeners = std::map<std::string, std::shared_ptr<const SaslListener>, std::less<>>;

// Reads them.
//   errors   one line: what, where, what is allowed; never a secret
base::Result<SaslListeners, std::string> read_sasl(const config::Config& config, const config::Listeners& listeners);

}  // namespace thalweg::broker
