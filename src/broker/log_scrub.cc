#include "broker/log_scrub.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/log.h"
#include "broker/broker.h"
#include "broker/shard.h"
#include "storage/batch_check.h"
#include "storage/batch_scanner.h"

namespace thalweg::broker {

namespace {

using runtime::Awaitable;

constexpr std::int64_t kPassEveryMs = 24LL * 60 * 60 * 1000;
// Bytes that one step reads, about: what a thread of the pool does before it is another's turn.
constexpr std::uint64_t kStepBytes = std::uint64_t{1} << 20;

// One segment, read from front to back on a pool.
class SegmentScrub {
 public:
  SegmentScrub(runtime::FileSystem& files, storage::Log::Extent extent) : files_(files), extent_(std::move(extent)) {}

  struct Step {
    std::uint64_t bytes = 0;
    std::vector<std::string> faults;  // lines
    bool done = false;
  };
  Step step() {
    Step step;
    if (!open(step)) return step;
    while (step.bytes < kStepBytes) {
      auto next = scanner_->next();
      if (!next || !*next) {
        step.done = true;
        // Behind what is no batch the next one cannot be found by its header.
        if (!next) step.faults.push_back(next.error().io.what);
        return step;
      }
      step.bytes += (*next)->size;
      if (const auto unsound = storage::find_unsound_batch(scanner_->bytes()))
        step.faults.push_back(fmt::format("{}: position {}, offset {}: {}", extent_.path, (*next)->position,
                                          (*next)->base_offset, unsound->what));
    }
    return step;
  }

 private:
  bool open(Step& step) {
    if (scanner_) return true;
    auto file = files_.open(extent_.path, runtime::OpenMode::read);
    if (!file) {
      step.done = true;
      // Retention or a compaction has taken it meanwhile.
      if (file.error().error_number != ENOENT) step.faults.push_back(file.error().message());
      return false;
    }
    scanner_.emplace(std::move(*file), 0, extent_.size_bytes, storage::BatchScanner::What::whole,
                     storage::Blocking::allowed);
    return true;
  }

  runtime::FileSystem& files_;
  const storage::Log::Extent extent_;
  std::optional<storage::BatchScanner> scanner_;
};

}  // namespace

void LogScrub::start() {
  const Settings& settings = shard_.broker().settings();
  if (settings.scrub_bytes_per_second > 0) schedule(settings.initial_task_delay_ms);
}

void LogScrub::schedule(std::int64_t delay_ms) {
  shard_.core().at(shard_.core().clock().steady() + std::chrono::milliseconds(delay_ms),
                   [this] { shard_.core().spawn(pass()); });
}

Awaitable<void> LogScrub::pass() {
  const auto began = shard_.core().clock().steady();
  std::vector<std::weak_ptr<Partition>> partitions;
  shard_.for_each_partition([&](Partition& partition) { partitions.push_back(partition.weak_from_this()); });
  for (const std::weak_ptr<Partition>& each : partitions) {
    std::shared_ptr<Partition> partition = each.lock();
    if (partition && partition->is_open()) co_await scrub(std::move(partition));
    if (shard_.stopping()) co_return;
  }
  const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(shard_.core().clock().steady() - began);
  schedule(std::max<std::int64_t>(kPassEveryMs - took.count(), 0));
}

Awaitable<void> LogScrub::scrub(std::shared_ptr<Partition> partition) {
  std::vector<storage::Log::Extent> extents = partition->log().extents();
  for (storage::Log::Extent& extent : extents) {
    if (extent.size_bytes == 0) continue;
    const std::int64_t base_offset = extent.base_offset;
    const auto faults = co_await read(partition, std::move(extent));
    if (!faults) co_return;
    if (faults->empty()) continue;
    // A compaction may have put another file in its place since the log was asked: only what is found twice is true.
    auto now = partition->log().extents();
    const auto there = std::ranges::find(now, base_offset, &storage::Log::Extent::base_offset);
    if (there == now.end()) continue;
    const auto again = co_await read(partition, std::move(*there));
    if (!again) co_return;
    for (const std::string& fault : *again) {
      if (std::ranges::find(*faults, fault) == faults->end()) continue;
      shard_.metrics().scrub_faults.add();
      shard_.report_unsound(fault);
    }
  }
}

Awaitable<std::optional<std::vector<std::string>>> LogScrub::read(std::shared_ptr<Partition> partition,
                                                                  storage::Log::Extent extent) {
  auto segment = std::make_shared<SegmentScrub>(shard_.broker().files(), std::move(extent));
  std::vector<std::string> faults;
  for (bool done = false; !done;) {
    SegmentScrub::Step step =
        co_await runtime::run_on(shard_.broker().disk_pool(), [segment] { return segment->step(); });
    shard_.metrics().scrub_bytes.add(static_cast<std::int64_t>(step.bytes));
    std::ranges::move(step.faults, std::back_inserter(faults));
    done = step.done;
    co_await pace(step.bytes);
    // A log that is cut or removed meanwhile is none to say anything about.
    if (!partition->is_open() || shard_.stopping()) co_return std::nullopt;
  }
  co_return faults;
}

Awaitable<void> LogScrub::pace(std::uint64_t bytes) {
  const double rate =
      static_cast<double>(shard_.broker().settings().scrub_bytes_per_second) / shard_.broker().core_count();
  const auto pause = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(static_cast<double>(bytes) / std::max(rate, 1.0)));
  co_await runtime::sleep_until(shard_.core(), shard_.core().clock().steady() + pause);
}

}  // namespace thalweg::broker
