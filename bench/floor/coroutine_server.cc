#include "floor/coroutine_server.h"

#include <fmt/format.h>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/asio/write.hpp>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/endian.h"
#include "floor/files.h"
#include "floor/frames.h"

namespace thalweg::floor {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
constexpr auto kResult = asio::as_tuple(asio::use_awaitable);

struct Server {
  Usage& usage;
  Files files;
  Answers answers;
  int connections = 0;
};

// Answers every whole frame in `buffer`; returns how many bytes they took, or npos for a frame that is none.
constexpr std::size_t kRefused = static_cast<std::size_t>(-1);
std::size_t answer_all(Server& server, Frame buffer, int partition, Bytes& out) {
  std::size_t used = 0;
  while (buffer.size() - used >= kLengthBytes) {
    const auto length = static_cast<std::size_t>(base::load_be<std::uint32_t>(buffer.data() + used));
    if (length < 8 || length > kMaxFrameBytes) return kRefused;
    if (buffer.size() - used - kLengthBytes < length) break;
    const Frame frame = buffer.subspan(used + kLengthBytes, length);
    used += kLengthBytes + length;
    std::size_t moved = 0;
    if (api_key(frame) == kProduce) {
      server.files.append(partition, frame);
      moved = frame.size();
    }
    if (!server.answers.append(frame, out)) return kRefused;
    server.usage.request(moved);
  }
  return used;
}

asio::awaitable<void> serve_connection(Server& server, tcp::socket socket, int partition) {
  Bytes buffer(4096);
  std::size_t filled = 0;
  Bytes out;
  for (;;) {
    const auto [read_error, count] =
        co_await socket.async_read_some(asio::buffer(buffer.data() + filled, buffer.size() - filled), kResult);
    if (read_error) co_return;
    filled += count;
    out.clear();
    const std::size_t used = answer_all(server, Frame(buffer.data(), filled), partition, out);
    if (used == kRefused) co_return;
    std::memmove(buffer.data(), buffer.data() + used, filled - used);
    filled -= used;
    if (filled == buffer.size()) buffer.resize(buffer.size() * 2);  // bounded by kMaxFrameBytes
    if (out.empty()) continue;
    const auto [write_error, written] = co_await asio::async_write(socket, asio::buffer(out), kResult);
    if (write_error) co_return;
  }
}

asio::awaitable<void> accept_all(Server& server, tcp::acceptor& acceptor) {
  for (;;) {
    auto [error, socket] = co_await acceptor.async_accept(kResult);
    if (error) co_return;
    server.usage.connected();
    socket.set_option(tcp::no_delay(true));
    auto connection = serve_connection(server, std::move(socket), server.connections++ % kPartitions);
    asio::co_spawn(acceptor.get_executor(), std::move(connection), asio::detached);
  }
}

}  // namespace

void serve_requests(const std::string& folder, unsigned short port, Usage& usage) {
  // Outlives the loop: what is suspended when the loop stops is destroyed with the context, and borrows from it.
  Server server{.usage = usage, .files = Files(folder), .answers = {}};
  asio::io_context context(1);
  tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), port));
  asio::signal_set signals(context, SIGTERM, SIGINT);
  signals.async_wait([&context](const boost::system::error_code&, int) { context.stop(); });
  asio::co_spawn(context, accept_all(server, acceptor), asio::detached);
  fmt::print(stderr, "listening on 127.0.0.1:{}\n", acceptor.local_endpoint().port());
  context.run();
}

}  // namespace thalweg::floor
