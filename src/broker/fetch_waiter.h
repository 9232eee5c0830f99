// FetchWaiter and FetchWatch: how a fetch that found too little sleeps (Kafka's fetch purgatory).
//
// The fetch waits on its own core, its partitions may belong to others. On each core it leaves one FetchWatch, shared
// by that core's partitions, which adds up what becomes readable and wakes the fetch once. A watch of a fetch that has
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
  explicit FetchWaiter(runtime::Core& home) : home_(home) {}

  // True once the fetch was woken or has given up.
  [[nodiscard]] bool over() const { return over_.load(std::memory_order_acquire); }
  // Wakes the fetch, from any thread; only the first call does.
  void wake() {
    if (over_.exchange(true, std::memory_order_acq_rel)) return;
    home_.post([self = shared_from_this()] { self->resume(true); });
  }
  // Suspends until wake() or the deadline. True where something became readable. On the home core.
  runtime::Awaitable<bool> wait(base::SteadyTime deadline);

 private:
  void resume(bool woken);

  runtime::Core& home_;
  std::atomic<bool> over_{false};
  bool woken_ = false;
  bool resumed_ = false;
  runtime::Core::TimerId timer_;
  runtime::Resume<bool> resume_;
};

struct FetchWatch {
  std::shared_ptr<FetchWaiter> waiter;
  std::int64_t needed_bytes = 1;
  std::int64_t readable_bytes = 0;

  // More can be read; wakes the fetch once that is enough.
  void add(std::int64_t bytes) {
    readable_bytes += bytes;
    if (readable_bytes >= needed_bytes) waiter->wake();
  }
};

}  // namespace thalweg::broker
