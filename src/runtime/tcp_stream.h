// TcpStream: a Stream over a TCP socket. Memory goes out with sendmsg, ranges of files with sendfile.
#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <string>

#include "runtime/stream.h"

namespace thalweg::runtime {

class TcpStream final : public Stream {
 public:
  // Takes the connected socket, which lives on the core that will use the stream.
  explicit TcpStream(asio::ip::tcp::socket socket);

  Awaitable<bool> readable() override;
  StreamResult<std::size_t> read_now(std::span<std::uint8_t> into) override;
  StreamResult<std::uint64_t> write_now(const base::BufferChain& chain, std::uint64_t from) override;
  Awaitable<bool> writable() override;
  void close() override;
  // Tells the peer that nothing more comes; what it sends can still be read.
  void end_sending();
  // The socket, for who speaks over it in another way. -1 once closed.
  [[nodiscard]] int descriptor() { return socket_.native_handle(); }
  [[nodiscard]] const std::string& peer() const override { return peer_; }
  [[nodiscard]] const std::string& peer_host() const override { return peer_host_; }

 private:
  // What lies in memory from segment `first` on, without its first `skip` bytes, and at most one short file range, in
  // one call. Returns how many bytes went, 0 where the socket is full.
  StreamResult<std::uint64_t> send_memory(const base::BufferChain& chain, std::size_t first, std::uint64_t skip);
  // A file range without its first `skip` bytes. Returns how many bytes went, 0 where the socket is full.
  StreamResult<std::uint64_t> send_file(const base::BufferChain::Segment& segment, std::uint64_t skip);

  asio::ip::tcp::socket socket_;
  std::string peer_;
  std::string peer_host_;
};

}  // namespace thalweg::runtime
