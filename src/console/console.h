// Console: the HTTP port for operators: /livez, /readyz, /metrics.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "broker/broker.h"
#include "console/metrics_page.h"

namespace thalweg::console {

class Console {
 public:
  // `connections` tells what the listeners count; from any thread.
  Console(broker::Broker& broker, std::function<ConnectionCounts()> connections);
  ~Console();
  Console(const Console&) = delete;
  Console& operator=(const Console&) = delete;

  // Binds the addresses of thalweg.console.listeners. When only the default is taken by another process it warns and
  // goes on without.
  //   errors   one line: which address, what is wrong
  base::Result<void, std::string> bind();
  // Begins to serve; logs "console on http://127.0.0.1:8080" for each address.
  void serve();
  // Ends the acceptors. Not on a core.
  void stop();

 private:
  using Acceptor = boost::asio::ip::tcp::acceptor;
  runtime::Awaitable<void> accept_loop(Acceptor& acceptor);
  runtime::Awaitable<void> serve_client(std::shared_ptr<boost::beast::tcp_stream> client);
  // Why the broker is not ready; empty where it is.
  std::string not_ready_because() const;

  broker::Broker& broker_;
  std::function<ConnectionCounts()> connections_;
  std::vector<std::unique_ptr<Acceptor>> acceptors_;
  std::vector<std::weak_ptr<boost::beast::tcp_stream>> clients_;
};

}  // namespace thalweg::console
