// SimulatedStream: a connection in memory. The broker has the Stream; its peer writes and reads through the calls
// behind it. Bytes come and go in pieces that the seed cuts. All on one thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "runtime/random.h"
#include "runtime/stream.h"

namespace thalweg::runtime {

// What the two ends share; the peer may outlive the broker's end.
class SimulatedLink {
 public:
  SimulatedLink(std::uint64_t seed, std::string peer) : random_(seed), peer_(std::move(peer)) {}

  // ---- the peer's end ----
  void send(std::string_view bytes);
  // Takes everything that has arrived.
  std::string receive();
  // Sends no more and reads no more; what was sent still arrives.
  void hang_up();
  // The wire is cut: nothing passes any more, either way.
  void cut();
  // Whether nothing more will come.
  [[nodiscard]] bool over() const { return closed_ || cut_; }

 private:
  friend class SimulatedStream;
  void wake(Resume<bool>& waiter, bool with);

  Random random_;
  const std::string peer_;
  std::string to_broker_;
  std::string to_peer_;
  bool ended_ = false;   // the peer sends no more
  bool cut_ = false;     // nothing passes
  bool closed_ = false;  // by the broker
  Resume<bool> reader_;
  Resume<bool> writer_;
};

class SimulatedStream final : public Stream {
 public:
  explicit SimulatedStream(std::shared_ptr<SimulatedLink> link) : link_(std::move(link)) {}

  Awaitable<bool> readable() override;
  StreamResult<std::size_t> read_now(std::span<std::uint8_t> into) override;
  StreamResult<std::uint64_t> write_now(const base::BufferChain& chain, std::uint64_t from) override;
  Awaitable<bool> writable() override;
  void close() override;
  [[nodiscard]] const std::string& peer() const override { return link_->peer_; }
  [[nodiscard]] const std::string& peer_host() const override { return link_->peer_; }

 private:
  std::shared_ptr<SimulatedLink> link_;
};

}  // namespace thalweg::runtime
