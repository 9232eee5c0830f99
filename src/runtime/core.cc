#include "runtime/core.h"

#include <pthread.h>

#include <chrono>
#include <exception>

#include "base/log.h"

namespace thalweg::runtime {

namespace {

constexpr std::chrono::milliseconds kDelaySample{100};

}  // namespace

Core::Core(int index, const base::Clock& clock)
    : index_(index), clock_(clock), work_(asio::make_work_guard(context_)) {}

Core::~Core() {
  if (thread_.joinable()) stop();
}

void Core::dispatch(Task task) {
  if (is_current()) {
    task();
  } else {
    post(std::move(task));
  }
}

Core::TimerId Core::at(base::SteadyTime deadline, Task task) {
  const TimerId id{deadline, next_timer_++};
  timers_.emplace(id, std::move(task));
  arm();
  return id;
}

void Core::at_any_thread(std::chrono::milliseconds delay, Task task) {
  post([this, delay, task = std::move(task)]() mutable { at(clock_.steady() + delay, std::move(task)); });
}

// One alarm of the machine serves all timers; one that rings early, since its timer was cancelled, does no harm.
void Core::arm() {
  if (timers_.empty() || driven_) return;
  const base::SteadyTime earliest = timers_.begin()->first.deadline;
  if (armed_ && *armed_ <= earliest) return;
  armed_ = earliest;
  alarm_.expires_at(earliest);
  alarm_.async_wait([this](const boost::system::error_code& error) {
    if (!error) run_due_timers();
  });
}

void Core::run_due_timers() {
  armed_.reset();
  const base::SteadyTime now = clock_.steady();
  while (!timers_.empty() && timers_.begin()->first.deadline <= now) {
    auto due = timers_.extract(timers_.begin());
    due.mapped()();
  }
  arm();
}

void Core::measure_delay() {
  const base::SteadyTime due = clock_.steady() + kDelaySample;
  at(due, [this, due] {
    const std::int64_t late = std::chrono::nanoseconds(clock_.steady() - due).count();
    if (late > longest_delay_ns_.load(std::memory_order_relaxed))
      longest_delay_ns_.store(late, std::memory_order_relaxed);
    measure_delay();
  });
}

void Core::spawn(Awaitable<void> coroutine) {
  spawned_.fetch_add(1, std::memory_order_relaxed);
  asio::co_spawn(context_, std::move(coroutine), [this](const std::exception_ptr& error) {
    spawned_.fetch_sub(1, std::memory_order_relaxed);
    if (!error) return;
    try {
      std::rethrow_exception(error);
    } catch (const std::exception& e) {
      LOG_ERROR("runtime", "a coroutine ended with an exception: {}", e.what());
    }
    std::terminate();
  });
}

void Core::start(const char* name) {
  thread_ = std::thread([this, name = std::string(name)] {
    pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
    run_on_this_thread();
  });
}

void Core::run_on_this_thread() {
  thread_id_ = std::this_thread::get_id();
  post([this] { measure_delay(); });
  context_.run();
}

void Core::stop() {
  post([this] {
    timers_.clear();
    alarm_.cancel();
    work_.reset();
    context_.stop();
  });
  if (thread_.joinable()) thread_.join();
  while (driven_ && !context_.stopped()) run_one();
}

bool Core::run_one() {
  // Only the core whose turn it is counts as current, though all have the same thread.
  thread_id_ = std::this_thread::get_id();
  bool ran = true;
  if (!timers_.empty() && timers_.begin()->first.deadline <= clock_.steady()) {
    auto due = timers_.extract(timers_.begin());
    due.mapped()();
  } else {
    ran = context_.poll_one() > 0;
  }
  thread_id_ = std::thread::id();
  return ran;
}

std::optional<base::SteadyTime> Core::next_deadline() const {
  if (timers_.empty()) return std::nullopt;
  return timers_.begin()->first.deadline;
}

Awaitable<void> sleep_until(Core& core, base::SteadyTime deadline) {
  co_await suspend<int>([&core, deadline](Resume<int> resume) {
    core.at(deadline, [resume = std::move(resume)]() mutable { resume(0); });
  });
}

}  // namespace thalweg::runtime
