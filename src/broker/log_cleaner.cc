#include "broker/log_cleaner.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "broker/broker.h"
#include "broker/log_keepers.h"
#include "broker/shard.h"

namespace thalweg::broker {

namespace {

using runtime::Awaitable;

// Bytes that one step reads, about: what a thread of the pool does before it is another's turn.
constexpr std::uint64_t kStepBytes = std::uint64_t{4} << 20;
constexpr int kColdRounds = 32;

// How far a pass is ahead of its rate, which may change on the way.
class Throttle {
 public:
  explicit Throttle(const base::Clock& clock) : clock_(clock), began_(clock.steady()) {}

  // Counts bytes at `rate` of them a second.
  void moved(double bytes, double rate) {
    set_rate(rate);
    due_s_ += bytes / rate_;
  }
  // What is still ahead counts at the new rate.
  void set_rate(double rate) {
    rate = std::max(1.0, rate);
    const double ahead = due_s_ - elapsed_s();
    if (ahead > 0) due_s_ = elapsed_s() + ahead * rate_ / rate;
    rate_ = rate;
  }
  // How long to wait, an hour at most.
  [[nodiscard]] std::chrono::nanoseconds ahead() const {
    const std::chrono::duration<double> ahead(std::clamp(due_s_ - elapsed_s(), 0.0, 3600.0));
    return std::chrono::duration_cast<std::chrono::nanoseconds>(ahead);
  }

 private:
  [[nodiscard]] double elapsed_s() const { return std::chrono::duration<double>(clock_.steady() - began_).count(); }

  const base::Clock& clock_;
  const base::SteadyTime began_;
  double rate_ = 1;
  double due_s_ = 0;
};

}  // namespace

LogCleaner::LogCleaner(Shard& shard) : shard_(shard), pool_(shard.broker().cleaner_pool()) {}

void LogCleaner::start() {
  if (!shard_.broker().settings().cleaner_enabled) return;
  started_ = true;
  look();
  schedule();
}

void LogCleaner::reconfigured() {
  if (!started_ || shard_.live().cleaner.backoff_ms == backoff_ms_) return;
  shard_.core().cancel(next_look_);
  schedule();
}

std::shared_ptr<runtime::Pool> LogCleaner::use_pool(std::shared_ptr<runtime::Pool> pool) {
  return std::exchange(pool_, std::move(pool));
}

void LogCleaner::schedule() {
  backoff_ms_ = shard_.live().cleaner.backoff_ms;
  const auto deadline = shard_.core().clock().steady() + std::chrono::milliseconds(backoff_ms_);
  next_look_ = shard_.core().at(deadline, [this] {
    look();
    schedule();
  });
}

void LogCleaner::look() {
  if (busy_) return;
  for (auto& partition : queue_.take(shard_.now_ms())) candidates_.push_back(std::move(partition));
  std::shared_ptr<Partition> dirtiest;
  storage::CleaningPlan its_plan;
  std::vector<std::shared_ptr<Partition>> others;
  for (std::shared_ptr<Partition>& partition : std::exchange(candidates_, {})) {
    if (!partition->is_open() || !partition->settings().compacted || partition->uncleanable) continue;
    if (partition->backing_up) {
      queue_.touch(partition);
      continue;
    }
    storage::CleaningPlan plan = this->plan(partition);
    if (plan.look_again_ms) queue_.set(partition, *plan.look_again_ms);
    if (!plan.is_due(partition->log().config())) continue;
    if (!dirtiest || plan.dirty_ratio() > its_plan.dirty_ratio()) {
      std::swap(dirtiest, partition);
      std::swap(its_plan, plan);
    }
    if (partition) others.push_back(std::move(partition));
  }
  candidates_ = std::move(others);
  if (!dirtiest) return;
  busy_ = true;
  shard_.core().spawn(clean(std::move(dirtiest), std::move(its_plan)));
}

storage::CleaningPlan LogCleaner::plan(const std::shared_ptr<Partition>& partition) {
  storage::Log& log = partition->log();
  storage::CleaningFacts facts;
  facts.segments = log.cleanable_segments();
  if (facts.segments.size() + 1 < log.segment_count()) {
    // A compaction never touches what a crash could still tear.
    shard_.request_flush(partition);
    queue_.touch(partition);
  }
  facts.clean_end = partition->clean_end;
  facts.last_stable_offset = partition->last_stable_offset();
  facts.now_ms = shard_.now_ms();
  return storage::plan_cleaning(std::move(facts), log.config());
}

Awaitable<void> LogCleaner::clean(std::shared_ptr<Partition> partition, storage::CleaningPlan plan) {
  // A topic that is deleted meanwhile and made again must not meet the files that the pass still writes.
  const std::string folder = partition->log().folder();
  shard_.folder_busy(folder);
  partition->cleaning = true;
  const bool done = co_await pass(partition, std::move(plan));
  partition->cleaning = false;
  shard_.folder_free(folder);
  (done ? shard_.metrics().compactions : shard_.metrics().compaction_failures).add();
  // The map may have been full, and other segments have come meanwhile.
  if (partition->is_open()) queue_.touch(partition);
  busy_ = false;
  if (!done) co_return;
  shard_.core().post([this] { look(); });
}

Awaitable<storage::ReadOutcome<std::vector<storage::AbortedTransaction>>> LogCleaner::aborted_in(
    std::shared_ptr<Partition> partition, std::int64_t first_offset, std::int64_t end_offset) {
  for (int round = 0;; ++round) {
    const auto blocking = round < kColdRounds ? storage::Blocking::never : storage::Blocking::allowed;
    auto aborted = partition->log().aborted_transactions(first_offset, end_offset, blocking);
    if (aborted || aborted.error().kind != storage::ReadFault::Kind::cold) co_return aborted;
    (void)co_await runtime::run_on(shard_.broker().disk_pool(),
                                   [range = aborted.error().cold] { return storage::warm(range); });
    if (!partition->is_open()) co_return std::unexpected(storage::ReadFault::corrupt("the partition was closed"));
  }
}

// True where it came to its end.
Awaitable<bool> LogCleaner::pass(std::shared_ptr<Partition> partition, storage::CleaningPlan plan) {
  Broker& broker = shard_.broker();
  const std::int64_t begin = plan.segments.front().base_offset;
  const std::int64_t end = plan.segments.back().end_offset;
  auto aborted = co_await aborted_in(partition, begin, end);
  if (!aborted) {
    if (partition->is_open()) failed(partition, storage::as_io_error(std::move(aborted).error()));
    co_return false;
  }
  storage::Log& log = partition->log();
  storage::CleanerJob job;
  job.folder = log.folder();
  job.config = log.config();
  job.segments = std::move(plan.segments);
  job.first_dirty_offset = plan.first_dirty_offset;
  job.aborted = std::move(*aborted);
  for (const storage::ProducerEntry& producer : log.producers().entries())
    job.producers[producer.producer_id] = {
        .last_offset = producer.has_batches() ? std::optional(producer.last_offset()) : std::nullopt,
        .epoch = producer.epoch};
  job.now_ms = shard_.now_ms();
  job.map = {.most_bytes = static_cast<std::size_t>(shard_.live().cleaner.dedupe_buffer_bytes / broker.core_count()),
             .load_factor = shard_.live().cleaner.load_factor};
  job.secret = {shard_.random().next_u64(), shard_.random().next_u64()};

  Throttle throttle(shard_.core().clock());
  double bytes = 0;
  auto cleaner = std::make_shared<storage::Cleaner>(broker.files(), std::move(job));
  for (bool done = false; !done;) {
    auto progress = co_await runtime::run_on(*pool_, [cleaner] { return cleaner->step(kStepBytes); });
    if (!partition->is_open()) co_return false;
    if (!progress) {
      failed(partition, progress.error());
      co_return false;
    }
    shard_.metrics().compaction_bytes_read.add(static_cast<std::int64_t>(progress->bytes_read));
    shard_.metrics().compaction_bytes_written.add(static_cast<std::int64_t>(progress->bytes_written));
    if (progress->ready && !swap_in(partition, *progress->ready)) co_return false;
    done = progress->done;
    const auto step_bytes = static_cast<double>(progress->bytes_read + progress->bytes_written);
    bytes += step_bytes;
    throttle.moved(step_bytes, shard_.live().cleaner.io_max_bytes_per_second / broker.core_count());
    if (done) continue;
    while (throttle.ahead() > std::chrono::nanoseconds(0)) {
      // In pieces, so that a rate that is raised meanwhile need not wait for what the old one asked for.
      constexpr std::chrono::nanoseconds kLongestPause = std::chrono::seconds(1);
      const auto pause = std::min(throttle.ahead(), kLongestPause);
      co_await runtime::sleep_until(shard_.core(), shard_.core().clock().steady() + pause);
      if (!partition->is_open()) co_return false;
      throttle.set_rate(shard_.live().cleaner.io_max_bytes_per_second / broker.core_count());
    }
  }
  partition->clean_end = std::max(partition->clean_end, cleaner->clean_end());
  LOG_INFO("cleaner", "{}-{}: compacted up to offset {}, {} keys, {:.0f} bytes read and written", partition->topic(),
           partition->key().partition, partition->clean_end, cleaner->keys(), bytes);
  broker.core(0).post([&home = *broker.log_directories()[partition->directory()], name = partition->log().partition(),
                       clean_end = partition->clean_end] {
    home.clean_ends->raise({{name, clean_end}}, [](const runtime::IoResult<void>& written) {
      if (!written) LOG_ERROR("cleaner", "cannot write a checkpoint: {}", written.error().message());
    });
  });
  co_return true;
}

bool LogCleaner::swap_in(const std::shared_ptr<Partition>& partition, const storage::CleanedSegment& cleaned) {
  auto replaced = partition->log().replace_segments(cleaned);
  if (!replaced) {
    // The log may have lost a file that it counts on; a restart finishes what was begun.
    LOG_ERROR("cleaner", "{}-{}: {}", partition->topic(), partition->key().partition, replaced.error().message());
    shard_.directory_failed(partition->directory(), replaced.error().message());
    return false;
  }
  shard_.keepers().retention.remove_later(std::move(replaced->files), partition->settings().file_delete_delay_ms);
  shard_.request_flush(partition);
  return true;
}

void LogCleaner::failed(const std::shared_ptr<Partition>& partition, const runtime::IoError& error) {
  LOG_ERROR("cleaner", "cannot compact {}-{}: {}", partition->topic(), partition->key().partition, error.message());
  if (is_fault_of_disk(error)) return shard_.directory_failed(partition->directory(), error.message());
  // Without space or descriptors it is tried again, with bytes that make no sense it is not.
  if (!error.out_of_space() && !error.out_of_descriptors()) partition->uncleanable = true;
}

}  // namespace thalweg::broker
