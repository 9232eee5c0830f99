#include "floor/usage.h"

#include <fmt/format.h>
#include <sys/resource.h>

namespace thalweg::floor {

namespace {

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

std::string ratio(double value, std::uint64_t count) {
  return count == 0 ? "null" : fmt::format("{:.4f}", value / static_cast<double>(count));
}

}  // namespace

CpuTime cpu_time() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  return {.user_s = seconds(used.ru_utime), .system_s = seconds(used.ru_stime)};
}

std::string Usage::report(std::string_view mode) const {
  const CpuTime now = started_ ? cpu_time() : start_;
  const double user = now.user_s - start_.user_s;
  const double system = now.system_s - start_.system_s;
  constexpr double kGib = 1024.0 * 1024 * 1024;
  return fmt::format(
      R"({{"mode": "{}", "requests": {}, "bytes": {}, "user_s": {:.4f}, "system_s": {:.4f}, "cpu_us_per_request": {}, )"
      R"("cpu_s_per_gib": {}}})",
      mode, requests_, bytes_, user, system, ratio((user + system) * 1e6, requests_),
      ratio((user + system) * kGib, bytes_));
}

}  // namespace thalweg::floor
