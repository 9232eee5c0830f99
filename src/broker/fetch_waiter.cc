#include "broker/fetch_waiter.h"

namespace thalweg::broker {

runtime::Awaitable<bool> FetchWaiter::wait(base::SteadyTime deadline) {
  // Woken between the look at the partitions and now.
  if (resumed_) co_return woken_;
  const auto self = shared_from_this();
  co_return co_await runtime::suspend<bool>([this, self, deadline](runtime::Resume<bool> resume) {
    resume_ = std::move(resume);
    timer_ = home_.at(deadline, [self] {
      if (!self->over_.exchange(true, std::memory_order_acq_rel)) self->resume(false);
    });
  });
}

void FetchWaiter::resume(bool woken) {
  woken_ = woken;
  resumed_ = true;
  if (!resume_) return;  // not waiting yet; wait() looks first
  home_.cancel(timer_);
  std::exchange(resume_, nullptr)(woken);
}

}  // namespace thalweg::broker
