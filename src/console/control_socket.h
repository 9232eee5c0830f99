// ControlSocket: how commands on the same machine reach a running broker: a Unix socket in the first log directory.
//
// Who may open the socket is who may read the data anyway: it belongs to the broker's user with mode 0600, and whoever
// connects must be that user or root. No port is open for it, so no browser and no other machine reaches it.
//
//   request   one line: "backup PATH"
//   answer    lines; the last begins with "ok" or "error: "
#pragma once

#include <atomic>
#include <boost/asio/local/stream_protocol.hpp>
#include <memory>
#include <string>

#include "broker/broker.h"

namespace thalweg::console {

inline constexpr const char* kControlSocketName = "control.sock";

// The folder that the socket is in. The name of a socket may have 107 bytes, the path of a folder more, so the folder
// is named by a descriptor.
class SocketFolder {
 public:
  explicit SocketFolder(const std::string& folder);
  SocketFolder(const SocketFolder&) = delete;
  SocketFolder& operator=(const SocketFolder&) = delete;
  ~SocketFolder();
  // What to bind or connect while this lives.
  [[nodiscard]] std::string socket() const;

 private:
  int descriptor_;
};

class ControlSocket {
 public:
  explicit ControlSocket(broker::Broker& broker) : broker_(broker) {}
  ~ControlSocket();
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;

  // Begins to serve, once the broker has its folders. Where the socket cannot be made it warns and goes on without.
  void serve();
  // Ends it, after what is under way. Before the broker stops; not on a core.
  void stop();

 private:
  using Protocol = boost::asio::local::stream_protocol;
  runtime::Awaitable<void> accept_loop();
  runtime::Awaitable<void> serve_client(std::shared_ptr<Protocol::socket> client);
  runtime::Awaitable<std::string> answer(std::string request);

  broker::Broker& broker_;
  std::string path_;
  std::unique_ptr<Protocol::acceptor> acceptor_;
  std::unique_ptr<runtime::Pool> pool_;  // of one thread: one backup after the other
  std::atomic<bool> cancelled_{false};
};

}  // namespace thalweg::console
