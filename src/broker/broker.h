// Broker: the cores with their shards, the metadata store, the log directories and the pools, from start to stop.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "broker/log_directory.h"
#include "broker/otlp_forwarder.h"
#include "broker/request_context.h"
#include "broker/settings.h"
#include "broker/shard.h"
#include "config/effective.h"
#include "metadata/store.h"
#include "runtime/core.h"
#include "runtime/file.h"
#include "runtime/host.h"

namespace thalweg::broker {

// Where clients are told to connect to, per listener.
struct AdvertisedEndpoint {
  std::string listener;
  std::string host;
  std::int32_t port = 0;
};

// Whether the disk cannot be trusted any more, after an error that is not about one log, its space or our descriptors.
bool is_fault_of_disk(const runtime::IoError& error);

// What the store and the syncs cost, for /metrics. Written on the writer's thread.
class StoreMetrics final : public metadata::StoreObserver {
 public:
  void transaction_done(const metadata::TransactionStats& stats) override;
  void checkpoint_done(std::int64_t pages, std::int64_t duration_ns) override;
  Counter transactions, change_sets, refused, records, failures, checkpoints;
  Histogram commit_time, sync_time, checkpoint_time;
};

class Broker {
 public:
  // The machine's things that a broker stands on; a simulation gives its own.
  struct Environment {
    const base::Clock& clock;
    runtime::FileSystem& files;
    runtime::Host& host = runtime::machine_host();
    std::optional<std::uint64_t> seed = std::nullopt;  // of what is drawn at random; nothing: the machine's
    std::string sqlite_vfs = {};                       // the file layer of the store; empty: the machine's
  };

  Broker(Environment environment, Settings settings, config::Config file_config);
  ~Broker();
  Broker(const Broker&) = delete;
  Broker& operator=(const Broker&) = delete;

  // The event loops exist from the beginning, so that listeners can be bound before anything on disk is touched.
  // Locks the log directories, opens the store and every log, and starts the event loops. Blocks.
  //   errors   one line: what, where, what is allowed
  base::Result<void, std::string> start();
  // Closes the logs in order and the store, writes the checkpoints, ends the loops. Connections are closed before.
  // Blocks.
  void stop();

  [[nodiscard]] const Settings& settings() const { return settings_; }
  [[nodiscard]] const base::Clock& clock() const { return environment_.clock; }
  [[nodiscard]] runtime::FileSystem& files() { return environment_.files; }
  [[nodiscard]] metadata::Store& store() { return *store_; }
  // Commits while the broker starts, and waits. Not on a core.
  metadata::CommitResult commit_and_wait(metadata::ChangeSet changes);
  // For ids and the like while the broker starts.
  [[nodiscard]] runtime::Random& random() { return random_; }
  [[nodiscard]] StoreMetrics& store_metrics() { return store_metrics_; }
  [[nodiscard]] const std::string& cluster_id() const { return cluster_id_; }
  [[nodiscard]] protocol::BrokerId node_id() const { return protocol::BrokerId(settings_.node_id); }
  // The revision that registered this process: Kafka's broker epoch.
  [[nodiscard]] std::int64_t broker_epoch() const { return broker_epoch_; }

  [[nodiscard]] int core_count() const { return static_cast<int>(shards_.size()); }
  [[nodiscard]] Shard& shard(int core) { return *shards_[static_cast<std::size_t>(core)]; }
  [[nodiscard]] runtime::Core& core(int index) { return *cores_[static_cast<std::size_t>(index)]; }
  // The core that owns a partition. By name, so that a topic created anew under a name meets the folders of the old one
  // on the core that still has them.
  [[nodiscard]] int owner_of(std::string_view topic, std::int32_t partition) const;

  // The core that owns a group.
  [[nodiscard]] int owner_of_group(std::string_view group_id) const;

  // For files: opening and reading logs, removing folders. For syncs: nothing but syncs.
  [[nodiscard]] runtime::Executor& disk_pool() { return *disk_pool_; }
  [[nodiscard]] runtime::Executor& sync_pool() { return *sync_pool_; }
  // For compactions. Each core keeps it, since another takes its place when its size changes. On the first core, or
  // while the broker starts.
  [[nodiscard]] const std::shared_ptr<runtime::Pool>& cleaner_pool() { return cleaner_pool_; }
  // Gives every core a pool of so many threads; nothing where it has. On the first core.
  void resize_cleaner_pool(std::int32_t threads);
  // For unpacking and printing what clients push as telemetry.
  [[nodiscard]] runtime::Pool& telemetry_pool() { return *telemetry_pool_; }
  // Passes on what clients push; null where no collector is set. To be used on the first core.
  [[nodiscard]] OtlpForwarder* otlp_forwarder() { return otlp_forwarder_.get(); }
  // Files that one core may keep open: half of what the process may, shared by the cores, the rest being for
  // connections.
  [[nodiscard]] std::size_t open_files_per_core() const;
  // Whether the last run did not end in order.
  [[nodiscard]] bool started_unclean() const { return unclean_; }
  // Tasks that wait for a thread.
  [[nodiscard]] std::size_t disk_queue() const { return disk_pool_->queued(); }
  [[nodiscard]] std::size_t sync_queue() const { return sync_pool_->queued(); }
  [[nodiscard]] std::size_t store_queue() const { return store_thread_->queued(); }
  [[nodiscard]] std::vector<std::unique_ptr<LogDirectory>>& log_directories() { return directories_; }
  // The directory of that id, kNoDirectory where this broker has none of it. A partition that was never given one is in
  // the first.
  [[nodiscard]] std::size_t directory_index(const base::Uuid& id) const;
  // Whether what is in the directory of that id cannot be reached: it has failed, or this broker does not have it.
  [[nodiscard]] bool is_offline(const base::Uuid& directory) const;
  // Which directories get no new partitions, as of `snapshot` (cordoned.log.dirs).
  [[nodiscard]] std::vector<bool> cordoned_directories(const metadata::Snapshot& snapshot) const;
  // Directories for as many new partitions: of those that work and are not cordoned the one with the fewest each time.
  // Nothing where there is no such directory.
  [[nodiscard]] std::vector<base::Uuid> directories_for_new_partitions(const metadata::Snapshot& snapshot,
                                                                       std::int32_t count) const;
  // A log directory has failed for good; every core stops its partitions. From any thread.
  void directory_failed(std::size_t directory, const std::string& why);

  // The configuration: file and command line, and what was set dynamically in `snapshot`.
  [[nodiscard]] const config::Config& file_config() const { return file_config_; }
  [[nodiscard]] config::Config effective_config(const metadata::Snapshot& snapshot) const;
  // What this broker's own dynamic settings are stored under.
  [[nodiscard]] records::ConfigResource own_resource() const {
    return {.type = records::ResourceType::broker, .name = std::to_string(settings_.node_id)};
  }
  [[nodiscard]] static config::Overrides overrides_of(const metadata::Snapshot& snapshot,
                                                      const records::ConfigResource& resource);

  // Set by the server once the listeners are bound, before any request; read-only afterwards.
  void set_advertised(std::vector<AdvertisedEndpoint> endpoints) { advertised_ = std::move(endpoints); }
  // Where clients of a listener reach this broker.
  [[nodiscard]] const AdvertisedEndpoint* advertised(std::string_view listener) const;
  [[nodiscard]] const std::vector<AdvertisedEndpoint>& advertised() const { return advertised_; }

  [[nodiscard]] bool ready() const { return ready_.load(); }
  void set_ready(bool ready) { ready_ = ready; }

 private:
  base::Result<void, std::string> open_directories();
  base::Result<void, std::string> open_store();
  base::Result<void, std::string> register_node();
  base::Result<void, std::string> open_logs();
  // Whether the store's own directory for a partition has its log, and this is another.
  [[nodiscard]] bool is_duplicate(const metadata::Topic& topic, const storage::TopicPartition& name,
                                  std::size_t directory) const;
  base::Result<void, std::string> load_log_starts(std::vector<storage::OffsetMap> lines,
                                                  const std::vector<storage::OffsetMap>& dead);
  // Takes the leases of the group coordinators and loads their groups.
  base::Result<void, std::string> start_groups();
  // Makes what the broker hands metrics of clients on with.
  base::Result<void, std::string> start_telemetry();
  void schedule_checkpoints();
  // Removes delegation tokens that have run out, now and then.
  void schedule_token_checks();
  bool note_checkpoint(std::size_t directory, const runtime::IoResult<void>& written);
  // Whether all of a directory's were written, by its index. Where the disk is at fault the directory goes offline.
  std::vector<bool> write_checkpoints(const std::vector<Shard::ClosedLog>& logs);
  // Runs `work(shard)` on every core and waits for all. Not on a core.
  void on_every_core(const std::function<void(Shard&)>& work);

  Environment environment_;
  Settings settings_;
  config::Config file_config_;
  runtime::Random random_;
  std::vector<runtime::DirectoryLock> locks_;
  std::vector<std::unique_ptr<LogDirectory>> directories_;
  bool unclean_ = false;
  bool all_opened_ = false;  // every log could be opened; else the folders are not marked as closed in order
  std::string cluster_id_;
  std::int64_t broker_epoch_ = -1;
  std::unique_ptr<runtime::Pool> store_thread_;
  std::unique_ptr<runtime::Pool> disk_pool_;
  std::unique_ptr<runtime::Pool> sync_pool_;
  std::shared_ptr<runtime::Pool> cleaner_pool_;
  std::int32_t cleaner_threads_ = 0;
  std::unique_ptr<runtime::Pool> telemetry_pool_;
  StoreMetrics store_metrics_;
  std::unique_ptr<metadata::Store> store_;
  std::vector<std::unique_ptr<runtime::Core>> cores_;
  std::vector<std::unique_ptr<Shard>> shards_;
  std::unique_ptr<OtlpForwarder> otlp_forwarder_;
  std::vector<AdvertisedEndpoint> advertised_;
  std::atomic<bool> ready_{false};
  bool started_ = false;
};

}  // namespace thalweg::broker
