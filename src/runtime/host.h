// Host: the threads that a broker runs on, injected. The machine gives each event loop and each pool threads of their
// own; a simulation runs them all on one.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>
#include <string>

#include "runtime/core.h"
#include "runtime/executor.h"

namespace thalweg::runtime {

class Host {
 public:
  virtual ~Host() = default;
  // A pool of so many threads; with one, tasks run in order.
  virtual std::unique_ptr<Pool> make_pool(std::string name, std::size_t threads) = 0;
  // Sets the loop of `core` going.
  virtual void start(Core& core, const char* name) = 0;
  // Ends the loop after the tasks that are waiting.
  virtual void stop(Core& core) = 0;
  // Lets the work go on until `ready()` holds, where that needs the caller's thread.
  virtual void run_until(const std::function<bool()>& ready) = 0;

  // Waits for a value that a core or a pool sets. Not on a core.
  template <class T>
  T wait(std::future<T>& future) {
    run_until([&future] { return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready; });
    return future.get();
  }
};

// The threads of the machine, which need nobody's help.
Host& machine_host();

}  // namespace thalweg::runtime
