#include "runtime/simulated_stream.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace thalweg::runtime {

namespace {

// What the peer's end holds until it is read; the broker waits beyond that.
constexpr std::size_t kWindow = 32 * 1024;

}  // namespace

void SimulatedLink::wake(Resume<bool>& waiter, bool with) {
  if (waiter) std::exchange(waiter, nullptr)(with);
}

void SimulatedLink::send(std::string_view bytes) {
  if (ended_ || cut_) return;
  to_broker_ += bytes;
  wake(reader_, true);
}

std::string SimulatedLink::receive() {
  std::string received = std::exchange(to_peer_, {});
  if (!received.empty()) wake(writer_, true);
  return received;
}

void SimulatedLink::hang_up() {
  ended_ = true;
  wake(reader_, true);
  wake(writer_, true);
}

void SimulatedLink::cut() {
  cut_ = true;
  hang_up();
}

Awaitable<bool> SimulatedStream::readable() {
  SimulatedLink& link = *link_;
  if (link.closed_) co_return false;
  if (!link.to_broker_.empty() || link.ended_) co_return true;
  co_return co_await suspend<bool>([&link](Resume<bool> resume) { link.reader_ = std::move(resume); });
}

StreamResult<std::size_t> SimulatedStream::read_now(std::span<std::uint8_t> into) {
  SimulatedLink& link = *link_;
  if (link.cut_) return std::unexpected(StreamFault{"connection reset"});
  if (link.to_broker_.empty()) {
    if (link.ended_) return std::unexpected(StreamFault{"end of stream"});
    return 0;
  }
  std::size_t n = std::min(into.size(), link.to_broker_.size());
  if (n > 1 && link.random_.below(4) == 0) n = 1 + link.random_.below(n);
  std::memcpy(into.data(), link.to_broker_.data(), n);
  link.to_broker_.erase(0, n);
  return n;
}

StreamResult<std::uint64_t> SimulatedStream::write_now(const base::BufferChain& chain, std::uint64_t from) {
  SimulatedLink& link = *link_;
  if (link.ended_) return std::unexpected(StreamFault{"connection reset"});
  const base::Bytes bytes = chain.flatten().slice(from);
  std::size_t n = std::min(bytes.size(), kWindow - std::min(kWindow, link.to_peer_.size()));
  if (n > 1 && link.random_.below(8) == 0) n = link.random_.below(n);
  link.to_peer_.append(bytes.first(n).view());
  return n;
}

Awaitable<bool> SimulatedStream::writable() {
  SimulatedLink& link = *link_;
  if (link.closed_) co_return false;
  if (link.ended_ || link.to_peer_.size() < kWindow) co_return true;
  co_return co_await suspend<bool>([&link](Resume<bool> resume) { link.writer_ = std::move(resume); });
}

void SimulatedStream::close() {
  link_->closed_ = link_->ended_ = true;
  link_->wake(link_->reader_, false);
  link_->wake(link_->writer_, false);
}

}  // namespace thalweg::runtime
