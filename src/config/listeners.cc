#include "config/listeners.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/letter_case.h"
#include "config/value.h"

namespace thalweg::config {
namespace {

using ProtocolMap = std::map<std::string, SecurityProtocol, std::less<>>;

constexpr std::array<std::string_view, 4> kProtocolNames = {"PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"};

// One line about a key as a whole.
std::unexpected<std::string> wrong(const Config& config, std::string_view key, std::string_view problem) {
  return std::unexpected(
      fmt::format("{}{}={}: {}", config.where(key), key, config.text(key).value_or("null"), problem));
}

bool is_ipv4(std::string_view host) {
  int parts = 0;
  while (true) {
    const std::size_t dot = host.find('.');
    const auto part = parse_integer(host.substr(0, dot));
    if (!part || *part < 0 || *part > 255) return false;
    ++parts;
    if (dot == std::string_view::npos) return parts == 4;
    host.remove_prefix(dot + 1);
  }
}

bool is_ipv6(std::string_view host) { return host.find(':') != std::string_view::npos; }

bool is_host(std::string_view host) {
  return std::ranges::all_of(host, [](char c) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    return letter || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_' || c == ':' || c == '%';
  });
}

struct Address {
  std::string name;
  std::string host;
  std::uint16_t port = 0;
};

// `name://host:port`, the host empty, a name, an IPv4 address, or an IPv6 address with or without brackets.
std::optional<Address> parse_address(std::string_view text) {
  const std::size_t slashes = text.find("://");
  if (slashes == std::string_view::npos) return std::nullopt;
  const std::string_view rest = text.substr(slashes + 3);
  const std::size_t colon = rest.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::string_view host = rest.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  const auto port = parse_integer(rest.substr(colon + 1));
  if (!is_host(host) || !port || *port < 0 || *port > 65535) return std::nullopt;
  return Address{std::string(text.substr(0, slashes)), std::string(host), static_cast<std::uint16_t>(*port)};
}

std::expected<ProtocolMap, std::string> protocol_map(const Config& config) {
  constexpr std::string_view kKey = "listener.security.protocol.map";
  ProtocolMap map;
  for (const std::string& entry : split_list(config.get_string(kKey))) {
    const std::size_t colon = entry.rfind(':');
    if (colon == std::string::npos)
      return wrong(config, kKey, fmt::format("\"{}\" is not of the form NAME:PROTOCOL", entry));
    const auto protocol = parse_protocol(trimmed(std::string_view(entry).substr(colon + 1)));
    if (!protocol)
      return wrong(config, kKey,
                   fmt::format("\"{}\" names no protocol; allowed: {}", entry, fmt::join(kProtocolNames, ", ")));
    map.insert_or_assign(base::upper_case(trimmed(std::string_view(entry).substr(0, colon))), *protocol);
  }
  return map;
}

bool has(const std::vector<Endpoint>& endpoints, std::string_view listener) {
  return std::ranges::find(endpoints, listener, &Endpoint::listener) != endpoints.end();
}

std::expected<std::vector<Endpoint>, std::string> endpoints(const Config& config, std::string_view key,
                                                            const ProtocolMap& protocols) {
  std::vector<Endpoint> result;
  for (const std::string& text : config.get_list(key)) {
    auto address = parse_address(text);
    if (!address)
      return wrong(config, key, fmt::format("\"{}\" is not of the form NAME://host:port, port 0 to 65535", text));
    const std::string name = base::upper_case(address->name);
    const auto protocol = protocols.find(name);
    if (protocol == protocols.end())
      return wrong(config, key, fmt::format("listener {} has no protocol in listener.security.protocol.map", name));
    if (has(result, name)) return wrong(config, key, fmt::format("listener {} appears twice", name));
    result.push_back({name, protocol->second, std::move(address->host), address->port});
  }
  return result;
}

// Two listeners may share a port only where one has an IPv4 and the other an IPv6 address.
bool ports_clash(const std::vector<Endpoint>& bound) {
  for (const Endpoint& a : bound) {
    std::vector<const Endpoint*> same;
    for (const Endpoint& b : bound)
      if (a.port != 0 && a.port == b.port) same.push_back(&b);
    if (same.size() < 2) continue;
    const auto both_ways = [](const Endpoint& x, const Endpoint& y) { return is_ipv4(x.host) && is_ipv6(y.host); };
    if (same.size() > 2 || !(both_ways(*same[0], *same[1]) || both_ways(*same[1], *same[0]))) return true;
  }
  return false;
}

std::expected<std::string, std::string> inter_broker_listener(const Config& config, const ProtocolMap& protocols,
                                                              const std::vector<Endpoint>& advertised) {
  constexpr std::string_view kByName = "inter.broker.listener.name";
  constexpr std::string_view kByProtocol = "security.inter.broker.protocol";
  if (config.is_set(kByName) && config.is_set(kByProtocol))
    return wrong(config, kByName, fmt::format("only one of {} and {} may be set", kByName, kByProtocol));
  const bool named = config.is_set(kByName);
  const std::string_view key = named ? kByName : kByProtocol;
  std::string name = base::upper_case(config.get_string(key));
  if (named && !protocols.contains(name)) return wrong(config, key, "not in listener.security.protocol.map");
  if (has(advertised, name)) return name;
  // A single broker needs no such listener: only one that was asked for must exist.
  if (!config.is_set(key)) return std::string();
  return wrong(config, key, "not among the advertised listeners");
}

}  // namespace

std::string_view protocol_name(SecurityProtocol protocol) { return kProtocolNames[static_cast<std::size_t>(protocol)]; }

std::optional<SecurityProtocol> parse_protocol(std::string_view name) {
  const auto at = std::ranges::find(kProtocolNames, base::upper_case(name));
  if (at == kProtocolNames.end()) return std::nullopt;
  return static_cast<SecurityProtocol>(at - kProtocolNames.begin());
}

std::expected<Listeners, std::string> parse_listeners(const Config& config) {
  constexpr std::string_view kBound = "listeners";
  constexpr std::string_view kAdvertised = "advertised.listeners";
  const auto protocols = protocol_map(config);
  if (!protocols) return std::unexpected(protocols.error());
  auto bound = endpoints(config, kBound, *protocols);
  if (!bound) return std::unexpected(bound.error());
  if (ports_clash(*bound))
    return wrong(config, kBound, "two listeners have one port; only an IPv4 and an IPv6 address may share it");

  const std::string_view advertised_key = config.is_set(kAdvertised) ? kAdvertised : kBound;
  auto advertised = endpoints(config, advertised_key, *protocols);
  if (!advertised) return std::unexpected(advertised.error());
  for (const Endpoint& endpoint : *advertised)
    if (!has(*bound, endpoint.listener))
      return wrong(config, kAdvertised, fmt::format("listener {} is not in listeners", endpoint.listener));

  std::vector<std::string> controllers =
      config.find_list("controller.listener.names").value_or(std::vector<std::string>{});
  std::ranges::transform(controllers, controllers.begin(),
                         [](const std::string& name) { return base::upper_case(name); });
  const auto is_controller = [&controllers](const Endpoint& e) {
    return std::ranges::find(controllers, e.listener) != controllers.end();
  };
  std::erase_if(*bound, is_controller);
  std::erase_if(*advertised, is_controller);
  if (bound->empty()) return wrong(config, kBound, "all of them are in controller.listener.names");
  if (advertised->empty()) return wrong(config, advertised_key, "all of them are in controller.listener.names");
  for (const Endpoint& endpoint : *advertised)
    if (endpoint.host == "0.0.0.0" || endpoint.host == "::")
      return wrong(
          config, advertised_key,
          fmt::format("clients cannot reach {}; advertised.listeners needs a host they can reach", endpoint.host));

  auto inter_broker = inter_broker_listener(config, *protocols, *advertised);
  if (!inter_broker) return std::unexpected(inter_broker.error());
  return Listeners{std::move(*bound), std::move(*advertised), std::move(*inter_broker)};
}

std::expected<std::vector<ConsoleAddress>, std::string> parse_console_listeners(const Config& config) {
  constexpr std::string_view kKey = "thalweg.console.listeners";
  std::vector<ConsoleAddress> result;
  for (const std::string& text : config.get_list(kKey)) {
    auto address = parse_address(text);
    if (!address || address->name != "http")
      return wrong(config, kKey, fmt::format("\"{}\" is not of the form http://host:port, port 0 to 65535", text));
    result.push_back({std::move(address->host), address->port});
  }
  return result;
}

bool is_loopback(std::string_view host) {
  return host == "localhost" || host == "::1" || (is_ipv4(host) && host.starts_with("127."));
}

}  // namespace thalweg::config
