// Broker keys: listeners and connections.

#include "config/table_build.h"

namespace thalweg::config {

using namespace build;

std::span<const ConfigKey> network_keys() {
  static constexpr ConfigKey kKeys[] = {
      key("listeners", Type::list, "PLAINTEXT://127.0.0.1:9092", kHigh, kPerBroker, kUsed, non_empty_list(),
          "Addresses to accept connections on, each `NAME://host:port`. An empty host binds every interface, port 0 "
          "takes a free port."),
      key("advertised.listeners", Type::list, kNull, kHigh, kReadOnly, kUsed, non_empty_list(),
          "Addresses handed to clients, by listener name. Unset: the values of `listeners`, where an empty host "
          "becomes this machine's name."),
      key("listener.security.protocol.map", Type::string,
          "SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT", kLow, kPerBroker, kUsed, {},
          "Security protocol of each listener name, as `NAME:PROTOCOL` pairs (PLAINTEXT, SSL, SASL_PLAINTEXT or "
          "SASL_SSL)."),
      key("inter.broker.listener.name", Type::string, kNull, kMedium, kReadOnly, kUsed, {},
          "Listener over which brokers of a fleet reach this one. Unset: the one named after "
          "`security.inter.broker.protocol`."),
      key("security.inter.broker.protocol", Type::string, "PLAINTEXT", kMedium, kReadOnly, kUsed,
          one_of("PLAINTEXT,SSL,SASL_PLAINTEXT,SASL_SSL"),
          "Security protocol between brokers, for those who do not name a listener with `inter.broker.listener.name`."),
      key("early.start.listeners", Type::list, kNull, kHigh, kReadOnly, kAccepted, any_list(),
          "Listeners that would open before the access rules are loaded. All listeners open together here."),
      key("socket.send.buffer.bytes", Type::int_, "102400", kHigh, kReadOnly, kUsed, {},
          "Kernel send buffer of a client socket, in bytes. -1 leaves the operating system's size."),
      key("socket.receive.buffer.bytes", Type::int_, "102400", kHigh, kReadOnly, kUsed, {},
          "Kernel receive buffer of a client socket, in bytes. -1 leaves the operating system's size."),
      key("socket.request.max.bytes", Type::int_, "104857600", kHigh, kReadOnly, kUsed, at_least(1),
          "Largest request frame that is read, in bytes. A longer one closes the connection."),
      key("socket.listen.backlog.size", Type::int_, "50", kMedium, kReadOnly, kUsed, at_least(1),
          "Connections the kernel may hold that have not been accepted yet."),
      key("socket.connection.setup.timeout.ms", Type::long_, "10000", kMedium, kReadOnly, kAccepted, {},
          "First time limit (ms) for opening a connection to another broker."),
      key("socket.connection.setup.timeout.max.ms", Type::long_, "30000", kMedium, kReadOnly, kAccepted, {},
          "Upper bound (ms) to which the time limit for opening a connection to another broker grows."),
      key("connections.max.idle.ms", Type::long_, "600000", kMedium, kReadOnly, kUsed, {},
          "A connection without traffic for this long (ms) is closed. A negative value never closes."),
      key("max.connections", Type::int_, "2147483647", kMedium, kClusterWide, kUsed, at_least(0),
          "Most connections open at once on this broker, and per listener with a `listener.name.` prefix. At the limit "
          "new ones wait."),
      key("max.connections.per.ip", Type::int_, "2147483647", kMedium, kClusterWide, kUsed, at_least(0),
          "Most connections open at once from one address. 0 admits only the addresses in "
          "`max.connections.per.ip.overrides`."),
      key("max.connections.per.ip.overrides", Type::string, "", kMedium, kClusterWide, kUsed, of(Rule::address_counts),
          "Exceptions to `max.connections.per.ip`, as `address:count` pairs."),
      key("max.connection.creation.rate", Type::int_, "2147483647", kMedium, kClusterWide, kUsed, at_least(0),
          "Most new connections a second, for the broker or per listener. Beyond it accepting slows down."),
      key("queued.max.requests", Type::int_, "500", kHigh, kReadOnly, kAccepted, at_least(1),
          "Requests that may wait for a thread. There is no such queue here: `thalweg.max.bytes.in.flight` bounds what "
          "is waiting."),
      key("queued.max.request.bytes", Type::long_, "-1", kMedium, kReadOnly, kUsed, {},
          "Request bytes held at once, at least `socket.request.max.bytes`. Zero or less leaves the bound to "
          "`thalweg.max.bytes.in.flight`."),
      key("request.timeout.ms", Type::int_, "30000", kHigh, kReadOnly, kAccepted, {},
          "Time (ms) to wait for another broker's or a controller's answer."),
      key("num.network.threads", Type::int_, "3", kHigh, kClusterWide, kAccepted, at_least(1),
          "Threads that read and write sockets. `thalweg.cores` sets the number of event loops instead."),
      key("num.io.threads", Type::int_, "8", kHigh, kClusterWide, kAccepted, at_least(1),
          "Threads that handle requests. `thalweg.cores` sets the number of event loops instead."),
      key("background.threads", Type::int_, "10", kHigh, kClusterWide, kAccepted, at_least(1),
          "Threads for housekeeping. Event loops and bounded pools do that work here."),
  };
  return kKeys;
}

}  // namespace thalweg::config
