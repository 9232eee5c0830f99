// InFlightBytes: one core's share of the budget for requests that are being handled. Whoever reads beyond it waits, so that
// no number of clients can make the broker hold more than it was given.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "broker/metrics.h"
#include "runtime/await.h"

namespace thalweg::server {

class InFlightBytes {
 public:
  InFlightBytes(std::int64_t limit, broker::CoreMetrics& metrics) : limit_(limit), metrics_(metrics) {}

  // Waits until the bytes fit, or nothing else is in flight, and takes them.
  runtime::Awaitable<void> acquire(std::size_t bytes) {
    while (used_ > 0 && used_ + static_cast<std::int64_t>(bytes) > limit_) {
      metrics_.bytes_in_flight_waits.add();
      co_await runtime::suspend<int>([this](runtime::Resume<int> resume) { waiting_.push_back(std::move(resume)); });
    }
    add(static_cast<std::int64_t>(bytes));
  }
  // Whether the bytes fit right now; takes them if so.
  bool try_acquire(std::size_t bytes) {
    if (used_ > 0 && used_ + static_cast<std::int64_t>(bytes) > limit_) return false;
    add(static_cast<std::int64_t>(bytes));
    return true;
  }
  void release(std::size_t bytes) {
    if (bytes == 0) return;
    add(-static_cast<std::int64_t>(bytes));
    for (auto& resume : std::exchange(waiting_, {})) resume(0);
  }

  // Blocks that a connection reads into, lent so that an idle connection holds none.
  static constexpr std::size_t kBlockBytes = 64 * 1024;
  base::Buffer lend_block() {
    if (spare_.empty()) return base::Buffer(kBlockBytes);
    base::Buffer block = std::move(spare_.back());
    spare_.pop_back();
    return block;
  }
  void return_block(base::Buffer block) {
    constexpr std::size_t kMostSpare = 64;
    if (block.capacity() == kBlockBytes && block.unshared() && spare_.size() < kMostSpare)
      spare_.push_back(std::move(block));
  }

 private:
  void add(std::int64_t bytes) {
    used_ += bytes;
    metrics_.bytes_in_flight.store(used_, std::memory_order_relaxed);
  }

  std::int64_t limit_;
  broker::CoreMetrics& metrics_;
  std::int64_t used_ = 0;
  std::deque<runtime::Resume<int>> waiting_;
  std::vector<base::Buffer> spare_;
};

}  // namespace thalweg::server
