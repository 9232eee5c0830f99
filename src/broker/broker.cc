#include "broker/broker.h"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <functional>
#include <future>
#include <unordered_map>
#include <utility>

#include "base/check.h"
#include "base/log.h"
#include "broker/log_keepers.h"
#include "broker/new_store.h"
#include "broker/offsets_mirror.h"
#include "broker/scram_admin.h"
#include "broker/telemetry_topic.h"
#include "broker/token_admin.h"
#include "metadata/sqlite_store.h"
#include "storage/checkpoints.h"
#include "storage/topic_partition.h"

namespace thalweg::broker {

namespace {

constexpr std::size_t kDiskThreads = 4;
constexpr std::size_t kSyncThreads = 4;

storage::OffsetMap log_starts_in(std::size_t directory, const std::vector<Shard::ClosedLog>& logs) {
  storage::OffsetMap log_starts;
  for (const Shard::ClosedLog& log : logs)
    if (log.directory == directory && log.log_start_offset > 0) log_starts[log.partition] = log.log_start_offset;
  return log_starts;
}

}  // namespace

bool is_fault_of_disk(const runtime::IoError& error) {
  switch (error.error_number) {
    case EBADMSG:
    case EFBIG:
    case EOVERFLOW:
    case EPROTONOSUPPORT:
      return false;
    default:
      return !error.out_of_space() && !error.out_of_descriptors();
  }
}

void StoreMetrics::transaction_done(const metadata::TransactionStats& stats) {
  transactions.add();
  change_sets.add(static_cast<std::int64_t>(stats.change_sets));
  refused.add(static_cast<std::int64_t>(stats.refused));
  records.add(static_cast<std::int64_t>(stats.records));
  commit_time.record(stats.transaction_ns);
  sync_time.record(stats.sync_ns);
  if (stats.failed) failures.add();
}

void StoreMetrics::checkpoint_done(std::int64_t pages, std::int64_t duration_ns) {
  (void)pages;
  checkpoints.add();
  checkpoint_time.record(duration_ns);
}

Broker::Broker(Environment environment, Settings settings, config::Config file_config)
    : environment_(environment),
      settings_(std::move(settings)),
      file_config_(std::move(file_config)),
      random_(environment_.seed ? runtime::Random(*environment_.seed) : runtime::Random::from_machine()) {
  for (int i = 0; i < settings_.cores; ++i) cores_.push_back(std::make_unique<runtime::Core>(i, environment_.clock));
}

Broker::~Broker() {
  if (started_) stop();
}

std::size_t Broker::open_files_per_core() const {
  constexpr std::size_t kMost = 8192;
  const std::size_t share = runtime::descriptor_limit() / 2 / cores_.size();
  return std::clamp<std::size_t>(share, 16, kMost);
}

int Broker::owner_of(std::string_view topic, std::int32_t partition) const {
  const std::size_t hash = std::hash<std::string_view>{}(topic) + static_cast<std::size_t>(partition);
  return static_cast<int>(hash % shards_.size());
}

int Broker::owner_of_group(std::string_view group_id) const {
  return group_slot(group_id, settings_.group_slots) % core_count();
}

void Broker::resize_cleaner_pool(std::int32_t threads) {
  if (threads == cleaner_threads_) return;
  LOG_INFO("broker", "log.cleaner.threads: {} instead of {}", threads, cleaner_threads_);
  cleaner_threads_ = threads;
  cleaner_pool_ = environment_.host.make_pool("cleaner", static_cast<std::size_t>(threads));
  for (const auto& shard : shards_)
    shard->core().post([this, &shard = *shard, next = cleaner_pool_] {
      // Who drops the last hold on the old pool waits for its threads, so that is not left to a loop.
      disk_pool_->post([old = shard.keepers().cleaner.use_pool(next)]() mutable { old.reset(); });
    });
}

config::Overrides Broker::overrides_of(const metadata::Snapshot& snapshot, const records::ConfigResource& resource) {
  config::Overrides overrides;
  for (const auto& [key, value] : snapshot.configs(resource)) overrides.emplace(key, value.value);
  return overrides;
}

config::Config Broker::effective_config(const metadata::Snapshot& snapshot) const {
  const config::Overrides cluster = overrides_of(snapshot, records::broker_default());
  const config::Overrides own = overrides_of(snapshot, own_resource());
  if (cluster.empty() && own.empty()) return file_config_;
  auto config = config::effective_broker({.file = file_config_, .cluster = cluster, .broker = own});
  if (config) return std::move(*config);
  LOG_WARN("broker", "dynamic configuration is left out: {}", config.error());
  return file_config_;
}

const AdvertisedEndpoint* Broker::advertised(std::string_view listener) const {
  const auto it = std::ranges::find(advertised_, listener, &AdvertisedEndpoint::listener);
  return it == advertised_.end() ? nullptr : &*it;
}

base::Result<void, std::string> Broker::start() {
  TRY(open_directories());
  TRY(open_store());
  disk_pool_ = environment_.host.make_pool("disk", kDiskThreads);
  sync_pool_ = environment_.host.make_pool("sync", kSyncThreads);
  const LiveSettings live = LiveSettings::read(effective_config(*store_->opened_snapshot()));
  cleaner_threads_ = live.cleaner.threads;
  cleaner_pool_ = environment_.host.make_pool("cleaner", static_cast<std::size_t>(cleaner_threads_));
  telemetry_pool_ = environment_.host.make_pool("telemetry", 1);
  for (const auto& directory : directories_) {
    const auto checkpoint = [&](std::string_view name) {
      return std::make_unique<OffsetCheckpoint>(environment_.files, *cores_.front(), *disk_pool_,
                                                storage::in_directory(directory->path, name));
    };
    directory->log_starts = checkpoint(storage::kLogStartOffsetsFileName);
    directory->clean_ends = checkpoint(storage::kCleanerOffsetsFileName);
  }
  for (const auto& core : cores_) shards_.push_back(std::make_unique<Shard>(*this, *core, random_.next_u64()));
  for (const auto& core : cores_) environment_.host.start(*core, ("core-" + std::to_string(core->index())).c_str());
  started_ = true;
  TRY(register_node());
  std::vector<std::future<void>> first_views;
  for (const auto& shard : shards_) {
    auto seen = std::make_shared<std::promise<void>>();
    first_views.push_back(seen->get_future());
    shard->core().post([&shard = *shard, seen] { shard.follow_metadata([seen] { seen->set_value(); }); });
  }
  for (auto& view : first_views) environment_.host.wait(view);
  TRY(open_logs());
  TRY(start_groups());
  on_every_core([](Shard& shard) {
    shard.keepers().retention.start();
    shard.keepers().cleaner.start();
    shard.keepers().scrub.start();
    shard.keepers().producers.start();
    shard.telemetry().start();
  });
  cores_.front()->post([this] {
    schedule_checkpoints();
    watch_disks(*this);
  });
  warn_of_other_keys(*store_->opened_snapshot(), settings_.tokens);
  if (!settings_.tokens.secret_key.empty()) cores_.front()->post([this] { schedule_token_checks(); });
  TRY(start_telemetry());
  return {};
}

base::Result<void, std::string> Broker::start_telemetry() {
  if (settings_.telemetry.topic) TRY(create_telemetry_topic(*this));
  if (const auto& endpoint = settings_.telemetry.otlp_endpoint) {
    otlp_forwarder_ = std::make_unique<OtlpForwarder>(*cores_.front(), *endpoint, random_.next_u64());
    cores_.front()->post([forwarder = otlp_forwarder_.get()] { forwarder->start(); });
  }
  return {};
}

base::Result<void, std::string> Broker::open_store() {
  store_thread_ = environment_.host.make_pool("metadata", 1);
  metadata::SqliteOptions options;
  options.path = storage::in_directory(directories_.front()->path, metadata::kSqliteFileName);
  options.node_id = node_id();
  options.cluster_id = cluster_id_;
  options.vfs = environment_.sqlite_vfs;
  if (!cluster_id_.empty()) {
    // Folders that were ours before have their metadata here; a new one would make strangers of all their partitions.
    const auto file = environment_.files.open(options.path, runtime::OpenMode::read);
    const std::uint64_t size = file ? (*file)->size().value_or(0) : 0;
    if (size == 0)
      return std::unexpected(
          fmt::format("log.dirs: {} is missing or empty, which says what the folders of cluster {} hold; bring it "
                      "back, or give the broker empty folders",
                      options.path, cluster_id_));
  }
  const metadata::StoreEnvironment environment{
      .writer = *store_thread_, .clock = environment_.clock, .uuids = random_, .observer = &store_metrics_};
  TRY(make_store_if_missing(environment_.files, options, environment));
  auto store = metadata::open_sqlite_store(options, environment);
  if (!store) return std::unexpected(store.error().message);
  store_ = std::move(*store);
  const std::string& stored = store_->opened_snapshot()->cluster_id();
  if (!cluster_id_.empty() && cluster_id_ != stored)
    return std::unexpected(
        fmt::format("log.dirs: the folders belong to cluster {}, {} to {}", cluster_id_, options.path, stored));
  cluster_id_ = stored;

  // Only now that the store is ours the folders are marked, so that a refused start touches nothing.
  for (const auto& directory : directories_) {
    const bool is_new = directory->id.is_zero();
    if (is_new) {
      directory->id = random_.next();
      const auto written = storage::write_meta_properties(
          environment_.files, directory->path,
          {.cluster_id = cluster_id_, .node_id = settings_.node_id, .directory_id = directory->id});
      if (!written) return std::unexpected("log.dirs: " + written.error().message());
    }
    const auto clean = storage::take_clean_shutdown(environment_.files, directory->path);
    if (!clean) return std::unexpected("log.dirs: " + clean.error().message());
    if (!clean->has_value() && !is_new) unclean_ = true;
  }
  return {};
}

metadata::CommitResult Broker::commit_and_wait(metadata::ChangeSet changes) {
  std::promise<metadata::CommitResult> promise;
  auto future = promise.get_future();
  store_->commit(std::move(changes), metadata::Urgency::urgent, *cores_.front(),
                 [&promise](metadata::CommitResult result) { promise.set_value(std::move(result)); });
  return environment_.host.wait(future);
}

base::Result<void, std::string> Broker::register_node() {
  records::NodeRegistered registration;
  registration.node_id = node_id();
  registration.incarnation = random_.next();
  for (const auto& directory : directories_) registration.directories.push_back(directory->id);
  registration.rack = settings_.rack;
  metadata::ChangeSet changes;
  changes.records.emplace_back(registration);
  changes.records.emplace_back(
      records::NodeStarted{.node_id = node_id(), .started_ms = environment_.clock.wall_ms(), .unclean = unclean_});
  // Before anybody can log in, there is something to answer those from who do not exist.
  if (!settings_.sasl.empty() && decoy_secret(*store_->opened_snapshot()).empty())
    changes.records.push_back(new_decoy_secret());
  const metadata::CommitResult committed = commit_and_wait(std::move(changes));
  if (!committed) return std::unexpected("cannot write the metadata store: " + committed.error().detail);
  broker_epoch_ = committed->value();
  return {};
}

base::Result<void, std::string> Broker::start_groups() {
  const std::shared_ptr<const metadata::Snapshot> snapshot = store_->opened_snapshot();
  metadata::ChangeSet leases;
  std::vector<std::int32_t> epochs;
  for (int slot = 0; slot < settings_.group_slots; ++slot) {
    const std::string name = group_lease(slot);
    const metadata::Lease* const held = snapshot->lease(name);
    const metadata::Lease before = held == nullptr ? metadata::Lease() : *held;
    epochs.push_back(before.epoch + 1);
    leases.preconditions.emplace_back(metadata::LeaseHeld{.name = name, .owner = before.owner, .epoch = before.epoch});
    leases.records.emplace_back(
        records::LeaseChanged{.name = name, .owner = node_id(), .epoch = epochs.back(), .expires_ms = -1});
  }
  if (const metadata::CommitResult taken = commit_and_wait(std::move(leases)); !taken)
    return std::unexpected("cannot write the metadata store: " + taken.error().detail);
  bool fill_mirror = false;
  if (settings_.offsets_mirror) {
    ASSIGN_OR_RETURN(fill_mirror, create_offsets_topic(*this));
  }
  on_every_core([&epochs](Shard& shard) { shard.groups().start(epochs); });

  metadata::GroupRange range;
  do {
    std::promise<base::Result<metadata::GroupPage, metadata::StoreError>> promise;
    auto future = promise.get_future();
    store_->load_group_state(range, *cores_.front(), [&promise](auto page) { promise.set_value(std::move(page)); });
    auto page = environment_.host.wait(future);
    if (!page) return std::unexpected(page.error().message);
    std::vector<metadata::GroupPage> parts(shards_.size());
    const auto part_of = [&](std::string_view id) -> metadata::GroupPage& {
      return parts[static_cast<std::size_t>(owner_of_group(id))];
    };
    for (auto& group : page->groups) part_of(group.state.group_id).groups.push_back(std::move(group));
    for (auto& offset : page->offsets) part_of(offset.group_id).offsets.push_back(std::move(offset));
    on_every_core([&parts, fill_mirror](Shard& shard) {
      shard.groups().load(std::move(parts[static_cast<std::size_t>(shard.core().index())]), fill_mirror);
    });
    range.first = page->next;
  } while (!range.first.empty());
  return {};
}

void Broker::on_every_core(const std::function<void(Shard&)>& work) {
  std::vector<std::future<void>> waits;
  for (const auto& shard : shards_) {
    auto done = std::make_shared<std::promise<void>>();
    waits.push_back(done->get_future());
    shard->core().post([&work, &shard = *shard, done] {
      work(shard);
      done->set_value();
    });
  }
  for (auto& wait : waits) environment_.host.wait(wait);
}

void Broker::schedule_token_checks() {
  runtime::Core& core = *cores_.front();
  core.at(clock().steady() + std::chrono::milliseconds(settings_.tokens.check_interval_ms), [this, &core] {
    Shard& shard = *shards_.front();
    if (shard.logs_closed()) return;
    metadata::ChangeSet changes;
    changes.records = tokens_run_out(*shard.snapshot(), clock().wall_ms());
    const std::size_t count = changes.records.size();
    const auto next = [this, count](const metadata::CommitResult& removed) {
      if (!removed) LOG_ERROR("tokens", "tokens that have run out were not removed: {}", removed.error().detail);
      if (removed) LOG_INFO("tokens", "removed {} delegation tokens that had run out", count);
      schedule_token_checks();
    };
    if (count == 0) return schedule_token_checks();
    store_->commit(std::move(changes), metadata::Urgency::bulk, core, next);
  });
}

void Broker::schedule_checkpoints() {
  runtime::Core& core = *cores_.front();
  core.at(clock().steady() + std::chrono::milliseconds(settings_.checkpoint_interval_ms), [this] {
    struct Gathered {
      std::atomic<std::size_t> left;
      std::atomic<bool> stopping{false};
      std::mutex mutex;
      std::vector<Shard::ClosedLog> logs;
      std::vector<std::uint64_t> rounds;  // by directory
    };
    auto gathered = std::make_shared<Gathered>();
    gathered->left = shards_.size();
    for (const auto& directory : directories_) gathered->rounds.push_back(directory->log_starts->begin_round());
    for (const auto& shard : shards_) {
      shard->core().post([this, &shard = *shard, gathered] {
        if (shard.logs_closed()) gathered->stopping = true;
        {
          const std::lock_guard lock(gathered->mutex);
          for (auto& log : shard.log_positions()) gathered->logs.push_back(std::move(log));
        }
        // A stop writes its own, of the logs that this round has come too late for.
        if (--gathered->left > 0 || gathered->stopping) return;
        cores_.front()->post([this, gathered] {
          for (std::size_t i = 0; i < directories_.size(); ++i) {
            if (directories_[i]->offline) continue;
            const auto note = [this, i](const runtime::IoResult<void>& written) { note_checkpoint(i, written); };
            directories_[i]->log_starts->finish_round(gathered->rounds[i], log_starts_in(i, gathered->logs), note);
          }
        });
        // The next ones are due after these: two that write at once take away each other's unfinished files.
        disk_pool_->post([this, gathered] {
          (void)write_checkpoints(gathered->logs);
          cores_.front()->post([this] { schedule_checkpoints(); });
        });
      });
    }
  });
}

// True where it was written.
bool Broker::note_checkpoint(std::size_t directory, const runtime::IoResult<void>& written) {
  if (written) return true;
  LOG_ERROR("broker", "cannot write a checkpoint: {}", written.error().message());
  if (is_fault_of_disk(written.error())) directory_failed(directory, written.error().message());
  return false;
}

std::vector<bool> Broker::write_checkpoints(const std::vector<Shard::ClosedLog>& logs) {
  std::vector<bool> whole(directories_.size(), true);
  for (std::size_t i = 0; i < directories_.size(); ++i) {
    if (directories_[i]->offline) continue;
    storage::OffsetMap recovery_points, high_watermarks;
    for (const Shard::ClosedLog& log : logs) {
      if (log.directory != i) continue;
      recovery_points[log.partition] = log.recovery_point;
      high_watermarks[log.partition] = log.high_watermark;
    }
    const auto write = [&](std::string_view name, const storage::OffsetMap& offsets) {
      const std::string path = storage::in_directory(directories_[i]->path, name);
      if (!note_checkpoint(i, storage::write_offsets(environment_.files, path, offsets))) whole[i] = false;
    };
    write(storage::kRecoveryPointsFileName, recovery_points);
    write(storage::kHighWatermarksFileName, high_watermarks);
  }
  return whole;
}

void Broker::stop() {
  ready_ = false;
  if (!started_) return;
  started_ = false;
  if (otlp_forwarder_) cores_.front()->post([forwarder = otlp_forwarder_.get()] { forwarder->stop(); });
  std::vector<Shard::ClosedLog> logs;
  std::mutex mutex;
  on_every_core([&](Shard& shard) {
    auto closed = shard.close_logs();
    const std::lock_guard lock(mutex);
    for (auto& log : closed) logs.push_back(std::move(log));
  });
  // A round of syncs that is under way needs its pool.
  std::vector<std::future<void>> flushed;
  for (const auto& shard : shards_) {
    auto done = std::make_shared<std::promise<void>>();
    flushed.push_back(done->get_future());
    shard->core().post([&shard = *shard, done] { shard.when_flushed([done] { done->set_value(); }); });
  }
  for (auto& wait : flushed) environment_.host.wait(wait);
  disk_pool_->stop();
  sync_pool_->stop();
  cleaner_pool_->stop();
  telemetry_pool_->stop();
  bool clean = all_opened_ && std::ranges::all_of(logs, &Shard::ClosedLog::clean);
  for (const auto& directory : directories_) {
    if (directory->offline) continue;
    if (const auto synced = environment_.files.sync_filesystem(directory->path); !synced) {
      LOG_ERROR("broker", "cannot sync {}: {}", directory->path, synced.error().message());
      clean = false;
    }
  }
  if (clean) {
    const std::vector<bool> whole = write_checkpoints(logs);
    for (std::size_t i = 0; i < directories_.size(); ++i) {
      const std::string& path = directories_[i]->path;
      if (directories_[i]->offline || !whole[i]) continue;
      const auto log_starts = storage::write_offsets(
          environment_.files, storage::in_directory(path, storage::kLogStartOffsetsFileName), log_starts_in(i, logs));
      if (!note_checkpoint(i, log_starts)) continue;
      const auto marked = storage::write_clean_shutdown(environment_.files, path, {.broker_epoch = broker_epoch_});
      if (!marked) LOG_ERROR("broker", "cannot mark {}: {}", path, marked.error().message());
    }
  }
  std::promise<void> store_stopped;
  store_->stop(*cores_.front(), [&] { store_stopped.set_value(); });
  auto stopped = store_stopped.get_future();
  environment_.host.wait(stopped);
  for (const auto& core : cores_) environment_.host.stop(*core);
  store_thread_->stop();
  // What is still suspended is destroyed with its loop, while all that it refers to is alive.
  cores_.clear();
  shards_.clear();
  store_.reset();
}

}  // namespace thalweg::broker
