// Server: the listeners and the connections of every core.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

#include "broker/broker.h"
#include "server/connection.h"
#include "server/in_flight.h"

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
  // Stops accepting, ends every connection and waits for them. Blocks; not on a core.
  void stop();
  // Connections open now.
  [[nodiscard]] std::int64_t connection_count() const { return connections_total_.load(); }

 private:
  using Acceptor = boost::asio::ip::tcp::acceptor;

  struct BoundListener {
    broker::ListenerInfo info;
    Acceptor acceptor;
    std::string host;  // as configured
  };
  // The connections of one core, touched there only.
  struct CoreState {
    explicit CoreState(broker::Shard& shard, std::int64_t in_flight_limit)
        : shard(shard), in_flight(in_flight_limit, shard.core(), shard.metrics()) {}
    broker::Shard& shard;
    InFlightBytes in_flight;
    std::unordered_set<std::shared_ptr<Connection>> connections;
    bool stopping = false;
  };

  base::Result<void, std::string> bind_one(const config::Endpoint& endpoint);
  runtime::Awaitable<void> accept_loop(BoundListener& listener);
  runtime::Awaitable<void> serve_connection(CoreState& state, std::shared_ptr<Connection> connection);
  // On the accepting core: whether one more connection from there is allowed.
  bool admit(const std::string& host);
  void forget(const std::string& host);
  void sweep_idle(CoreState& state);

  broker::Broker& broker_;
  std::vector<std::unique_ptr<BoundListener>> listeners_;
  std::vector<std::unique_ptr<CoreState>> cores_;
  // Of the accepting core.
  std::map<std::string, std::int32_t> connections_by_host_;
  std::size_t next_core_ = 0;
  runtime::Resume<int> waiting_for_room_;
  std::atomic<std::int64_t> connections_total_{0};
};

}  // namespace thalweg::server
