// SimulatedHost: one thread for every event loop and every pool, and a clock that moves when nothing else does. Which
// of them runs its next task is drawn by the seed, so each seed is one order of events, and always the same.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/clock.h"
#include "runtime/host.h"
#include "runtime/random.h"

namespace thalweg::runtime {

// Everything waits for something that will not come.
class Deadlock : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class SimulatedHost final : public Host {
 public:
  explicit SimulatedHost(std::uint64_t seed) : random_(seed) {}

  [[nodiscard]] base::ManualClock& clock() { return clock_; }
  // Turns taken so far.
  [[nodiscard]] std::uint64_t turns() const { return turns_; }
  // Called before each turn.
  void set_observer(std::function<void()> observer) { observer_ = std::move(observer); }

  std::unique_ptr<Pool> make_pool(std::string name, std::size_t threads) override;
  void start(Core& core, const char* name) override;
  void stop(Core& core) override;
  // Takes turns until `ready()`.
  //   errors   throws Deadlock where nothing can run any more, or nothing comes of very many turns
  void run_until(const std::function<bool()>& ready) override;

  // Runs one task of a loop or pool that has one. False where none has.
  bool run_one();
  // Moves the clock to the next timer of any loop. False where there is none.
  bool advance();

 private:
  class SimulatedPool;

  Random random_;
  base::ManualClock clock_;
  std::vector<Core*> cores_;
  std::vector<SimulatedPool*> pools_;
  std::function<void()> observer_;
  std::uint64_t turns_ = 0;
};

}  // namespace thalweg::runtime
