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
#include <optional>
#include <utility>

#include "base/endian.h"
#include "floor/files.h"
#include "floor/frames.h"
#include "floor/offset_table.h"

namespace thalweg::floor {

namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
constexpr auto kResult = asio::as_tuple(asio::use_awaitable);

struct Server {
  Usage& usage;
  Files files;
  Answers answers;
  OffsetTable* offsets = nullptr;
  int connections = 0;
};

// Cuts the next frame out of what was read, from `used` on, and moves `used` behind it.
enum class Cut { frame, incomplete, refused };
Cut cut_frame(Frame read, std::size_t& used, Frame& frame) {
  if (read.size() - used < kLengthBytes) return Cut::incomplete;
  const auto length = static_cast<std::size_t>(base::load_be<std::uint32_t>(read.data() + used));
  if (length < 8 || length > kMaxFrameBytes) return Cut::refused;
  if (read.size() - used - kLengthBytes < length) return Cut::incomplete;
  frame = read.subspan(used + kLengthBytes, length);
  used += kLengthBytes + length;
  return Cut::frame;
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
    std::size_t used = 0;
    Frame frame;
    Cut cut;
    while ((cut = cut_frame(Frame(buffer.data(), filled), used, frame)) == Cut::frame) {
      std::size_t moved = 0;
      if (api_key(frame) == kProduce) {
        server.files.append(partition, frame);
        moved = frame.size();
      } else if (api_key(frame) == kOffsetCommit) {
        OffsetCommit commit;
        if (server.offsets == nullptr || !parse_offset_commit(frame, commit)) co_return;
        co_await server.offsets->write(commit, asio::use_awaitable);
      }
      if (!server.answers.append(frame, out)) co_return;
      server.usage.request(moved);
    }
    if (cut == Cut::refused) co_return;
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

void serve_requests(const CoroutineOptions& options, Usage& usage) {
  // Outlives the loop: what is suspended when the loop stops is destroyed with the context, and borrows from it.
  Server server{.usage = usage, .files = Files(options.folder), .answers = {}};
  asio::io_context context(1);
  std::optional<OffsetTable> offsets;
  if (options.commits) server.offsets = &offsets.emplace(options.folder, context.get_executor());
  tcp::acceptor acceptor(context, tcp::endpoint(asio::ip::address_v4::loopback(), options.port));
  asio::signal_set signals(context, SIGTERM, SIGINT);
  signals.async_wait([&context](const boost::system::error_code&, int) { context.stop(); });
  asio::co_spawn(context, accept_all(server, acceptor), asio::detached);
  fmt::print(stderr, "listening on 127.0.0.1:{}\n", acceptor.local_endpoint().port());
  context.run();
}

}  // namespace thalweg::floor
