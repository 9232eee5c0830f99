// The shard's part of making records durable: which partitions the next round of syncs covers, and what follows from
// it.
#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "broker/broker.h"
#include "broker/log_keepers.h"
#include "broker/shard.h"

namespace thalweg::broker {

namespace {

// A disk that is full is tried again so much later.
constexpr std::chrono::milliseconds kFullDiskPause{100};

}  // namespace

void Shard::make_flush_scheduler(const std::string& directory) {
  auto flushes = std::make_unique<Flushes>();
  flushes->scheduler = std::make_unique<storage::FlushScheduler>(
      broker_.files(), core_, broker_.sync_pool(), core_.clock(), storage::FlushOptions{.directory = directory});
  flushes->scheduler->set_observer([this](std::size_t files, std::int64_t nanoseconds) {
    (void)files;
    metrics_.flushes.add();
    metrics_.flush_time.record(nanoseconds);
  });
  flushes_.push_back(std::move(flushes));
}

void Shard::request_flush(const std::shared_ptr<Partition>& partition) {
  if (std::exchange(partition->flush_requested, true)) return;
  Flushes& flushes = *flushes_[partition->directory()];
  flushes.dirty.push_back(partition);
  if (flushes.outstanding == 0) post_flush_turn(partition->directory());
}

void Shard::when_flushed(std::function<void()> done) {
  constexpr std::chrono::milliseconds kLook{1};
  if (std::ranges::all_of(flushes_, [](const auto& flushes) { return flushes->scheduler->idle(); })) return done();
  core_.at(core_.clock().steady() + kLook, [this, done = std::move(done)] { when_flushed(done); });
}

void Shard::post_flush_turn(std::size_t directory) {
  if (std::exchange(flushes_[directory]->turn_posted, true)) return;
  core_.post([this, directory] { flush_turn(directory); });
}

void Shard::flush_turn(std::size_t directory) {
  Flushes& flushes = *flushes_[directory];
  flushes.turn_posted = false;
  for (const std::shared_ptr<Partition>& partition : std::exchange(flushes.dirty, {})) {
    partition->flush_requested = false;
    if (partition->is_open()) flush_partition(directory, partition);
  }
}

void Shard::flush_partition(std::size_t directory, const std::shared_ptr<Partition>& partition) {
  Flushes& flushes = *flushes_[directory];
  auto targets = partition->log().flush_targets();
  if (!targets) {
    metrics_.flush_failures.add();
    directory_failed(directory, targets.error().message());
    return;
  }
  if (!targets->has_value()) {
    partition->raise_high_watermark(partition->log().recovery_point());
    return;
  }
  ++flushes.outstanding;
  const storage::FlushMark mark = (*targets)->mark;
  flushes.scheduler->request(std::move(**targets), [this, directory, partition, mark](runtime::IoResult<void> flushed) {
    Flushes& state = *flushes_[directory];
    --state.outstanding;
    if (!flushed) {
      metrics_.flush_failures.add();
      if (state.scheduler->offline()) {
        directory_failed(directory, flushed.error().message());
      } else {
        core_.at(core_.clock().steady() + kFullDiskPause, [this, partition] { request_flush(partition); });
      }
    } else if (partition->is_open()) {
      partition->log().mark_flushed(mark);
      partition->raise_high_watermark(partition->log().recovery_point());
      keepers_->retention.flushed(partition);
    }
    if (state.outstanding == 0 && !state.dirty.empty()) post_flush_turn(directory);
  });
}

}  // namespace thalweg::broker
