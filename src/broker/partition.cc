#include "broker/partition.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace thalweg::broker {

using protocol::ErrorCode;

void Partition::set_settings(std::shared_ptr<const TopicSettings> settings) {
  settings_ = std::move(settings);
  if (log_) log_->set_config(settings_->log);
}

void Partition::set_leader_epoch(std::int32_t epoch) {
  leader_epoch_ = epoch;
  if (log_) log_->assign_leader_epoch(epoch);
}

ErrorCode Partition::closed_error() const {
  switch (state_) {
    case State::offline:
      return ErrorCode::kafka_storage_error;
    case State::removed:
      return ErrorCode::unknown_topic_or_partition;
    default:
      return ErrorCode::not_leader_or_follower;
  }
}

void Partition::install(std::unique_ptr<storage::Log> log) {
  CHECK(log_ == nullptr);
  log_ = std::move(log);
  log_->set_config(settings_->log);
  log_->assign_leader_epoch(leader_epoch_);
  state_ = State::open;
  high_watermark_ = log_->log_end_offset();
  log_->on_high_watermark(high_watermark_);
  for (Waiter& waiter : std::exchange(open_waiters_, {})) waiter(ErrorCode::none);
}

std::unique_ptr<storage::Log> Partition::take_log(State state, ErrorCode error) {
  state_ = state;
  std::unique_ptr<storage::Log> log = std::move(log_);
  for (Waiter& waiter : std::exchange(open_waiters_, {})) waiter(error);
  for (DurableWaiter& durable : std::exchange(durable_waiters_, {})) durable.waiter(error);
  for (const Watch& watch : std::exchange(watches_, {})) watch.waiter->wake();
  return log;
}

void Partition::raise_high_watermark(std::int64_t offset) {
  if (offset <= high_watermark_) return;
  const std::int64_t before = high_watermark_;
  high_watermark_ = offset;
  log_->on_high_watermark(offset);
  if (!watches_.empty()) wake_fetches(log_->bytes_between(before, offset));
  while (!durable_waiters_.empty() && durable_waiters_.front().offset <= offset) {
    Waiter waiter = std::move(durable_waiters_.front().waiter);
    durable_waiters_.pop_front();
    waiter(ErrorCode::none);
  }
}

void Partition::when_durable(std::int64_t offset, Waiter waiter) {
  if (high_watermark_ >= offset) return waiter(ErrorCode::none);
  // A duplicate waits for an offset below the newest; it is put where it belongs.
  auto at = durable_waiters_.end();
  while (at != durable_waiters_.begin() && std::prev(at)->offset > offset) --at;
  durable_waiters_.insert(at, {offset, std::move(waiter)});
}

void Partition::watch(std::shared_ptr<FetchWaiter> waiter, int core) {
  std::erase_if(watches_, [](const Watch& other) { return other.waiter->over(); });
  watches_.push_back({std::move(waiter), core});
}

void Partition::wake_fetches(std::int64_t bytes) {
  std::erase_if(watches_, [bytes](const Watch& watch) {
    if (!watch.waiter->over()) watch.waiter->add(watch.core, bytes);
    return watch.waiter->over();
  });
}

}  // namespace thalweg::broker
