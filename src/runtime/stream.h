// Stream: one connection's bytes, both ways. The real one is a TCP socket; a simulation has its own in memory, and TLS
// wraps one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/bytes.h"
#include "base/result.h"
#include "runtime/await.h"

namespace thalweg::runtime {

// Why a stream ended; `reset` and `closed` are a peer's doing, the rest is named.
struct StreamFault {
  std::string what;
};
template <class T>
using StreamResult = base::Result<T, StreamFault>;

class Stream {
 public:
  virtual ~Stream() = default;
  // Waits until something can be read, without holding a buffer meanwhile. False where the stream was closed here.
  virtual Awaitable<bool> readable() = 0;
  // Reads what is there, up to into.size() bytes; 0 where nothing is there right now.
  //   errors   "end of stream" where the peer has sent all it will; resets and the like
  virtual StreamResult<std::size_t> read_now(std::span<std::uint8_t> into) = 0;
  // Sends the chain from byte `from` on, as much as goes without waiting. Returns how many bytes went.
  virtual StreamResult<std::uint64_t> write_now(const base::BufferChain& chain, std::uint64_t from) = 0;
  // Waits until something can be written. False where the stream was closed here.
  virtual Awaitable<bool> writable() = 0;
  // Ends the stream both ways; whoever waits is told. May be called more than once.
  virtual void close() = 0;
  // "127.0.0.1:51234"
  [[nodiscard]] virtual const std::string& peer() const = 0;
  // The peer's address without the port, as quotas and connection limits count it.
  [[nodiscard]] virtual const std::string& peer_host() const = 0;
};

}  // namespace thalweg::runtime
