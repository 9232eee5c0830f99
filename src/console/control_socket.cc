#include "console/control_socket.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <future>
#include <utility>

#include "base/log.h"
#include "broker/backup.h"
#include "runtime/host.h"
#include "storage/checkpoints.h"

namespace thalweg::console {

namespace asio = boost::asio;
using runtime::Awaitable;

namespace {

constexpr std::size_t kMostRequestBytes = 8192;
constexpr std::string_view kBackup = "backup ";

bool is_own_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) return false;
  return peer.uid == 0 || peer.uid == ::geteuid();
}

}  // namespace

SocketFolder::SocketFolder(const std::string& folder)
    : descriptor_(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)) {}

SocketFolder::~SocketFolder() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

std::string SocketFolder::socket() const { return fmt::format("/proc/self/fd/{}/{}", descriptor_, kControlSocketName); }

ControlSocket::~ControlSocket() = default;

void ControlSocket::serve() {
  const std::string& folder = broker_.log_directories().front()->path;
  path_ = storage::in_directory(folder, kControlSocketName);
  const SocketFolder named(folder);
  // The folder is locked: what is there is left from a broker that was killed.
  ::unlink(path_.c_str());
  boost::system::error_code error;
  auto acceptor = std::make_unique<Protocol::acceptor>(broker_.core(0).context());
  acceptor->open(Protocol(), error);
  if (!error) acceptor->bind(Protocol::endpoint(named.socket()), error);
  // Nobody can connect before it listens, and then the mode is set.
  if (!error && ::chmod(path_.c_str(), 0600) != 0) error.assign(errno, boost::system::system_category());
  if (!error) acceptor->listen(asio::socket_base::max_listen_connections, error);
  if (error) {
    LOG_WARN("console", "{}: {}; going on without it, so there are no online backups", path_, error.message());
    return;
  }
  acceptor_ = std::move(acceptor);
  pool_ = runtime::machine_host().make_pool("backup", 1);
  broker_.core(0).spawn(accept_loop());
}

Awaitable<void> ControlSocket::accept_loop() {
  while (acceptor_->is_open()) {
    auto [error, socket] = co_await acceptor_->async_accept(asio::as_tuple(asio::use_awaitable));
    if (error == asio::error::operation_aborted || !acceptor_->is_open()) co_return;
    if (error) {
      co_await runtime::sleep_until(broker_.core(0), broker_.clock().steady() + std::chrono::milliseconds(100));
      continue;
    }
    if (!is_own_user(socket.native_handle())) continue;  // it closes
    auto client = std::make_shared<Protocol::socket>(std::move(socket));
    broker_.core(0).spawn(serve_client(std::move(client)));
  }
}

Awaitable<void> ControlSocket::serve_client(std::shared_ptr<Protocol::socket> client) {
  std::string request;
  const auto [error, size] = co_await asio::async_read_until(*client, asio::dynamic_buffer(request, kMostRequestBytes),
                                                             '\n', asio::as_tuple(asio::use_awaitable));
  if (error) co_return;
  request.resize(size - 1);
  const std::string text = co_await answer(std::move(request)) + "\n";
  (void)co_await asio::async_write(*client, asio::buffer(text), asio::as_tuple(asio::use_awaitable));
}

Awaitable<std::string> ControlSocket::answer(std::string request) {
  if (!request.starts_with(kBackup)) co_return "error: an unknown request";
  const std::string target = request.substr(kBackup.size());
  if (!target.starts_with('/')) co_return "error: the path must begin with /";
  if (cancelled_) co_return "error: the broker is stopping";
  LOG_INFO("backup", "backing up to {}", target);
  auto done = co_await runtime::run_on(*pool_, [this, target] { return broker::back_up(broker_, target, cancelled_); });
  if (!done) {
    LOG_ERROR("backup", "{}", done.error());
    co_return "error: " + done.error();
  }
  std::string line = fmt::format("{} topics, {} partitions, {} bytes copied, {} bytes linked", done->topics,
                                 done->partitions, done->bytes_copied, done->bytes_linked);
  if (done->topics_left_out > 0)
    line += fmt::format("; {} topics were deleted meanwhile and are not in it", done->topics_left_out);
  LOG_INFO("backup", "{}: {}", target, line);
  co_return "ok " + line;
}

void ControlSocket::stop() {
  if (!acceptor_) return;
  cancelled_ = true;
  std::promise<void> done;
  broker_.core(0).post([&] {
    boost::system::error_code ignored;
    acceptor_->close(ignored);
    // Behind what the accept loop is told by the close.
    broker_.core(0).post([&done] { done.set_value(); });
  });
  done.get_future().wait();
  pool_->stop();
  acceptor_ = nullptr;
  ::unlink(path_.c_str());
}

}  // namespace thalweg::console
