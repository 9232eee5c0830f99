// FetchWaiter: how a fetch that found too little sleeps (Kafka's fetch purgatory).
//
// The fetch waits on its own core, its partitions may belong to others. Each core that reads for it tells it what there
// is, and holds it in the partitions, which tell it what becomes readable. Once that adds up, whichever core it came
// from, the fetch is woken; it then reads again only where something was added. A waiter of a fetch that has ended is
// dropped by the partition the next time it looks.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include "runtime/core.h"

namespace thalweg::broker {

class FetchWaiter : public std::enable_shared_from_this<FetchWaiter> {
 public:
  // `needed_bytes`: how much has to be readable.
  FetchWaiter(runtime::Core& home, std::int64_t needed_bytes) : home_(home), needed_bytes_(needed_bytes) {}

  // True once the fetch was woken, found enough or has given up. From any thread, like all but wait().
  [[nodiscard]] bool over() const { return over_.load(std::memory_order_acquire); }
  // Wakes the fetch, which has to look at everything again; only the first call does.
  void wake() {
    added_on_.store(kEverywhere);
    end_wait();
  }
  // A core has read for the fetch, and found so many bytes. Wakes it only where some were added meanwhile: the fetch
  // itself sees what was found when all cores have read.
  void found(std::int64_t bytes) {
    const std::int64_t all = found_bytes_.fetch_add(bytes) + bytes;
    const std::int64_t added = added_bytes_.load();
    if (all + added < needed_bytes_) return;
    if (added > 0) {
      end_wait();
    } else {
      give_up();
    }
  }
  // More can be read on that core; wakes the fetch once there is enough.
  void add(int core, std::int64_t bytes) {
    added_on_.fetch_or(mark_of(core));
    if (added_bytes_.fetch_add(bytes) + bytes + found_bytes_.load() >= needed_bytes_) end_wait();
  }
  // Nobody will wait, or waits any longer.
  void give_up() { over_.store(true, std::memory_order_release); }
  // Whether something may have been added on that core since it read.
  [[nodiscard]] bool added_on(int core) const { return (added_on_.load() & mark_of(core)) != 0; }
  // Suspends until wake() or the deadline. True where something became readable. On the home core.
  runtime::Awaitable<bool> wait(base::SteadyTime deadline);

 private:
  static constexpr std::uint64_t kEverywhere = ~std::uint64_t{0};
  // Beyond 64 cores some share a mark, and are read again together.
  static std::uint64_t mark_of(int core) { return std::uint64_t{1} << (static_cast<unsigned>(core) % 64U); }
  void end_wait() {
    if (over_.exchange(true, std::memory_order_acq_rel)) return;
    home_.post([self = shared_from_this()] { self->resume(true); });
  }
  void resume(bool woken);

  runtime::Core& home_;
  const std::int64_t needed_bytes_;
  std::atomic<std::int64_t> found_bytes_{0};
  std::atomic<std::int64_t> added_bytes_{0};
  std::atomic<std::uint64_t> added_on_{0};
  std::atomic<bool> over_{false};
  bool woken_ = false;
  bool resumed_ = false;
  runtime::Core::TimerId timer_;
  runtime::Resume<bool> resume_;
};

}  // namespace thalweg::broker
