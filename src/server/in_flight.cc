#include "server/in_flight.h"

namespace thalweg::server {

namespace {

// How long a half-sent frame may stand still while others wait for its memory.
constexpr std::chrono::seconds kStalled{5};
constexpr std::chrono::milliseconds kLook{500};

}  // namespace

runtime::Awaitable<void> InFlightBytes::acquire(std::size_t bytes) {
  while (!try_acquire(bytes)) {
    metrics_.bytes_in_flight_waits.add();
    watch_for_stalled();
    co_await runtime::suspend<int>([this](runtime::Resume<int> resume) { waiting_.push_back(std::move(resume)); });
  }
}

bool InFlightBytes::try_acquire(std::size_t bytes) {
  if (used_ > 0 && used_ + static_cast<std::int64_t>(bytes) > limit_) return false;
  add(static_cast<std::int64_t>(bytes));
  return true;
}

void InFlightBytes::release(std::size_t bytes) {
  if (bytes == 0) return;
  add(-static_cast<std::int64_t>(bytes));
  for (auto& resume : std::exchange(waiting_, {})) resume(0);
}

void InFlightBytes::add(std::int64_t bytes) {
  used_ += bytes;
  metrics_.bytes_in_flight.store(used_, std::memory_order_relaxed);
}

void InFlightBytes::watch_for_stalled() {
  if (std::exchange(watching_, true)) return;
  core_.at(core_.clock().steady() + kLook, [this] {
    watching_ = false;
    if (waiting_.empty()) return;
    const base::SteadyTime limit = core_.clock().steady() - kStalled;
    for (PartialFrame* frame : partial_)
      if (frame->last_byte() < limit) frame->give_up();
    watch_for_stalled();
  });
}

}  // namespace thalweg::server
