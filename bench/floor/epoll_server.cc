#include "floor/epoll_server.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/sendfile.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <system_error>
#include <unordered_map>
#include <vector>

#include "base/endian.h"
#include "floor/files.h"
#include "floor/frames.h"

namespace thalweg::floor {

namespace {

constexpr std::size_t kBufferBytes = 128 * 1024;  // takes a whole frame of the benchmark in one recv
constexpr int kRecordsPerBatch = 16;
constexpr int kValueBytes = 1024;

[[noreturn]] void fail(const char* what) { throw std::system_error(errno, std::generic_category(), what); }

int checked(int result, const char* what) {
  if (result < 0) fail(what);
  return result;
}

// One connection. What is to be sent stands in `head`, then in a range of a file, then in `tail_left` zeros.
struct Connection {
  int socket = -1;
  int partition = 0;
  Bytes buffer = Bytes(kBufferBytes);
  std::size_t begin = 0;  // of what is not answered
  std::size_t end = 0;    // of what was read
  Bytes head;
  std::size_t head_sent = 0;
  int file = -1;
  off_t file_at = 0;
  std::size_t file_left = 0;
  std::size_t tail_left = 0;
  bool waits_to_write = false;
  bool closed = false;

  [[nodiscard]] bool idle() const { return head_sent == head.size() && file_left == 0 && tail_left == 0; }
};

class EpollServer {
 public:
  EpollServer(const EpollOptions& options, Usage& usage);
  ~EpollServer();
  EpollServer(const EpollServer&) = delete;
  EpollServer& operator=(const EpollServer&) = delete;
  void run();

 private:
  void write_logs(std::uint64_t bytes);
  void watch(int descriptor, std::uint32_t events, int operation);
  void accept_all();
  void read(Connection& connection);
  void answer(Connection& connection);
  void answer_fetch(Connection& connection, Frame frame);
  void finish(Connection& connection);
  void send(Connection& connection);
  bool send_some(Connection& connection);

  const EpollOptions& options_;
  Usage& usage_;
  Files files_;
  Answers answers_;
  std::size_t batch_bytes_ = 0;
  std::int64_t end_offset_ = 0;
  int epoll_ = -1;
  int listener_ = -1;
  int signals_ = -1;
  int accepted_ = 0;
  std::unordered_map<int, std::unique_ptr<Connection>> connections_;
};

EpollServer::EpollServer(const EpollOptions& options, Usage& usage)
    : options_(options), usage_(usage), files_(options.folder) {
  if (options.log_bytes > 0) write_logs(options.log_bytes);
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGTERM);
  sigaddset(&mask, SIGINT);
  checked(::sigprocmask(SIG_BLOCK, &mask, nullptr), "sigprocmask");
  signals_ = checked(::signalfd(-1, &mask, SFD_CLOEXEC), "signalfd");
  epoll_ = checked(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1");
  listener_ = checked(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "socket");
  const int on = 1;
  checked(::setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), "setsockopt");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(options.port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t length = sizeof address;
  checked(::bind(listener_, reinterpret_cast<const sockaddr*>(&address), length), "bind");
  checked(::listen(listener_, SOMAXCONN), "listen");
  checked(::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &length), "getsockname");
  watch(listener_, EPOLLIN, EPOLL_CTL_ADD);
  watch(signals_, EPOLLIN, EPOLL_CTL_ADD);
  fmt::print(stderr, "listening on 127.0.0.1:{}\n", ntohs(address.sin_port));
}

EpollServer::~EpollServer() {
  for (const auto& [socket, connection] : connections_) ::close(socket);
  for (const int descriptor : {listener_, signals_, epoll_}) {
    if (descriptor >= 0) ::close(descriptor);
  }
}

void EpollServer::write_logs(std::uint64_t bytes) {
  Bytes batch = record_batch(kRecordsPerBatch, kValueBytes);
  batch_bytes_ = batch.size();
  for (std::uint64_t written = 0; written < bytes; written += batch.size()) {
    base::store_be(batch.data(), end_offset_);
    for (int partition = 0; partition < kPartitions; ++partition) files_.append(partition, batch);
    end_offset_ += kRecordsPerBatch;
  }
  files_.sync();  // so that the kernel does not write them while others are measured
}

void EpollServer::watch(int descriptor, std::uint32_t events, int operation) {
  epoll_event event{.events = events, .data = {.fd = descriptor}};
  checked(::epoll_ctl(epoll_, operation, descriptor, &event), "epoll_ctl");
}

void EpollServer::run() {
  std::array<epoll_event, 512> events{};
  std::vector<Connection*> round;
  for (;;) {
    const int count = ::epoll_wait(epoll_, events.data(), static_cast<int>(events.size()), -1);
    if (count < 0 && errno == EINTR) continue;
    checked(count, "epoll_wait");
    round.clear();
    for (int i = 0; i < count; ++i) {
      const int descriptor = events[static_cast<std::size_t>(i)].data.fd;
      if (descriptor == signals_) return;
      if (descriptor == listener_) {
        accept_all();
        continue;
      }
      Connection& connection = *connections_.at(descriptor);
      if ((events[static_cast<std::size_t>(i)].events & ~static_cast<std::uint32_t>(EPOLLOUT)) != 0) read(connection);
      if (options_.flush) {
        round.push_back(&connection);
        continue;
      }
      // Nothing is waited for, and an answer that leaves at once finds its bytes in the cache.
      finish(connection);
    }
    if (!options_.flush) continue;
    files_.sync();
    for (Connection* connection : round) finish(*connection);
  }
}

void EpollServer::accept_all() {
  for (;;) {
    const int socket = ::accept4(listener_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (socket < 0) return;  // none is left, or it is gone again
    const int on = 1;
    checked(::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on), "setsockopt");
    usage_.connected();
    auto connection = std::make_unique<Connection>();
    connection->socket = socket;
    connection->partition = accepted_++ % kPartitions;
    connections_[socket] = std::move(connection);
    watch(socket, EPOLLIN, EPOLL_CTL_ADD);
  }
}

void EpollServer::read(Connection& connection) {
  if (connection.end == connection.buffer.size()) {
    std::memmove(connection.buffer.data(), connection.buffer.data() + connection.begin,
                 connection.end - connection.begin);
    connection.end -= connection.begin;
    connection.begin = 0;
    // Bounded by kMaxFrameBytes: a longer frame is refused as soon as its length is there.
    if (connection.end == connection.buffer.size()) connection.buffer.resize(connection.buffer.size() * 2);
  }
  const ssize_t count = ::recv(connection.socket, connection.buffer.data() + connection.end,
                               connection.buffer.size() - connection.end, 0);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) {
    connection.closed = true;
    return;
  }
  connection.end += static_cast<std::size_t>(count);
  answer(connection);
}

// Answers every whole frame that was read; stops at a Fetch while an earlier answer is still on its way.
void EpollServer::answer(Connection& connection) {
  while (!connection.closed && connection.end - connection.begin >= kLengthBytes) {
    const std::uint8_t* at = connection.buffer.data() + connection.begin;
    const auto length = static_cast<std::size_t>(base::load_be<std::uint32_t>(at));
    if (length < 8 || length > kMaxFrameBytes) {
      connection.closed = true;
      return;
    }
    if (connection.end - connection.begin - kLengthBytes < length) return;
    const Frame frame(at + kLengthBytes, length);
    if (api_key(frame) == kFetch) {
      if (!connection.idle()) return;
      answer_fetch(connection, frame);
    } else {
      const bool produce = api_key(frame) == kProduce;
      if (produce) files_.append(connection.partition, frame);
      if (!answers_.append(frame, connection.head)) connection.closed = true;
      usage_.request(produce ? frame.size() : 0);
    }
    connection.begin += kLengthBytes + length;
    if (connection.begin == connection.end) connection.begin = connection.end = 0;
  }
}

void EpollServer::answer_fetch(Connection& connection, Frame frame) {
  FetchPlace place;
  if (batch_bytes_ == 0 || !parse_fetch(frame, place) || place.offset > end_offset_) {
    connection.closed = true;
    return;
  }
  // All batches are equally long, so an offset is a position.
  const auto position = static_cast<std::uint64_t>(place.offset / kRecordsPerBatch) * batch_bytes_;
  const std::uint64_t batches = std::max<std::uint64_t>(static_cast<std::uint64_t>(place.max_bytes) / batch_bytes_, 1);
  const auto bytes =
      static_cast<std::size_t>(std::min(batches * batch_bytes_, files_.size(place.partition) - position));
  answers_.append_fetch_head(frame, place, end_offset_, bytes, connection.head);
  connection.file = files_.descriptor(place.partition);
  connection.file_at = static_cast<off_t>(position);
  connection.file_left = bytes;
  connection.tail_left = kFetchTailBytes;
  usage_.request(bytes);
}

// Ends a connection's part of the round: sends its answers, or forgets it.
void EpollServer::finish(Connection& connection) {
  send(connection);
  if (!connection.closed) return;
  const int socket = connection.socket;
  connections_.erase(socket);
  ::close(socket);
}

// Sends what there is, and what follows when a waiting Fetch gets its turn.
void EpollServer::send(Connection& connection) {
  while (!connection.closed && !connection.idle()) {
    if (!send_some(connection)) break;
    if (connection.idle()) {
      connection.head.clear();
      connection.head_sent = 0;
      if (connection.begin != connection.end && !options_.flush) answer(connection);
    }
  }
  if (connection.closed) return;
  const bool waits = !connection.idle();
  if (waits != connection.waits_to_write) {
    connection.waits_to_write = waits;
    // A client that does not read its answers gets none of its requests read.
    watch(connection.socket, waits ? EPOLLOUT : EPOLLIN, EPOLL_CTL_MOD);
  }
}

// Sends one piece. False: the socket is full, or broken.
bool EpollServer::send_some(Connection& connection) {
  static constexpr std::array<std::uint8_t, kFetchTailBytes> kTail{};
  ssize_t sent = 0;
  if (connection.head_sent < connection.head.size()) {
    const int more = connection.file_left > 0 ? MSG_MORE : 0;
    sent = ::send(connection.socket, connection.head.data() + connection.head_sent,
                  connection.head.size() - connection.head_sent, MSG_NOSIGNAL | more);
    if (sent > 0) connection.head_sent += static_cast<std::size_t>(sent);
  } else if (connection.file_left > 0) {
    sent = ::sendfile(connection.socket, connection.file, &connection.file_at, connection.file_left);
    if (sent > 0) connection.file_left -= static_cast<std::size_t>(sent);
  } else {
    sent = ::send(connection.socket, kTail.data(), connection.tail_left, MSG_NOSIGNAL);
    if (sent > 0) connection.tail_left -= static_cast<std::size_t>(sent);
  }
  if (sent > 0) return true;
  if (errno != EAGAIN && errno != EINTR) connection.closed = true;
  return false;
}

}  // namespace

void serve_bytes(const EpollOptions& options, Usage& usage) { EpollServer(options, usage).run(); }

}  // namespace thalweg::floor
