// TlsStream: a Stream over TLS, which is spoken by OpenSSL over a TCP socket. OpenSSL has the socket itself, so that
// where the kernel can encrypt (kernel TLS) it does, and ranges of files go out by sendfile; else they are read in
// pieces of a record and encrypted here.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <string>

#include "runtime/stream.h"
#include "runtime/tcp_stream.h"

namespace thalweg::runtime {

class TlsStream final : public Stream {
 public:
  // Takes a connected stream, on which nothing was said yet. `context` is a server's; it needs
  // SSL_MODE_ENABLE_PARTIAL_WRITE and SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER.
  TlsStream(std::unique_ptr<TcpStream> socket, SSL_CTX* context);
  ~TlsStream() override;
  TlsStream(const TlsStream&) = delete;
  TlsStream& operator=(const TlsStream&) = delete;

  // Agrees with the client, who speaks first. To be awaited before anything is read or written.
  //   errors   why not: what the client said, or what is wrong with its certificate
  Awaitable<StreamResult<void>> handshake();
  // After a failed handshake: sends nothing more, and reads until the client has closed or close() is called, so that
  // the client sees the alert and not a reset connection. Reads a bounded amount.
  Awaitable<void> drain();
  // Whether the client has sent anything at all.
  [[nodiscard]] bool heard_anything() const;

  // The certificate that the client has shown and that was found good; null where it showed none.
  [[nodiscard]] std::shared_ptr<X509> peer_certificate() const;
  // "TLSv1.3", "TLS_AES_256_GCM_SHA384", once the handshake is done.
  [[nodiscard]] std::string protocol() const;
  [[nodiscard]] std::string cipher() const;
  // Whether the kernel encrypts what is sent.
  [[nodiscard]] bool kernel_sends() const { return kernel_sends_; }

  Awaitable<bool> readable() override;
  StreamResult<std::size_t> read_now(std::span<std::uint8_t> into) override;
  StreamResult<std::uint64_t> write_now(const base::BufferChain& chain, std::uint64_t from) override;
  Awaitable<bool> writable() override;
  // Says good-bye (close_notify) where the socket takes it at once.
  void close() override;
  [[nodiscard]] const std::string& peer() const override { return socket_->peer(); }
  [[nodiscard]] const std::string& peer_host() const override { return socket_->peer_host(); }

 private:
  // What an operation of OpenSSL waits for, where it neither went nor failed.
  enum class Wants : std::uint8_t { nothing, read, write };

  // After a call of OpenSSL that gave `result`: what it waits for, or why the stream has ended.
  StreamResult<Wants> verdict(int result, const char* operation);
  std::unexpected<StreamFault> ended(std::string what);
  Awaitable<bool> wait_for(Wants what);
  // Sends from byte `skip` of segment `i` on, at most one record or, from files, what the kernel takes. 0: waits.
  StreamResult<std::uint64_t> write_some(const base::BufferChain& chain, std::size_t i, std::uint64_t skip);

  std::unique_ptr<TcpStream> socket_;
  SSL* ssl_;
  std::string ended_;                      // why nothing more goes; empty while all is well
  Wants read_waits_for_ = Wants::nothing;  // of the last read: nothing where more may lie in OpenSSL's buffers
  Wants write_waits_for_ = Wants::nothing;
  bool established_ = false;
  bool kernel_sends_ = false;
  bool closed_ = false;
};

// Whether this machine's kernel can encrypt TLS for sockets: looked up in what the kernel says of itself.
bool kernel_offers_tls();

}  // namespace thalweg::runtime
