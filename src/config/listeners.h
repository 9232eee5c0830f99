// The addresses a broker binds and those it hands out.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace thalweg::config {

// Kafka's security protocols with their numbers.
enum class SecurityProtocol : std::uint8_t { plaintext = 0, ssl = 1, sasl_plaintext = 2, sasl_ssl = 3 };

// The name of the protocol in configurations: PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL.
std::string_view protocol_name(SecurityProtocol protocol);

// The protocol of that name, in any case.
std::optional<SecurityProtocol> parse_protocol(std::string_view name);

constexpr bool uses_tls(SecurityProtocol protocol) {
  return protocol == SecurityProtocol::ssl || protocol == SecurityProtocol::sasl_ssl;
}
constexpr bool uses_sasl(SecurityProtocol protocol) {
  return protocol == SecurityProtocol::sasl_plaintext || protocol == SecurityProtocol::sasl_ssl;
}

// `NAME://host:port`.
struct Endpoint {
  std::string listener;  // in upper case, as names are compared
  SecurityProtocol protocol = SecurityProtocol::plaintext;
  std::string host;  // empty: every interface when bound, this machine's name when advertised; IPv6 without brackets
  std::uint16_t port = 0;  // 0: a free port when bound, that port when advertised

  bool operator==(const Endpoint&) const = default;
};

struct Listeners {
  std::vector<Endpoint> bound;       // without those of `controller.listener.names`, which are not opened
  std::vector<Endpoint> advertised;  // at most one for each bound listener
  std::string inter_broker;          // name of the listener that other brokers of a fleet use; empty: none was named
};

// Reads `listeners`, `advertised.listeners`, `listener.security.protocol.map`, `controller.listener.names` and the name
// of the inter-broker listener.
//   errors   one line: place, key, what is wrong; the rules are those that stop Kafka's start
std::expected<Listeners, std::string> parse_listeners(const Config& config);

// An address of the console: `http://host:port`.
struct ConsoleAddress {
  std::string host;
  std::uint16_t port = 0;

  bool operator==(const ConsoleAddress&) const = default;
};

// Reads `thalweg.console.listeners`.
std::expected<std::vector<ConsoleAddress>, std::string> parse_console_listeners(const Config& config);

// True for 127.0.0.0/8, ::1 and localhost.
bool is_loopback(std::string_view host);

}  // namespace thalweg::config
