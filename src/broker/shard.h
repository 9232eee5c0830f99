// Shard: what one core of the broker owns: its partitions, its view of the metadata, its fetch sessions, its counters.
// Everything here runs on that core, unless it says otherwise.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "broker/client_telemetry.h"
#include "broker/delegation_tokens.h"
#include "broker/fetch_session.h"
#include "broker/group_service.h"
#include "broker/live_settings.h"
#include "broker/metrics.h"
#include "broker/partition.h"
#include "broker/sasl_settings.h"
#include "broker/topic_settings.h"
#include "metadata/store.h"
#include "protocol/compression.h"
#include "runtime/core.h"
#include "runtime/random.h"
#include "security/authorizer.h"
#include "storage/checkpoints.h"
#include "storage/flush_scheduler.h"
#include "storage/handle_cache.h"
#include "storage/index_cache.h"
#include "storage/log_context.h"

namespace thalweg::broker {

class Broker;
struct LogKeepers;

class Shard {
 public:
  Shard(Broker& broker, runtime::Core& core, std::uint64_t seed);
  ~Shard();
  Shard(const Shard&) = delete;
  Shard& operator=(const Shard&) = delete;

  [[nodiscard]] Broker& broker() { return broker_; }
  [[nodiscard]] runtime::Core& core() { return core_; }
  [[nodiscard]] CoreMetrics& metrics() { return metrics_; }
  [[nodiscard]] runtime::Random& random() { return random_; }
  [[nodiscard]] protocol::Decompressor& decompressor() { return decompressor_; }
  [[nodiscard]] protocol::Compressor& compressor() { return compressor_; }
  [[nodiscard]] FetchSessionCache& fetch_sessions() { return fetch_sessions_; }
  [[nodiscard]] GroupService& groups() { return groups_; }
  [[nodiscard]] ClientTelemetry& telemetry() { return telemetry_; }
  [[nodiscard]] LogKeepers& keepers() { return *keepers_; }
  // Something was written to the partition or decided about it, so that segments of it may be due.
  void touch(const std::shared_ptr<Partition>& partition);
  [[nodiscard]] storage::LogContext& log_context() { return log_context_; }
  // Who may do what, as of snapshot(); null where everyone may do everything.
  [[nodiscard]] const security::Authorizer* authorizer() const { return authorizer_ ? &*authorizer_ : nullptr; }
  // The broker's settings that may change, as of snapshot(). `changed` is called after each change.
  [[nodiscard]] const LiveSettings& live() const { return live_; }
  void on_live_settings(std::function<void()> changed) { live_changed_ = std::move(changed); }
  // The delegation tokens as of snapshot().
  [[nodiscard]] DelegationTokens& tokens() { return tokens_; }
  // How clients of the listener log in; null where they do not. An object stays as it is: a change makes another.
  [[nodiscard]] std::shared_ptr<const SaslListener> sasl(std::string_view listener) const;
  [[nodiscard]] std::int64_t now_ms() const { return core_.clock().wall_ms(); }

  // The metadata as this core knows it.
  [[nodiscard]] const std::shared_ptr<const metadata::Snapshot>& snapshot() const { return snapshot_; }
  // Follows the store from now on; `first` is called once the first view is here.
  void follow_metadata(std::function<void()> first);
  // Takes a new view of the metadata: drops the partitions of deleted topics, applies changed configs.
  void apply(const std::shared_ptr<const metadata::Snapshot>& snapshot,
             const std::vector<metadata::AppliedChange>& changes);

  // A partition of this core; its log is opened in the background where it is not open. Null where the metadata has no
  // such partition.
  std::shared_ptr<Partition> find_partition(const PartitionKey& key);
  // The same, but null too where nothing was asked of it yet and no log was there at the start: nothing is opened.
  [[nodiscard]] Partition* known_partition(const PartitionKey& key) const;
  // The settings of a topic that the metadata has.
  std::shared_ptr<const TopicSettings> settings_of(const metadata::Topic& topic);
  // Puts a log in that was opened, in that directory, while the broker started.
  void adopt(const PartitionKey& key, std::size_t directory, std::unique_ptr<storage::Log> log);
  // Waits until the partition is open, or can not be. none where it is open.
  runtime::Awaitable<protocol::ErrorCode> when_open(std::shared_ptr<Partition> partition);

  // Fetches that wait on this core. Once the broker stops none waits any more, since nothing it could wait for comes.
  [[nodiscard]] bool stopping() const { return stopping_; }
  void add_parked(FetchWaiter& waiter) { parked_.insert(&waiter); }
  void remove_parked(FetchWaiter& waiter) { parked_.erase(&waiter); }
  void stop_waiting();

  // Calls `done` once no sync is under way; after close_logs(), for then none begins any more.
  void when_flushed(std::function<void()> done);
  // Puts log starts of this core's partitions in the directory on stable storage. none, or kafka_storage_error.
  runtime::Awaitable<protocol::ErrorCode> save_log_starts(std::size_t directory, storage::OffsetMap log_starts);
  // From folder_busy() on, until folder_free() was called as often, no log is opened in the folder.
  void folder_busy(const std::string& folder) { ++busy_folders_[folder]; }
  void folder_free(const std::string& folder);
  // A batch was met that is not as it was written. Writes a line the first time that this is said.
  void report_unsound(const std::string& line);
  // Asks for a sync of what the partition has appended; its high watermark follows.
  void request_flush(const std::shared_ptr<Partition>& partition);
  // A write or sync in the directory has failed for good: on every core its partitions stop.
  void directory_failed(std::size_t directory, const std::string& why);
  // Stops this core's partitions in the directory.
  void stop_directory(std::size_t directory);

  template <class Visit>
  void for_each_partition(const Visit& visit) {
    for (auto& [key, partition] : partitions_) visit(*partition);
  }

  // Closes every log; what they need for the next start is returned for the checkpoints.
  struct ClosedLog {
    storage::TopicPartition partition;
    std::size_t directory = 0;
    std::int64_t recovery_point = 0;
    std::int64_t log_start_offset = 0;
    std::int64_t high_watermark = 0;
    bool clean = false;
  };
  std::vector<ClosedLog> close_logs();
  // The same facts of the logs that are open, for the checkpoints written now and then.
  std::vector<ClosedLog> log_positions();
  // Whether close_logs() was called, so that there are no positions any more.
  [[nodiscard]] bool logs_closed() const { return closed_; }

  // The block of producer ids that this core hands out from.
  struct ProducerIdBlock {
    std::int64_t next = 0;
    std::int64_t end = 0;
  };
  ProducerIdBlock producer_ids;

 private:
  void open_log(const std::shared_ptr<Partition>& partition);
  void opened(const std::shared_ptr<Partition>& partition, runtime::IoResult<std::unique_ptr<storage::Log>> log);
  // Brings the authorizer in line with the snapshot.
  void load_acls();
  void apply_acl(const records::Acl& acl);
  void remove_topic(const base::Uuid& topic_id);
  void remove_log(Partition& partition, std::unique_ptr<storage::Log> log);
  [[nodiscard]] std::string folder_of(std::size_t directory, const storage::TopicPartition& name) const;
  // Takes the line of a partition that is no more out of the checkpoint, before its folder's name is used again.
  void forget_log_start(std::size_t directory, const storage::TopicPartition& name);
  // After a change of the broker's settings, of a topic's own.
  void reload_settings();
  void reload_topic(const std::string& name);
  void reload_sasl(const config::Config& broker_config);
  void make_flush_scheduler(const std::string& directory);
  void post_flush_turn(std::size_t directory);
  void flush_turn(std::size_t directory);
  void flush_partition(std::size_t directory, const std::shared_ptr<Partition>& partition);

  Broker& broker_;
  runtime::Core& core_;
  CoreMetrics metrics_;
  runtime::Random random_;
  protocol::Decompressor decompressor_;
  protocol::Compressor compressor_;
  storage::HandleCache handles_;
  storage::IndexCache indexes_;
  storage::LogContext log_context_;
  FetchSessionCache fetch_sessions_;
  GroupService groups_;
  ClientTelemetry telemetry_;
  std::optional<security::Authorizer> authorizer_;
  SaslListeners sasl_;
  DelegationTokens tokens_;
  std::unique_ptr<LogKeepers> keepers_;
  // Who waits for a sync in one directory. What is asked for while a round runs gathers for the next, and is named only
  // when that begins, so that a round covers everything appended before it.
  struct Flushes {
    std::unique_ptr<storage::FlushScheduler> scheduler;
    std::vector<std::shared_ptr<Partition>> dirty;
    bool turn_posted = false;
    std::size_t outstanding = 0;
  };
  std::vector<std::unique_ptr<Flushes>> flushes_;  // by directory
  std::shared_ptr<const metadata::Snapshot> snapshot_;
  metadata::Subscription subscription_;
  std::unordered_map<PartitionKey, std::shared_ptr<Partition>, PartitionKeyHash> partitions_;
  std::unordered_map<base::Uuid, std::shared_ptr<const TopicSettings>> settings_;
  std::shared_ptr<const TopicSettings> default_settings_;
  config::Config broker_config_;  // in force
  LiveSettings live_;
  std::function<void()> live_changed_;
  std::unordered_set<std::string> told_unsound_;  // lines, up to a bound
  bool stopping_ = false;
  bool closed_ = false;  // close_logs() was called: no log is opened any more
  std::unordered_set<FetchWaiter*> parked_;
  // Folders that someone is at work in, by how many, and partitions that wait for one: a topic deleted and created
  // again has the same.
  std::unordered_map<std::string, int> busy_folders_;
  std::unordered_map<std::string, std::vector<std::shared_ptr<Partition>>> waiting_for_folder_;
};

}  // namespace thalweg::broker
