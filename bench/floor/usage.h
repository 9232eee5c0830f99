// What the process spent, and what it did for it.
#pragma once

#include <sys/time.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace thalweg::floor {

// User and system time of this process, in seconds.
struct CpuTime {
  double user_s = 0;
  double system_s = 0;
};

// The CPU time of this process up to now.
CpuTime cpu_time();

// Counts requests and bytes from the first connection on; what came before (writing the log, say) does not count.
class Usage {
 public:
  // Notes a connection; the first one starts the measurement.
  void connected() {
    if (!started_) start_ = cpu_time();
    started_ = true;
  }
  // Notes a request that moved `bytes` from or to a file.
  void request(std::uint64_t bytes) {
    requests_ += 1;
    bytes_ += bytes;
  }
  // One line of JSON: requests, bytes, user_s, system_s, cpu_us_per_request, cpu_s_per_gib (null where there is none).
  [[nodiscard]] std::string report(std::string_view mode) const;

 private:
  CpuTime start_;
  bool started_ = false;
  std::uint64_t requests_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace thalweg::floor
