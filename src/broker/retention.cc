#include "broker/retention.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "broker/broker.h"
#include "broker/shard.h"

namespace thalweg::broker {

namespace {

// What one turn of the loop looks at, and how many segments of one partition it renames.
constexpr std::size_t kPartitionsPerTurn = 64;
constexpr std::size_t kSegmentsPerTurn = 16;

}  // namespace

void Retention::start() { schedule(shard_.broker().settings().initial_task_delay_ms); }

void Retention::schedule(std::int64_t delay_ms) {
  shard_.core().at(shard_.core().clock().steady() + std::chrono::milliseconds(delay_ms), [this] {
    sweep();
    schedule(shard_.broker().settings().retention_check_interval_ms);
  });
}

void Retention::sweep() {
  for (auto& partition : queue_.take(shard_.now_ms())) pending_.push_back(std::move(partition));
  post_turn();
}

void Retention::post_turn() {
  if (pending_.empty() || std::exchange(turn_posted_, true)) return;
  shard_.core().post([this] { turn(); });
}

void Retention::turn() {
  turn_posted_ = false;
  for (std::size_t left = std::min(pending_.size(), kPartitionsPerTurn); left > 0; --left) {
    const std::shared_ptr<Partition> partition = std::move(pending_.front());
    pending_.pop_front();
    if (partition->is_open()) look_at(partition);
  }
  post_turn();
}

void Retention::look_at(const std::shared_ptr<Partition>& partition) {
  // The segments stand still while they are compacted.
  if (partition->cleaning || partition->backing_up) return queue_.touch(partition);
  storage::Log& log = partition->log();
  const std::int64_t now_ms = shard_.now_ms();
  const std::optional<std::int64_t> due_ms = log.retention_due_ms();
  if (!due_ms) return;
  if (*due_ms > now_ms) return queue_.set(partition, *due_ms);
  auto deleted = log.apply_retention(
      {.highest_offset = partition->high_watermark(), .now_ms = now_ms, .most_segments = kSegmentsPerTurn});
  if (!deleted) {
    LOG_ERROR("retention", "{}-{}: {}", partition->topic(), partition->key().partition, deleted.error().message());
    if (!deleted.error().out_of_space())
      return shard_.directory_failed(partition->directory(), deleted.error().message());
    return queue_.touch(partition);
  }
  if (deleted->segments == 0) {
    // The high watermark has not come so far, or the name of the next segment is not on stable storage.
    partition->retention_waits_for_flush = true;
    shard_.request_flush(partition);
    return queue_.touch(partition);
  }
  LOG_INFO("retention", "{}-{}: deleted {} segments of {} bytes; the log begins at offset {}", partition->topic(),
           partition->key().partition, deleted->segments, deleted->bytes, log.log_start_offset());
  shard_.metrics().segments_deleted.add(deleted->segments);
  shard_.metrics().segment_bytes_deleted.add(deleted->bytes);
  remove_later(std::move(deleted->files), partition->settings().file_delete_delay_ms);
  pending_.push_back(partition);
}

void Retention::flushed(const std::shared_ptr<Partition>& partition) {
  if (!std::exchange(partition->retention_waits_for_flush, false)) return;
  pending_.push_back(partition);
  post_turn();
}

void Retention::remove_later(std::vector<std::string> files, std::int64_t delay_ms) {
  // A delay of years must not wrap.
  constexpr std::int64_t kLongestMs = 100LL * 365 * 24 * 3600 * 1000;
  const auto deadline = shard_.core().clock().steady() + std::chrono::milliseconds(std::min(delay_ms, kLongestMs));
  shard_.core().at(deadline, [this, files = std::move(files)]() mutable {
    shard_.broker().disk_pool().post([&system = shard_.broker().files(), files = std::move(files)] {
      for (const std::string& file : files)
        if (const auto removed = system.remove(file); !removed)
          LOG_ERROR("retention", "cannot remove a file: {}", removed.error().message());
    });
  });
}

}  // namespace thalweg::broker
