#include "runtime/tcp_stream.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

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

// Up to so much of a file range is copied and goes out with what follows it: sendfile ends at a page, and a system call
// and a packet each for the last bytes of the file and the few behind them cost more than the copy.
constexpr std::size_t kCopyAtMost = 8 * 1024;

int descriptor_of(const base::BufferChain::Segment& segment) {
  const auto* file = dynamic_cast<const File*>(segment.source.get());
  CHECK(file != nullptr && file->descriptor() >= 0, "a TCP stream sends memory and files");
  return file->descriptor();
}

StreamResult<void> read_range(const base::BufferChain::Segment& segment, std::uint64_t skip,
                              std::span<std::uint8_t> into) {
  while (!into.empty()) {
    const ssize_t n =
        ::pread(descriptor_of(segment), into.data(), into.size(), static_cast<off_t>(segment.position + skip));
    if (n == 0) return fault("read: the file ends before the range");
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fault_of_errno("read");
    skip += static_cast<std::uint64_t>(n);
    into = into.subspan(static_cast<std::size_t>(n));
  }
  return {};
}

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
    const bool is_file = segments[i].source != nullptr;
    const std::uint64_t left = segments[i].size - skip;
    const auto went = is_file && left > kCopyAtMost ? send_file(segments[i], skip) : send_memory(chain, i, skip);
    if (!went) return std::unexpected(went.error());
    if (*went == 0) return sent;
    sent += *went;
    skip += *went;
  }
  return sent;
}

StreamResult<std::uint64_t> TcpStream::send_memory(const base::BufferChain& chain, std::size_t first,
                                                   std::uint64_t skip) {
  constexpr std::size_t kMostPieces = 64;
  const auto& segments = chain.segments();
  std::array<iovec, kMostPieces> pieces;       // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  std::array<std::uint8_t, kCopyAtMost> rest;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
  std::size_t count = 0;
  bool copied = false;
  std::size_t i = first;
  for (; i < segments.size() && count < kMostPieces; ++i) {
    const std::uint64_t offset = i == first ? skip : 0;
    const std::uint64_t size = segments[i].size - offset;
    if (segments[i].source != nullptr) {
      if (copied || size > kCopyAtMost) break;
      copied = true;
      TRY(read_range(segments[i], offset, std::span(rest).first(size)));
      pieces[count++] = {rest.data(), size};
    } else {
      pieces[count++] = {const_cast<std::uint8_t*>(segments[i].bytes.data()) + offset, size};
    }
  }
  msghdr message{};
  message.msg_iov = pieces.data();
  message.msg_iovlen = count;
  // What follows is a file range: let the header wait for it instead of going out in a packet of its own.
  const int flags = MSG_DONTWAIT | MSG_NOSIGNAL | (i < segments.size() ? MSG_MORE : 0);
  while (true) {
    const ssize_t n = ::sendmsg(socket_.native_handle(), &message, flags);
    if (n >= 0) return static_cast<std::uint64_t>(n);
    if (errno == EINTR) continue;
    if (would_block()) return 0;
    return fault_of_errno("send");
  }
}

StreamResult<std::uint64_t> TcpStream::send_file(const base::BufferChain::Segment& segment, std::uint64_t skip) {
  auto position = static_cast<off_t>(segment.position + skip);
  while (true) {
    const ssize_t n = ::sendfile(socket_.native_handle(), descriptor_of(segment), &position, segment.size - skip);
    if (n > 0) return static_cast<std::uint64_t>(n);
    if (n == 0) return fault("sendfile: the file ends before the range");
    if (errno == EINTR) continue;
    if (would_block()) return 0;
    return fault_of_errno("sendfile");
  }
}

void TcpStream::end_sending() {
  boost::system::error_code error;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, error);
}

void TcpStream::close() {
  boost::system::error_code error;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_both, error);
  socket_.close(error);
}

}  // namespace thalweg::runtime
