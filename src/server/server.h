// Server: the listeners and the connections of every core.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "broker/broker.h"
#include "runtime/tls_stream.h"
#include "server/accept_rate.h"
#include "server/connection.h"
#include "server/in_flight.h"
#include "server/tls_listener.h"

namespace thalweg::server {

class Server {
 public:
  explicit Server(broker::Broker& broker);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Binds every listener and tells the broker where clients reach it.
  //   errors   one line: which listener, what is wrong
  base::Result<void, std::string> bind();
  // Begins to accept. One line per listener is logged: "listening on PLAINTEXT://127.0.0.1:9092".
  void serve();
  // Reads the TLS stores again, of every listener where `force` is set, else where a file has changed. Connections from
  // then on see what is new. Blocks; on the thread that called bind().
  //   returns  whether there is a listener with TLS
  bool reload_tls(TlsListener::Force force);
  // Stops accepting, ends every connection and waits for them. Blocks; not on a core.
  void stop();
  // Connections open now.
  [[nodiscard]] std::int64_t connection_count() const { return connections_total_.load(); }
  // TLS handshakes that went well, and that did not.
  [[nodiscard]] std::int64_t tls_handshakes() const { return tls_handshakes_.load(); }
  [[nodiscard]] std::int64_t tls_handshake_failures() const { return tls_handshake_failures_.load(); }

 private:
  using Acceptor = boost::asio::ip::tcp::acceptor;

  struct BoundListener {
    broker::ListenerInfo info;
    Acceptor acceptor;
    std::string host;  // as configured
    // With TLS: where contexts come from, and the one for new connections, which is the accepting core's.
    std::unique_ptr<TlsListener> tls;
    std::shared_ptr<SSL_CTX> tls_context;
  };
  // The connections of one core, touched there only.
  struct CoreState {
    explicit CoreState(broker::Shard& shard, std::int64_t in_flight_limit)
        : shard(shard), in_flight(in_flight_limit, shard.core(), shard.metrics()) {}
    broker::Shard& shard;
    InFlightBytes in_flight;
    std::unordered_set<std::shared_ptr<Connection>> connections;
    std::unordered_set<runtime::TlsStream*> shaking_hands;  // not yet connections
    bool stopping = false;
  };

  base::Result<void, std::string> bind_one(const config::Endpoint& endpoint);
  // Holds its listener, which it may come back to after it was closed.
  runtime::Awaitable<void> accept_loop(std::shared_ptr<BoundListener> bound);
  runtime::Awaitable<void> serve_connection(CoreState& state, std::shared_ptr<Connection> connection);
  // Agrees on TLS, then serves.
  runtime::Awaitable<void> serve_tls(CoreState& state, const BoundListener& listener,
                                     std::unique_ptr<runtime::TlsStream> stream);
  // The handshake, in the time that it may take. Nothing where it failed, which is logged and counted.
  runtime::Awaitable<std::optional<broker::Principal>> shake_hands(CoreState& state, const BoundListener& listener,
                                                                   runtime::TlsStream& stream);
  [[nodiscard]] Connection::Limits limits() const;
  // On the accepting core: whether one more connection from there is allowed.
  bool admit(const std::string& host);
  void forget(const std::string& host);
  void wake_waiting();
  void sweep_idle(CoreState& state);
  // On the accepting core: waits while max.connections are open.
  runtime::Awaitable<void> room(BoundListener& listener);
  // On the accepting core: waits while more connections come than max.connection.creation.rate allows.
  runtime::Awaitable<void> within_rate(BoundListener& listener);
  // On the accepting core: the limits may have changed.
  void limits_changed();
  // Ends the connections above max.connections, those first that have been silent for longest.
  runtime::Awaitable<void> close_excess();

  broker::Broker& broker_;
  std::vector<std::shared_ptr<BoundListener>> listeners_;
  std::vector<std::unique_ptr<CoreState>> cores_;
  // Of the accepting core.
  std::map<std::string, std::int32_t> connections_by_host_;
  std::size_t next_core_ = 0;
  std::vector<runtime::Resume<int>> waiting_for_room_;
  bool closing_excess_ = false;
  AcceptRate accept_rate_;
  std::atomic<std::int64_t> connections_total_{0};
  std::atomic<std::int64_t> tls_handshakes_{0};
  std::atomic<std::int64_t> tls_handshake_failures_{0};
};

}  // namespace thalweg::server
