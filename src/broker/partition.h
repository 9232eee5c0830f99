// Partition: one partition on the core that owns it: its log, its high watermark, and who waits for what.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/uuid.h"
#include "broker/due_queue.h"
#include "broker/failed_firsts.h"
#include "broker/fetch_waiter.h"
#include "broker/topic_settings.h"
#include "protocol/error.h"
#include "runtime/executor.h"
#include "storage/log.h"

namespace thalweg::broker {

struct PartitionKey {
  base::Uuid topic_id;
  std::int32_t partition = 0;
  friend bool operator==(const PartitionKey&, const PartitionKey&) = default;
};

struct PartitionKeyHash {
  std::size_t operator()(const PartitionKey& key) const {
    return std::hash<base::Uuid>{}(key.topic_id) ^
           (static_cast<std::size_t>(static_cast<std::uint32_t>(key.partition)) * 0x9e3779b97f4a7c15ULL);
  }
};

class Partition : public std::enable_shared_from_this<Partition> {
 public:
  enum class State : std::uint8_t {
    closed,   // its log has not been asked for yet
    opening,  // a pool is at it
    open,
    offline,  // its directory has failed
    removed,  // its topic is gone
  };
  // Called once, on the owning core: the error that the waiter answers with, or none.
  using Waiter = std::move_only_function<void(protocol::ErrorCode)>;

  Partition(PartitionKey key, std::string topic, std::size_t directory, std::int32_t leader_epoch,
            std::shared_ptr<const TopicSettings> settings)
      : key_(key),
        topic_(std::move(topic)),
        directory_(directory),
        leader_epoch_(leader_epoch),
        settings_(std::move(settings)) {}

  [[nodiscard]] const PartitionKey& key() const { return key_; }
  [[nodiscard]] const std::string& topic() const { return topic_; }
  // Index of its log directory among the broker's.
  [[nodiscard]] std::size_t directory() const { return directory_; }
  [[nodiscard]] State state() const { return state_; }
  [[nodiscard]] bool is_open() const { return state_ == State::open; }
  [[nodiscard]] std::int32_t leader_epoch() const { return leader_epoch_; }
  // A new epoch begins at the end of the log.
  void set_leader_epoch(std::int32_t epoch);
  [[nodiscard]] const TopicSettings& settings() const { return *settings_; }
  void set_settings(std::shared_ptr<const TopicSettings> settings);
  // Only while the partition is open.
  [[nodiscard]] storage::Log& log() { return *log_; }

  // The error that a request gets while the partition is not open.
  [[nodiscard]] protocol::ErrorCode closed_error() const;
  void set_opening() { state_ = State::opening; }
  // After a failure to open that may pass.
  void retry_open() { state_ = State::closed; }
  // Takes the opened log. Everything in it has been recovered, so all of it may be read.
  void install(std::unique_ptr<storage::Log> log);
  // Takes the log away; whoever waits is answered with `error`.
  std::unique_ptr<storage::Log> take_log(State state, protocol::ErrorCode error);
  // Runs `waiter` once the partition is no longer opening.
  void when_open(Waiter waiter) { open_waiters_.push_back(std::move(waiter)); }

  [[nodiscard]] std::int64_t high_watermark() const { return high_watermark_; }
  [[nodiscard]] std::int64_t last_stable_offset() const { return log_->last_stable_offset(high_watermark_); }
  // Raises the high watermark: answers whoever waited for it, and wakes fetches. `offset` never goes back.
  void raise_high_watermark(std::int64_t offset);
  // Runs `waiter` once the high watermark has reached `offset`.
  void when_durable(std::int64_t offset, Waiter waiter);
  // A fetch that found too little is told when more can be read here, on core `core`.
  void watch(std::shared_ptr<FetchWaiter> waiter, int core);

  // Whether a flush was asked for that has not begun yet; the owner asks only once.
  bool flush_requested = false;
  FailedFirsts failed_firsts;
  // When it may have to be compacted, whether it is just being, and what has been: everything before the offset.
  DuePlace cleaning_due;
  bool cleaning = false;
  // A backup copies its segments, which stand still meanwhile.
  bool backing_up = false;
  std::int64_t clean_end = 0;
  // A compaction found records that make no sense; there is no other before the next start.
  bool uncleanable = false;
  // When its oldest segment may have to go.
  DuePlace retention;
  // A deletion goes on once a flush has ended.
  bool retention_waits_for_flush = false;

 private:
  struct DurableWaiter {
    std::int64_t offset;
    Waiter waiter;
  };
  struct Watch {
    std::shared_ptr<FetchWaiter> waiter;
    int core;
  };
  void wake_fetches(std::int64_t bytes);

  const PartitionKey key_;
  const std::string topic_;
  const std::size_t directory_;
  State state_ = State::closed;
  std::int32_t leader_epoch_;
  std::int64_t high_watermark_ = 0;
  std::shared_ptr<const TopicSettings> settings_;
  std::unique_ptr<storage::Log> log_;
  std::vector<Waiter> open_waiters_;
  std::deque<DurableWaiter> durable_waiters_;  // offsets do not fall
  std::vector<Watch> watches_;
};

}  // namespace thalweg::broker
