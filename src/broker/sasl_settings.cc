#include "broker/sasl_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/letter_case.h"
#include "runtime/secure_random.h"
#include "security/jaas.h"
#include "security/scram_credential.h"

namespace thalweg::broker {

namespace {

using base::Result;
using security::LoginModule;

constexpr std::string_view kJaas = "sasl.jaas.config";
constexpr std::string_view kMechanisms = "sasl.enabled.mechanisms";
constexpr std::string_view kUserOption = "user_";
constexpr std::string_view kServed = "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512";

std::unexpected<std::string> wrong(const config::Config& config, std::string_view key, std::string_view what) {
  return std::unexpected(fmt::format("{}{}: {}", config.where(key), key, what));
}

// Reads the mechanism's own line. As in Kafka, one without listener and mechanism in its name counts for no listener.
Result<void, std::string> read_jaas(const config::Config& config, const std::string& listener,
                                    const SaslMechanism& mechanism, SaslListener& into) {
  const bool is_plain = mechanism.name == "PLAIN";
  const std::string key =
      fmt::format("listener.name.{}.{}.{}", base::lower_case(listener), base::lower_case(mechanism.name), kJaas);
  const config::Setting* const line = config.find(key);
  if (line == nullptr) {
    // The users of SCRAM are in the store, so there is nothing that a line could say.
    if (!is_plain) return {};
    return std::unexpected(
        fmt::format("{} is not set: PLAIN on listener {} needs its users there, as "
                    "org.apache.kafka.common.security.plain.PlainLoginModule required user_NAME=\"PASSWORD\";",
                    key, listener));
  }
  const auto jaas = security::parse_jaas(line->value);
  if (!jaas) return wrong(config, key, jaas.error());
  const LoginModule wanted = is_plain ? LoginModule::plain : LoginModule::scram;
  if (jaas->module != wanted)
    return wrong(
        config, key,
        fmt::format("its login module is for {}, not for {}", security::mechanisms_of(jaas->module), mechanism.name));
  if (!is_plain) return {};
  for (const auto& [option, value] : jaas->options) {
    if (!option.starts_with(kUserOption)) continue;  // username and password are for logins of the broker's own
    const std::string user = option.substr(kUserOption.size());
    if (user.empty() || value.empty()) return wrong(config, key, fmt::format("{} needs a name and a password", option));
    into.plain_users.add(user, value);
  }
  return {};
}

Result<std::shared_ptr<const SaslListener>, std::string> read_listener(const config::Config& config,
                                                                       const std::string& name) {
  auto listener = std::make_shared<SaslListener>(
      SaslListener{.mechanisms = {}, .plain_users = security::PlainUsers(runtime::secure_random_bytes(32))});
  for (const std::string& mechanism : config.get_list(kMechanisms, {.listener = name})) {
    if (mechanism != "PLAIN" && !security::scram_mechanism(mechanism))
      return wrong(
          config, kMechanisms,
          fmt::format("{} on listener {} is not served by this release; allowed: {}", mechanism, name, kServed));
    listener->mechanisms.push_back(
        {.name = mechanism,
         .max_reauth_ms = config.get_long("connections.max.reauth.ms", {.listener = name, .mechanism = mechanism})});
    TRY(read_jaas(config, name, listener->mechanisms.back(), *listener));
  }
  if (listener->mechanisms.empty())
    return wrong(config, kMechanisms, fmt::format("listener {} needs one of {}", name, kServed));
  return listener;
}

}  // namespace

const SaslMechanism* SaslListener::find(std::string_view mechanism) const {
  const auto found = std::ranges::find(mechanisms, mechanism, &SaslMechanism::name);
  return found == mechanisms.end() ? nullptr : &*found;
}

Result<SaslListeners, std::string> read_sasl(const config::Config& config, const config::Listeners& listeners) {
  SaslListeners result;
  for (const config::Endpoint& endpoint : listeners.bound) {
    if (!config::uses_sasl(endpoint.protocol)) continue;
    ASSIGN_OR_RETURN(auto listener, read_listener(config, endpoint.listener));
    result.emplace(endpoint.listener, std::move(listener));
  }
  return result;
}

}  // namespace thalweg::broker
