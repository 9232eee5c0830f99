// Time is injected: code above runtime/ asks a Clock, so that a test or a simulation decides what time it is.
#pragma once

#include <chrono>
#include <cstdint>

namespace thalweg::base {

using SteadyTime = std::chrono::steady_clock::time_point;

class Clock {
 public:
  virtual ~Clock() = default;
  // Milliseconds since 1970-01-01 UTC, as record timestamps use them.
  [[nodiscard]] virtual std::int64_t wall_ms() const = 0;
  // Never goes back; for deadlines and durations.
  [[nodiscard]] virtual SteadyTime steady() const = 0;
};

// The clock of the machine.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] std::int64_t wall_ms() const override;
  [[nodiscard]] SteadyTime steady() const override;
};

// A clock that stands still until told.
class ManualClock final : public Clock {
 public:
  explicit ManualClock(std::int64_t wall_ms = 1'700'000'000'000) : wall_ms_(wall_ms) {}
  [[nodiscard]] std::int64_t wall_ms() const override { return wall_ms_; }
  [[nodiscard]] SteadyTime steady() const override { return steady_; }
  // Moves both clocks forward.
  void advance(std::chrono::milliseconds by) {
    wall_ms_ += by.count();
    steady_ += by;
  }

 private:
  std::int64_t wall_ms_;
  SteadyTime steady_{std::chrono::seconds(1)};
};

}  // namespace thalweg::base
