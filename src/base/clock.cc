#include "base/clock.h"

namespace thalweg::base {

std::int64_t SystemClock::wall_ms() const {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
}

SteadyTime SystemClock::steady() const { return std::chrono::steady_clock::now(); }

}  // namespace thalweg::base
