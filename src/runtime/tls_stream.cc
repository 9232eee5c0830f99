#include "runtime/tls_stream.h"

#include <fmt/format.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/check.h"
#include "runtime/file.h"

namespace thalweg::runtime {

namespace {

constexpr std::size_t kRecord = SSL3_RT_MAX_PLAIN_LENGTH;
constexpr std::size_t kReadBuffer = 64 << 10;
// What one call sends at most: encrypting costs time, and others wait for the loop.
constexpr std::uint64_t kMostAtOnce = 1 << 20;
// What is read of a client after its handshake has failed.
constexpr std::size_t kMostDrained = 256 << 10;

// Where the pieces of a record are brought together. One for each loop: nothing stays in it between two calls, for
// OpenSSL has its own copy of a record that has not gone whole.
std::span<std::uint8_t> scratch() {
  thread_local std::array<std::uint8_t, kRecord> buffer;
  return buffer;
}

const File& file_of(const base::BufferChain::Segment& segment) {
  const auto* file = dynamic_cast<const File*>(segment.source.get());
  CHECK(file != nullptr, "a TLS stream sends memory and files");
  return *file;
}

// Copies up to a record from byte `skip` of segment `i` on, without what the kernel is to fetch from files itself.
struct Gather {
  std::size_t segment;
  std::uint64_t skip;
  bool files;
};
StreamResult<std::size_t> gather(const base::BufferChain& chain, Gather what, std::span<std::uint8_t> into) {
  const auto& segments = chain.segments();
  std::size_t size = 0;
  std::uint64_t skip = what.skip;
  for (std::size_t i = what.segment; i < segments.size() && size < into.size(); ++i, skip = 0) {
    const auto& segment = segments[i];
    if (segment.source != nullptr && !what.files) break;
    const auto n = static_cast<std::size_t>(std::min<std::uint64_t>(segment.size - skip, into.size() - size));
    if (segment.source == nullptr) {
      std::memcpy(into.data() + size, segment.bytes.data() + skip, n);
    } else {
      const auto read = const_cast<File&>(file_of(segment)).read_at(segment.position + skip, into.subspan(size, n));
      if (!read) return std::unexpected(StreamFault{read.error().message()});
      if (*read < n) return std::unexpected(StreamFault{"the file ends before the range"});
    }
    size += n;
  }
  return size;
}

// The reason that OpenSSL has put down first, in words for a log.
std::string take_reason() {
  const unsigned long first = ERR_get_error();
  ERR_clear_error();
  const char* reason = first == 0 ? nullptr : ERR_reason_error_string(first);
  if (reason == nullptr) return {};
  const std::string text = reason;
  // An alert is what the other side has said.
  for (const std::string_view alert : {"tlsv1 alert ", "tlsv13 alert ", "sslv3 alert "})
    if (text.starts_with(alert)) return "the client said: " + text.substr(alert.size());
  switch (ERR_GET_REASON(first)) {
    case SSL_R_WRONG_VERSION_NUMBER:
    case SSL_R_HTTP_REQUEST:
    case SSL_R_HTTPS_PROXY_REQUEST:
    case SSL_R_UNEXPECTED_MESSAGE:
    case SSL_R_BAD_RECORD_TYPE:
      return "what came is not TLS (" + text + ")";
    default:
      return text;
  }
}

}  // namespace

TlsStream::TlsStream(std::unique_ptr<TcpStream> socket, SSL_CTX* context)
    : socket_(std::move(socket)), ssl_(SSL_new(context)) {
  CHECK(ssl_ != nullptr, "out of memory");
  SSL_set_accept_state(ssl_);
  CHECK(SSL_set_fd(ssl_, socket_->descriptor()) == 1, "out of memory");
}

TlsStream::~TlsStream() { SSL_free(ssl_); }

std::unexpected<StreamFault> TlsStream::ended(std::string what) {
  if (ended_.empty()) ended_ = std::move(what);
  return std::unexpected(StreamFault{ended_});
}

StreamResult<TlsStream::Wants> TlsStream::verdict(int result, const char* operation) {
  const int system_error = errno;
  switch (SSL_get_error(ssl_, result)) {
    case SSL_ERROR_WANT_READ:
      return Wants::read;
    case SSL_ERROR_WANT_WRITE:
      return Wants::write;
    case SSL_ERROR_ZERO_RETURN:
      return ended("end of stream");
    case SSL_ERROR_SYSCALL:
      ERR_clear_error();
      if (system_error == 0) return ended("end of stream");
      return ended(std::string(operation) + ": " + std::generic_category().message(system_error));
    default: {
      const std::string reason = take_reason();
      return ended(reason.empty() ? std::string(operation) : reason);
    }
  }
}

Awaitable<bool> TlsStream::wait_for(Wants what) {
  if (closed_) co_return false;
  if (what == Wants::write) co_return co_await socket_->writable();
  co_return co_await socket_->readable();
}

Awaitable<StreamResult<void>> TlsStream::handshake() {
  while (!closed_) {
    ERR_clear_error();
    errno = 0;
    const int done = SSL_accept(ssl_);
    if (done == 1) {
      established_ = true;
      // Several records in one read from now on; who shakes hands for long should not hold so much.
      SSL_set_read_ahead(ssl_, 1);
      SSL_set_default_read_buffer_len(ssl_, kReadBuffer);
      kernel_sends_ = BIO_get_ktls_send(SSL_get_wbio(ssl_));
      co_return StreamResult<void>{};
    }
    const auto wants = verdict(done, "handshake");
    if (!wants) {
      // What is wrong with a certificate says more than that it is wrong.
      if (const long checked = SSL_get_verify_result(ssl_); checked != X509_V_OK)
        ended_ = fmt::format("the client's certificate: {}", X509_verify_cert_error_string(checked));
      co_return std::unexpected(StreamFault{ended_});
    }
    if (!co_await wait_for(*wants)) break;
  }
  co_return ended("closed before the handshake was done");
}

Awaitable<void> TlsStream::drain() {
  socket_->end_sending();
  std::size_t drained = 0;
  while (!closed_ && drained < kMostDrained) {
    if (!co_await socket_->readable()) break;
    const auto n = socket_->read_now(scratch());
    if (!n) break;
    drained += *n;
  }
}

bool TlsStream::heard_anything() const { return BIO_number_read(SSL_get_rbio(ssl_)) > 0; }

std::shared_ptr<X509> TlsStream::peer_certificate() const {
  X509* certificate = SSL_get1_peer_certificate(ssl_);
  return certificate == nullptr ? nullptr : std::shared_ptr<X509>(certificate, X509_free);
}

std::string TlsStream::protocol() const { return SSL_get_version(ssl_); }

std::string TlsStream::cipher() const {
  const SSL_CIPHER* cipher = SSL_get_current_cipher(ssl_);
  return cipher == nullptr ? std::string() : SSL_CIPHER_standard_name(cipher);
}

Awaitable<bool> TlsStream::readable() {
  if (closed_) co_return false;
  // What has ended is found by reading; what OpenSSL holds already makes no socket readable.
  if (!ended_.empty() || (read_waits_for_ == Wants::nothing && SSL_has_pending(ssl_) == 1)) co_return true;
  co_return co_await wait_for(read_waits_for_);
}

Awaitable<bool> TlsStream::writable() {
  co_return co_await wait_for(write_waits_for_ == Wants::read ? Wants::read : Wants::write);
}

StreamResult<std::size_t> TlsStream::read_now(std::span<std::uint8_t> into) {
  if (closed_) return std::unexpected(StreamFault{"closed"});
  if (!ended_.empty()) return std::unexpected(StreamFault{ended_});
  std::size_t total = 0;
  read_waits_for_ = Wants::nothing;
  while (total < into.size()) {
    ERR_clear_error();
    errno = 0;
    std::size_t n = 0;
    const int done = SSL_read_ex(ssl_, into.data() + total, into.size() - total, &n);
    if (done == 1) {
      total += n;
      continue;
    }
    const auto wants = verdict(done, "receive");
    if (wants) {
      read_waits_for_ = *wants;
    } else if (total == 0) {
      return std::unexpected(wants.error());
    }
    break;  // what came before the end is handed out first
  }
  return total;
}

StreamResult<std::uint64_t> TlsStream::write_some(const base::BufferChain& chain, std::size_t i, std::uint64_t skip) {
  const auto& segment = chain.segments()[i];
  const std::uint64_t left = segment.size - skip;
  ERR_clear_error();
  errno = 0;
  if (segment.source != nullptr && kernel_sends_) {
    const ossl_ssize_t n = SSL_sendfile(ssl_, file_of(segment).descriptor(),
                                        static_cast<off_t>(segment.position + skip), static_cast<std::size_t>(left), 0);
    if (n > 0) return static_cast<std::uint64_t>(n);
    if (n == 0) return ended("sendfile: the file ends before the range");
    ASSIGN_OR_RETURN(write_waits_for_, verdict(static_cast<int>(n), "sendfile"));
    return 0;
  }
  // Memory that fills a record goes as it lies; small pieces and files are brought together. A record that waits in
  // OpenSSL is asked for again from the same byte, with no less behind it.
  std::span<const std::uint8_t> record;
  if (segment.source == nullptr && left >= kRecord) {
    record = segment.bytes.span().subspan(static_cast<std::size_t>(skip), kRecord);
  } else {
    const auto size = gather(chain, {.segment = i, .skip = skip, .files = !kernel_sends_}, scratch());
    if (!size) return ended(size.error().what);
    record = scratch().first(*size);
  }
  std::size_t n = 0;
  const int done = SSL_write_ex(ssl_, record.data(), record.size(), &n);
  if (done == 1) return n;
  ASSIGN_OR_RETURN(write_waits_for_, verdict(done, "send"));
  return 0;
}

StreamResult<std::uint64_t> TlsStream::write_now(const base::BufferChain& chain, std::uint64_t from) {
  if (closed_) return std::unexpected(StreamFault{"closed"});
  if (!ended_.empty()) return std::unexpected(StreamFault{ended_});
  const auto& segments = chain.segments();
  std::uint64_t sent = 0;
  std::uint64_t skip = from;
  write_waits_for_ = Wants::nothing;
  for (std::size_t i = 0; i < segments.size() && sent < kMostAtOnce;) {
    if (skip >= segments[i].size) {
      skip -= segments[i].size;
      ++i;
      continue;
    }
    ASSIGN_OR_RETURN(const std::uint64_t n, write_some(chain, i, skip));
    if (n == 0) break;
    sent += n;
    skip += n;
  }
  return sent;
}

void TlsStream::close() {
  if (std::exchange(closed_, true)) return;
  if (established_ && ended_.empty()) {
    ERR_clear_error();
    SSL_shutdown(ssl_);
    ERR_clear_error();
  }
  socket_->close();
}

bool kernel_offers_tls() {
  std::ifstream in("/proc/sys/net/ipv4/tcp_available_ulp");
  for (std::string name; in >> name;)
    if (name == "tls") return true;
  return false;
}

}  // namespace thalweg::runtime
