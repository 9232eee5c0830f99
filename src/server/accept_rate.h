// AcceptRate: how many new connections a second there may be (max.connection.creation.rate).
//
// As in Kafka the rate is that of the last seconds together, so a burst of `kBurstSeconds` times as many is let in at
// once; what comes beyond waits its turn.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/clock.h"

namespace thalweg::server {

class AcceptRate {
 public:
  static constexpr double kBurstSeconds = 10;  // quota.window.num - 1 windows of quota.window.size.seconds
  // A limit that changes meanwhile is looked at after this long.
  static constexpr std::chrono::milliseconds kLongestWait{500};

  // Takes the place of one connection where there is one within `rate` of them a second.
  //   returns  zero where it was taken, else how long to wait before the next try
  std::chrono::nanoseconds take(base::SteadyTime now, std::int32_t rate) {
    const double most = rate * kBurstSeconds;
    if (rate != rate_) places_ = std::exchange(rate_, rate) < 0 ? most : std::min(places_, most);
    places_ = std::min(most, places_ + std::chrono::duration<double>(now - last_).count() * rate);
    last_ = now;
    if (places_ >= 1) {
      places_ -= 1;
      return std::chrono::nanoseconds(0);
    }
    if (rate == 0) return kLongestWait;
    const std::chrono::duration<double> wait((1 - places_) / rate);
    return std::clamp<std::chrono::nanoseconds>(std::chrono::duration_cast<std::chrono::nanoseconds>(wait),
                                                std::chrono::microseconds(1), kLongestWait);
  }

 private:
  std::int32_t rate_ = -1;  // none was asked for
  double places_ = 0;
  base::SteadyTime last_{};
};

}  // namespace thalweg::server
