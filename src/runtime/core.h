// Core: one event loop with its thread, its timers and its clock. Whatever belongs to a core is touched by that thread
// alone.
#pragma once

#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "runtime/await.h"
#include "runtime/executor.h"

namespace thalweg::runtime {

class Core final : public Executor {
 public:
  // A pending timer; cancel() takes it.
  struct TimerId {
    base::SteadyTime deadline;
    std::uint64_t number = 0;
    friend auto operator<=>(const TimerId&, const TimerId&) = default;
  };

  Core(int index, const base::Clock& clock);
  ~Core() override;
  Core(const Core&) = delete;
  Core& operator=(const Core&) = delete;

  [[nodiscard]] int index() const { return index_; }
  [[nodiscard]] const base::Clock& clock() const { return clock_; }
  [[nodiscard]] asio::io_context& context() { return context_; }
  // Whether the calling thread is this core's.
  [[nodiscard]] bool is_current() const {
    return std::this_thread::get_id() == thread_id_.load(std::memory_order_relaxed);
  }

  // Runs `task` on the loop, after what is already waiting there.
  void post(Task task) override { asio::post(context_, std::move(task)); }
  // Runs `task` at once where the caller is on this core, else posts it.
  void dispatch(Task task);

  // Runs `task` on this core once `deadline` has passed. Call on this core.
  TimerId at(base::SteadyTime deadline, Task task);
  // The same from another thread, `delay` from now.
  void at_any_thread(std::chrono::milliseconds delay, Task task);
  // Drops a timer that has not run; one that has is no error. Call on this core.
  void cancel(const TimerId& id) { timers_.erase(id); }

  // Runs `coroutine` on this core. It counts as alive until it ends; stop() waits for it. An exception that leaves it
  // is a bug and ends the process.
  void spawn(Awaitable<void> coroutine);
  // Coroutines alive.
  [[nodiscard]] std::int64_t spawned() const { return spawned_.load(std::memory_order_relaxed); }

  // Starts the thread; `name` is what the kernel shows.
  void start(const char* name);
  // Ends the loop after the tasks that are waiting, then the thread. What is suspended is destroyed with the Core.
  void stop();
  // The loop on the calling thread, until stop(): for tests.
  void run_on_this_thread();

  // In place of start(), for a simulation that runs the loops of all cores on its own thread: nothing runs but in
  // run_one(), and timers follow the injected clock, not the machine's.
  void start_driven() { driven_ = true; }
  // Runs one timer that is due or one task that waits. False where there is none.
  bool run_one();
  // When the next timer is due.
  [[nodiscard]] std::optional<base::SteadyTime> next_deadline() const;

  // Longest time a task waited for its turn since the last call, in nanoseconds, sampled ten times a second.
  std::int64_t take_longest_delay_ns() { return longest_delay_ns_.exchange(0, std::memory_order_relaxed); }

 private:
  void arm();
  void run_due_timers();
  void measure_delay();

  const int index_;
  const base::Clock& clock_;
  asio::io_context context_{1};
  std::optional<asio::executor_work_guard<asio::io_context::executor_type>> work_;
  asio::steady_timer alarm_{context_};
  std::map<TimerId, Task> timers_;
  std::uint64_t next_timer_ = 0;
  std::optional<base::SteadyTime> armed_;
  bool driven_ = false;
  std::atomic<std::thread::id> thread_id_;
  std::atomic<std::int64_t> spawned_{0};
  std::atomic<std::int64_t> longest_delay_ns_{0};
  std::thread thread_;
};

// Runs `work()` on `target` and returns its value on the calling coroutine's core.
template <class Work>
Awaitable<std::invoke_result_t<Work>> call_on(Core& target, Work work) {
  using Value = std::invoke_result_t<Work>;
  co_return co_await suspend<Value>([&target, work = std::move(work)](Resume<Value> resume) mutable {
    target.post([work = std::move(work), resume = std::move(resume)]() mutable { resume(work()); });
  });
}

// Runs a blocking `work()` on a pool and returns its value on the calling coroutine's core.
template <class Work>
Awaitable<std::invoke_result_t<Work>> run_on(Executor& pool, Work work) {
  using Value = std::invoke_result_t<Work>;
  co_return co_await suspend<Value>([&pool, work = std::move(work)](Resume<Value> resume) mutable {
    pool.post([work = std::move(work), resume = std::move(resume)]() mutable { resume(work()); });
  });
}

// Waits until `deadline` on `core`, which must be the coroutine's own.
Awaitable<void> sleep_until(Core& core, base::SteadyTime deadline);

}  // namespace thalweg::runtime
