// FetchWaiter: how a fetch that found too little sleeps (Kafka's fetch purgatory).
//
// The fetch waits on its own core, its partitions may belong to others. Each of them holds the waiter and tells it what
// becomes readable; once that adds up, whichever core it came from, the fetch is woken. A waiter of a fetch that has
// ended is dropped by the partition the next time it looks.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/core.h"

namespace thalweg::broker {

class FetchWaiter : public std::enable_shared_from_this<FetchWaiter> {
 public:
  // `needed_bytes`: how much more has to become readable.
  FetchWaiter(runtime::Core& home, std::int64_t needed_bytes) : home_(home), needed_bytes_(needed_bytes) {}

  // True once the fetch was woken or has given up.
  [[nodiscard]] bool over() const { return over_.load(std::memory_order_acquire); }
  // Wakes the fetch, from any thread; only the first call does.
  void wake() {
    if (over_.exchange(true, std::memory_order_acq_rel)) return;
    home_.post([self = shared_from_this()] { self->resume(true); });
  }
  // More can be read, on any core; wakes the fetch once that is enough.
  void add(std::int64_t bytes) {
    if (readable_bytes_.fetch_add(bytes, std::memory_order_acq_rel) + bytes >= needed_bytes_) wake();
  }
  // Suspends until wake() or the deadline. True where something became readable. On the home core.
  runtime::Awaitable<bool> wait(base::SteadyTime deadline);

 private:
  void resume(bool woken);

  runtime::Core& home_;
  const std::int64_t needed_bytes_;
  std::atomic<std::int64_t> readable_bytes_{0};
  std::atomic<bool> over_{false};
  bool woken_ = false;
  bool resumed_ = false;
  runtime::Core::TimerId timer_;
  runtime::Resume<bool> resume_;
};

}  // namespace thalweg::broker
