// Executor: somewhere to run a piece of work. An event loop is one (work runs there in order), a pool of threads for
// blocking calls is another (work runs side by side). Injected, so that a simulation can run both on one thread.
#pragma once

#include <cstddef>
#include <functional>

namespace thalweg::runtime {

using Task = std::move_only_function<void()>;

class Executor {
 public:
  virtual ~Executor() = default;
  // Runs `task` later; never inside this call. Safe from any thread.
  virtual void post(Task task) = 0;
};

// Somewhere for calls that wait.
class Pool : public Executor {
 public:
  // Runs what is queued, then ends; later posts are dropped.
  virtual void stop() = 0;
  // Tasks that have not begun yet.
  [[nodiscard]] virtual std::size_t queued() const = 0;
};

}  // namespace thalweg::runtime
