// InFlightBytes: one core's share of the budget for requests that are being read and handled. Whoever comes beyond it
// waits, so that no number of clients can make the broker hold more than it was given.
//
// A frame is charged for as its bytes come, not for what it claims, so half a frame costs what was sent of it. A
// connection that holds such bytes and sends no more is ended once others have to wait for them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <unordered_set>
#include <utility>

#include "broker/metrics.h"
#include "runtime/await.h"
#include "runtime/core.h"

namespace thalweg::server {

// Whoever is charged for a frame that is not whole yet.
class PartialFrame {
 public:
  virtual ~PartialFrame() = default;
  // When its last byte came.
  [[nodiscard]] virtual base::SteadyTime last_byte() const = 0;
  // Gives the frame up and its bytes back, not inside this call.
  virtual void give_up() = 0;
};

class InFlightBytes {
 public:
  InFlightBytes(std::int64_t limit, runtime::Core& core, broker::CoreMetrics& metrics)
      : limit_(limit), core_(core), metrics_(metrics) {}

  // Waits until the bytes fit, or nothing else is in flight, and takes them.
  runtime::Awaitable<void> acquire(std::size_t bytes);
  // Whether the bytes fit right now; takes them if so.
  bool try_acquire(std::size_t bytes);
  void release(std::size_t bytes);
  void add_partial(PartialFrame* frame) { partial_.insert(frame); }
  void remove_partial(PartialFrame* frame) { partial_.erase(frame); }

 private:
  void add(std::int64_t bytes);
  void watch_for_stalled();

  const std::int64_t limit_;
  runtime::Core& core_;
  broker::CoreMetrics& metrics_;
  std::int64_t used_ = 0;
  std::deque<runtime::Resume<int>> waiting_;
  std::unordered_set<PartialFrame*> partial_;
  bool watching_ = false;
};

}  // namespace thalweg::server
