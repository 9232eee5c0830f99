#include "runtime/tcp_stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <cerrno>
#include <system_error>

#include "base/check.h"
#include "runtime/file.h"

namespace thalweg::runtime {

namespace {

std::unexpected<StreamFault> fault(std::string what) { return std::unexpected(StreamFault{std::move(what)}); }
std::unexpected<StreamFault> fault_of_errno(const char* operation) {
  return fault(std::string(operation) + ": " + std::generic_category().message(errno));
}

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK; }

}  // namespace

TcpStream::TcpStream(asio::ip::tcp::socket socket) : socket_(std::move(socket)) {
  boost::system::error_code error;
  socket_.non_blocking(true, error);
  socket_.set_option(asio::ip::tcp::no_delay(true), error);
  const auto remote = socket_.remote_endpoint(error);
  if (!error) {
    const auto address = remote.address();
    // An IPv4 peer of a dual-stack listener is shown as IPv4.
    peer_host_ = address.is_v6() && address.to_v6().is_v4_mapped()
                     ? asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string()
                     : address.to_string();
    const bool six = peer_host_.find(':') != std::string::npos;
    peer_ = (six ? "[" + peer_host_ + "]" : peer_host_) + ":" + std::to_string(remote.port());
  }
}

Awaitable<bool> TcpStream::readable() {
  const auto [error] =
      co_await socket_.async_wait(asio::ip::tcp::socket::wait_read, asio::as_tuple(asio::use_awaitable));
  co_return !error;
}

Awaitable<bool> TcpStream::writable() {
  const auto [error] =
      co_await socket_.async_wait(asio::ip::tcp::socket::wait_write, asio::as_tuple(asio::use_awaitable));
  co_return !error;
}

StreamResult<std::size_t> TcpStream::read_now(std::span<std::uint8_t> into) {
  while (true) {
    const ssize_t n = ::recv(socket_.native_handle(), into.data(), into.size(), MSG_DONTWAIT);
    if (n > 0) return static_cast<std::size_t>(n);
    if (n == 0) return fault("end of stream");
    if (errno == EINTR) continue;
    if (would_block()) return 0;
    return fault_of_errno("receive");
  }
}

StreamResult<std::uint64_t> TcpStream::write_now(const base::BufferChain& chain, std::uint64_t from) {
  constexpr std::size_t kMostPieces = 64;
  const auto& segments = chain.segments();
  std::uint64_t sent = 0;
  std::uint64_t skip = from;
  std::size_t i = 0;
  while (i < segments.size()) {
    if (skip >= segments[i].size) {
      skip -= segments[i].size;
      ++i;
      continue;
    }
    if (segments[i].source == nullptr) {
      std::array<iovec, kMostPieces> pieces;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
      std::size_t count = 0;
      std::uint64_t total = 0;
      std::size_t j = i;
      for (; j < segments.size() && count < kMostPieces && segments[j].source == nullptr; ++j) {
        const std::uint64_t offset = j == i ? skip : 0;
        pieces[count] = {const_cast<std::uint8_t*>(segments[j].bytes.data()) + offset,
                         segments[j].bytes.size() - offset};
        total += pieces[count++].iov_len;
      }
      msghdr message{};
      message.msg_iov = pieces.data();
      message.msg_iovlen = count;
      // What follows is a file range: let the header wait for it instead of going out in a packet of its own.
      const int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (j < segments.size() ? MSG_MORE : 0);
      const ssize_t n = ::sendmsg(socket_.native_handle(), &message, flags);
      if (n < 0) {
        if (errno == EINTR) continue;
        if (would_block()) return sent;
        return fault_of_errno("send");
      }
      sent += static_cast<std::uint64_t>(n);
      skip += static_cast<std::uint64_t>(n);
      if (static_cast<std::uint64_t>(n) < total) return sent;
    } else {
      const auto* file = dynamic_cast<const File*>(segments[i].source.get());
      CHECK(file != nullptr && file->descriptor() >= 0, "a TCP stream sends memory and files");
      off_t position = static_cast<off_t>(segments[i].position + skip);
      const std::uint64_t left = segments[i].size - skip;
      const ssize_t n = ::sendfile(socket_.native_handle(), file->descriptor(), &position, left);
      if (n < 0) {
        if (errno == EINTR) continue;
        if (would_block()) return sent;
        return fault_of_errno("sendfile");
      }
      if (n == 0) return fault("sendfile: the file ends before the range");
      sent += static_cast<std::uint64_t>(n);
      skip += static_cast<std::uint64_t>(n);
    }
  }
  return sent;
}

void TcpStream::close() {
  boost::system::error_code error;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_both, error);
  socket_.close(error);
}

}  // namespace thalweg::runtime
