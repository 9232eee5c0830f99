#include "broker/shard.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <utility>

#include "base/log.h"
#include "broker/broker.h"
#include "broker/log_keepers.h"
#include "storage/checkpoints.h"

namespace thalweg::broker {

using protocol::ErrorCode;

namespace {

// Files whose loaded index entries one core keeps.
constexpr std::size_t kLoadedIndexes = 256;

// Opens the log of a partition of the topic, whose folder may be there or not. A folder that belongs to another topic
// is one that could not be taken away when that was deleted: it goes aside.
template <class Open>
runtime::IoResult<std::unique_ptr<storage::Log>> open_folder(storage::LogContext& context, const std::string& folder,
                                                             const base::Uuid& topic_id, const Open& open) {
  runtime::FileSystem& files = context.files;
  std::optional<base::Uuid> owner;
  ASSIGN_OR_RETURN(const bool exists, files.exists(folder));
  if (exists) {
    ASSIGN_OR_RETURN(owner, storage::read_partition_metadata(files, folder));
    if (owner && *owner != topic_id) {
      LOG_WARN("broker", "{} belongs to another topic; it is renamed to *.{}-stray", folder, owner->str());
      TRY(files.rename(folder, folder + "." + owner->str() + "-stray"));
      owner.reset();
    } else if (!owner) {
      // Left by an attempt that failed before anything could be appended.
      TRY(files.remove_all(folder));
    }
  }
  ASSIGN_OR_RETURN(std::unique_ptr<storage::Log> log, open());
  if (!owner) TRY(storage::write_partition_metadata(files, folder, topic_id));
  return log;
}

// The resource whose configs the record changes, or null.
const records::ConfigResource* configured(const records::Record& record) {
  if (const auto* set = std::get_if<records::ConfigSet>(&record)) return &set->resource;
  if (const auto* removed = std::get_if<records::ConfigRemoved>(&record)) return &removed->resource;
  return nullptr;
}

}  // namespace

Shard::Shard(Broker& broker, runtime::Core& core, std::uint64_t seed)
    : broker_(broker),
      core_(core),
      random_(seed),
      handles_(broker.files(), broker.open_files_per_core()),
      indexes_(kLoadedIndexes),
      log_context_{broker.files(), handles_, indexes_},
      fetch_sessions_(static_cast<std::size_t>(broker.settings().fetch_session_slots / broker.settings().cores),
                      core.index(), broker.settings().cores, metrics_),
      groups_(*this, broker.settings().group),
      telemetry_(*this),
      sasl_(broker.settings().sasl),
      tokens_(broker.settings().tokens, broker.disk_pool()),
      keepers_(std::make_unique<LogKeepers>(*this)),
      broker_config_(broker.file_config()) {
  for (const auto& directory : broker.log_directories()) make_flush_scheduler(directory->path);
  if (broker.settings().authorizer) authorizer_.emplace(*broker.settings().authorizer);
}

Shard::~Shard() {
  // Logs go before the caches that they use.
  partitions_.clear();
  waiting_for_folder_.clear();
}

void Shard::follow_metadata(std::function<void()> first) {
  subscription_ = broker_.store().subscribe(
      core_, [this, first = std::move(first)](const std::shared_ptr<const metadata::Snapshot>& snapshot,
                                              const std::vector<metadata::AppliedChange>& changes) mutable {
        apply(snapshot, changes);
        if (first) std::exchange(first, nullptr)();
      });
}

void Shard::apply(const std::shared_ptr<const metadata::Snapshot>& snapshot,
                  const std::vector<metadata::AppliedChange>& changes) {
  const bool is_first = snapshot_ == nullptr;
  snapshot_ = snapshot;
  if (is_first) {
    load_acls();
    tokens_.load(*snapshot_);
    telemetry_.config_changed(nullptr);
  }
  bool broker_changed = default_settings_ == nullptr;
  std::set<std::string> topics_changed;
  const auto note = [&](const records::ConfigResource& resource) {
    if (resource.type == records::ResourceType::broker) broker_changed = true;
    if (resource.type == records::ResourceType::topic) topics_changed.insert(resource.name);
  };
  for (const metadata::AppliedChange& change : changes) {
    for (const records::Record& record : change.records) {
      if (const auto* deleted = std::get_if<records::TopicDeleted>(&record)) {
        remove_topic(deleted->topic_id);
        groups_.topic_deleted(deleted->topic_id);
      }
      if (const records::ConfigResource* const resource = configured(record)) {
        note(*resource);
        telemetry_.config_changed(resource);
      }
      if (const auto* added = std::get_if<records::AclAdded>(&record)) apply_acl(added->acl);
      if (const auto* removed = std::get_if<records::AclRemoved>(&record)) apply_acl(removed->acl);
      if (const auto* created = std::get_if<records::DelegationTokenCreated>(&record))
        tokens_.apply(*snapshot_, created->token.token_id);
      if (const auto* removed = std::get_if<records::DelegationTokenRemoved>(&record))
        tokens_.apply(*snapshot_, removed->token_id);
    }
  }
  if (broker_changed) reload_settings();
  for (const std::string& name : topics_changed) reload_topic(name);
  if (changes.empty()) return;
  for (auto& [key, partition] : partitions_) {
    const metadata::Topic* topic = snapshot_->topic(key.topic_id);
    const metadata::Partition* placed = topic == nullptr ? nullptr : topic->partition(key.partition);
    if (placed != nullptr) partition->set_leader_epoch(snapshot_->leader_epoch(*placed));
  }
}

void Shard::reload_settings() {
  settings_.clear();
  broker_config_ = broker_.effective_config(*snapshot_);
  live_ = LiveSettings::read(broker_config_);
  default_settings_ = parse_topic_settings(
      config::effective_topic(config::Config(config::topic_table()), broker_config_), broker_config_);
  reload_sasl(broker_config_);
  for (auto& [key, partition] : partitions_) {
    if (const metadata::Topic* topic = snapshot_->topic(key.topic_id)) {
      partition->set_settings(settings_of(*topic));
      touch(partition);
    }
  }
  keepers_->cleaner.reconfigured();
  if (core_.index() == 0) broker_.resize_cleaner_pool(live_.cleaner.threads);
  if (live_changed_) live_changed_();
}

void Shard::reload_topic(const std::string& name) {
  const metadata::Topic* topic = snapshot_->topic(name);
  if (topic == nullptr) return;
  settings_.erase(topic->id);
  for (std::int32_t i = 0; i < topic->partitions.size(); ++i) {
    const auto found = partitions_.find(PartitionKey{.topic_id = topic->id, .partition = i});
    if (found == partitions_.end()) continue;
    found->second->set_settings(settings_of(*topic));
    touch(found->second);
  }
}

// A change that cannot be followed leaves what is in force; the next start says the same.
void Shard::reload_sasl(const config::Config& broker_config) {
  if (broker_.settings().sasl.empty()) return;
  if (auto sasl = read_sasl(broker_config, broker_.settings().listeners))
    sasl_ = std::move(*sasl);
  else if (core_.index() == 0)
    LOG_ERROR("config", "SASL stays as it was: {}", sasl.error());
}

std::shared_ptr<const SaslListener> Shard::sasl(std::string_view listener) const {
  const auto found = sasl_.find(listener);
  return found == sasl_.end() ? nullptr : found->second;
}

std::shared_ptr<const TopicSettings> Shard::settings_of(const metadata::Topic& topic) {
  const records::ConfigResource resource{.type = records::ResourceType::topic, .name = topic.name.str()};
  const metadata::Configs& own = snapshot_->configs(resource);
  if (own.empty()) return default_settings_;
  const auto known = settings_.find(topic.id);
  if (known != settings_.end()) return known->second;

  std::vector<config::Entry> entries;
  for (const auto& [name, value] : own)
    entries.push_back({.name = name, .value = value.value, .origin = {}, .line = 0});
  auto config = config::Config(config::topic_table()).with(entries, config::Source::dynamic_topic);
  if (!config) {
    // What is stored was checked when it was set; a value that a later release no longer takes falls back.
    LOG_WARN("broker", "topic {}: {}", topic.name.view(), config.error());
    return default_settings_;
  }
  auto settings = parse_topic_settings(config::effective_topic(*config, broker_config_), broker_config_);
  settings_.emplace(topic.id, settings);
  return settings;
}

std::shared_ptr<Partition> Shard::find_partition(const PartitionKey& key) {
  if (closed_) return nullptr;
  const auto found = partitions_.find(key);
  if (found != partitions_.end()) {
    if (found->second->state() == Partition::State::closed) open_log(found->second);
    return found->second;
  }
  const metadata::Topic* topic = snapshot_->topic(key.topic_id);
  const metadata::Partition* placed = topic == nullptr ? nullptr : topic->partition(key.partition);
  if (placed == nullptr) return nullptr;
  const std::size_t directory = broker_.directory_index(placed->directory);
  auto partition = std::make_shared<Partition>(key, topic->name.str(), directory, snapshot_->leader_epoch(*placed),
                                               settings_of(*topic));
  partitions_.emplace(key, partition);
  metrics_.partitions.store(static_cast<std::int64_t>(partitions_.size()), std::memory_order_relaxed);
  if (directory == kNoDirectory) {
    LOG_ERROR("broker", "{}-{} is in a log directory that log.dirs does not name", topic->name.view(), key.partition);
    (void)partition->take_log(Partition::State::offline, ErrorCode::kafka_storage_error);
  } else if (broker_.log_directories()[directory]->offline) {
    (void)partition->take_log(Partition::State::offline, ErrorCode::kafka_storage_error);
  } else {
    open_log(partition);
  }
  return partition;
}

runtime::Awaitable<ErrorCode> Shard::when_open(std::shared_ptr<Partition> partition) {
  if (partition->is_open()) co_return ErrorCode::none;
  if (partition->state() != Partition::State::opening) co_return partition->closed_error();
  const ErrorCode error = co_await runtime::suspend<ErrorCode>(
      [partition](runtime::Resume<ErrorCode> resume) { partition->when_open(std::move(resume)); });
  // It may be gone again by the time that this coroutine has its turn.
  if (error == ErrorCode::none && !partition->is_open()) co_return partition->closed_error();
  co_return error;
}

void Shard::open_log(const std::shared_ptr<Partition>& partition) {
  partition->set_opening();
  const storage::TopicPartition name{partition->topic(), partition->key().partition};
  const std::string folder = folder_of(partition->directory(), name);
  if (busy_folders_.contains(folder)) {
    waiting_for_folder_[folder].push_back(partition);
    return;
  }
  folder_busy(folder);
  storage::OpenOptions options{.clean_shutdown = !broker_.started_unclean(), .now_ms = now_ms()};
  const LogDirectory& home = *broker_.log_directories()[partition->directory()];
  // A folder that is there already could not be opened before; what was deleted of it stays so.
  broker_.core(0).post([this, &home, partition, name, folder, options, config = partition->settings().log]() mutable {
    options.log_start_offset = home.log_starts->line(name);
    broker_.disk_pool().post([this, partition, name, folder, options, config = std::move(config)] {
      auto log = open_folder(log_context_, folder, partition->key().topic_id,
                             [&] { return storage::Log::open(log_context_, folder, name, config, options); });
      core_.post([this, partition, folder, log = std::move(log)]() mutable {
        opened(partition, std::move(log));
        folder_free(folder);
      });
    });
  });
}

void Shard::touch(const std::shared_ptr<Partition>& partition) {
  keepers_->retention.touch(partition);
  if (partition->settings().compacted) keepers_->cleaner.touch(partition);
}

std::string Shard::folder_of(std::size_t directory, const storage::TopicPartition& name) const {
  return storage::in_directory(broker_.log_directories()[directory]->path, storage::folder_name(name));
}

void Shard::folder_free(const std::string& folder) {
  const auto busy = busy_folders_.find(folder);
  if (--busy->second > 0) return;
  busy_folders_.erase(busy);
  const auto waiting = waiting_for_folder_.find(folder);
  if (waiting == waiting_for_folder_.end()) return;
  const auto next = std::move(waiting->second);
  waiting_for_folder_.erase(waiting);
  for (const auto& other : next)
    if (other->state() == Partition::State::opening) open_log(other);
}

void Shard::forget_log_start(std::size_t directory, const storage::TopicPartition& name) {
  static constexpr std::chrono::seconds kPause{1};
  const std::string folder = folder_of(directory, name);
  folder_busy(folder);
  LogDirectory& home = *broker_.log_directories()[directory];
  broker_.core(0).post([this, &home, directory, name, folder] {
    home.clean_ends->forget(name, [](const runtime::IoResult<void>&) {});  // a wrong line does no harm there
    home.log_starts->forget(name, [this, directory, name, folder](const runtime::IoResult<void>& written) {
      core_.post([this, directory, name, folder, written] {
        if (!written && is_fault_of_disk(written.error())) directory_failed(directory, written.error().message());
        // A disk without space may have some later; the name must wait for that.
        if (!written && !is_fault_of_disk(written.error()))
          return void(core_.at(core_.clock().steady() + kPause, [this, directory, name, folder] {
            forget_log_start(directory, name);
            folder_free(folder);
          }));
        folder_free(folder);
      });
    });
  });
}

runtime::Awaitable<ErrorCode> Shard::save_log_starts(std::size_t directory, storage::OffsetMap log_starts) {
  LogDirectory& home = *broker_.log_directories()[directory];
  auto saved = co_await runtime::suspend<runtime::IoResult<void>>(
      [this, &home, log_starts = std::move(log_starts)](runtime::Resume<runtime::IoResult<void>> resume) mutable {
        broker_.core(0).post([&home, log_starts = std::move(log_starts), resume = std::move(resume)]() mutable {
          home.log_starts->raise(log_starts, std::move(resume));
        });
      });
  if (saved) co_return ErrorCode::none;
  LOG_ERROR("broker", "cannot write log start offsets: {}", saved.error().message());
  if (is_fault_of_disk(saved.error())) directory_failed(directory, saved.error().message());
  co_return ErrorCode::kafka_storage_error;
}

void Shard::opened(const std::shared_ptr<Partition>& partition, runtime::IoResult<std::unique_ptr<storage::Log>> log) {
  if (!log) {
    const std::string why = log.error().message();
    LOG_ERROR("broker", "cannot open {}-{}: {}", partition->topic(), partition->key().partition, why);
    const bool removed = partition->state() == Partition::State::removed;
    if (!removed) (void)partition->take_log(Partition::State::offline, ErrorCode::kafka_storage_error);
    if (is_fault_of_disk(log.error())) {
      broker_.directory_failed(partition->directory(), why);
    } else if (!removed && (log.error().out_of_descriptors() || log.error().out_of_space())) {
      partition->retry_open();  // that may pass: the next request tries again
    }
    return;
  }
  if (partition->state() == Partition::State::removed) return remove_log(*partition, std::move(*log));
  // Its directory has failed meanwhile, or the broker stops.
  if (partition->state() != Partition::State::opening) return;
  partition->install(std::move(*log));
  touch(partition);
}

Partition* Shard::known_partition(const PartitionKey& key) const {
  const auto found = partitions_.find(key);
  return found == partitions_.end() ? nullptr : found->second.get();
}

void Shard::adopt(const PartitionKey& key, std::size_t directory, std::unique_ptr<storage::Log> log) {
  const metadata::Topic* topic = snapshot_->topic(key.topic_id);
  const metadata::Partition* placed = topic == nullptr ? nullptr : topic->partition(key.partition);
  if (placed == nullptr) return;
  auto partition = std::make_shared<Partition>(key, topic->name.str(), directory, snapshot_->leader_epoch(*placed),
                                               settings_of(*topic));
  partition->install(std::move(log));
  touch(partition);
  partitions_.emplace(key, std::move(partition));
  metrics_.partitions.store(static_cast<std::int64_t>(partitions_.size()), std::memory_order_relaxed);
}

void Shard::remove_topic(const base::Uuid& topic_id) {
  settings_.erase(topic_id);
  for (auto it = partitions_.begin(); it != partitions_.end();) {
    if (it->first.topic_id != topic_id) {
      ++it;
      continue;
    }
    const std::shared_ptr<Partition> partition = std::move(it->second);
    it = partitions_.erase(it);
    const bool opening = partition->state() == Partition::State::opening;
    std::unique_ptr<storage::Log> log =
        partition->take_log(Partition::State::removed, ErrorCode::unknown_topic_or_partition);
    if (log) {
      remove_log(*partition, std::move(log));
    } else if (!opening && partition->directory() != kNoDirectory) {
      forget_log_start(partition->directory(), {partition->topic(), partition->key().partition});
    }
  }
  metrics_.partitions.store(static_cast<std::int64_t>(partitions_.size()), std::memory_order_relaxed);
}

void Shard::remove_log(Partition& partition, std::unique_ptr<storage::Log> log) {
  if (log->log_start_offset() > 0 || partition.clean_end > 0) forget_log_start(partition.directory(), log->partition());
  // The rename frees the name at once; the files go on a pool, whatever their size.
  const auto renamed = log->remove(random_.next());
  if (!renamed) {
    LOG_ERROR("broker", "cannot remove {}-{}: {}", partition.topic(), partition.key().partition,
              renamed.error().message());
    return;
  }
  broker_.disk_pool().post([&files = broker_.files(), folder = *renamed] {
    if (const auto removed = files.remove_all(folder); !removed)
      LOG_ERROR("broker", "cannot remove {}: {}", folder, removed.error().message());
  });
}

void Shard::stop_waiting() {
  stopping_ = true;
  for (FetchWaiter* waiter : parked_) waiter->wake();
  groups_.stop();
}

void Shard::directory_failed(std::size_t directory, const std::string& why) {
  broker_.directory_failed(directory, why);
}

void Shard::report_unsound(const std::string& line) {
  // Beyond so many the disk is no secret any more.
  constexpr std::size_t kMostLines = 1000;
  if (told_unsound_.size() >= kMostLines || !told_unsound_.insert(line).second) return;
  LOG_ERROR("storage", "{}", line);
}

void Shard::stop_directory(std::size_t directory) {
  for (auto& [key, partition] : partitions_) {
    if (partition->directory() != directory || partition->state() == Partition::State::offline) continue;
    // The log is kept until it can be dropped outside of its own calls.
    auto log = partition->take_log(Partition::State::offline, ErrorCode::kafka_storage_error);
    if (log) core_.post([log = std::move(log)] {});
  }
}

std::vector<Shard::ClosedLog> Shard::log_positions() {
  std::vector<ClosedLog> result;
  for (auto& [key, partition] : partitions_) {
    if (!partition->is_open()) continue;
    storage::Log& log = partition->log();
    result.push_back({.partition = log.partition(),
                      .directory = partition->directory(),
                      .recovery_point = log.recovery_point(),
                      .log_start_offset = log.log_start_offset(),
                      .high_watermark = partition->high_watermark(),
                      .clean = false});
  }
  return result;
}

std::vector<Shard::ClosedLog> Shard::close_logs() {
  subscription_.end();
  closed_ = true;
  std::vector<ClosedLog> result;
  for (auto& [key, partition] : partitions_) {
    if (!partition->is_open()) {
      // One that a pool is opening comes too late: nothing may be appended to what nobody closes.
      if (partition->state() == Partition::State::opening)
        (void)partition->take_log(Partition::State::closed, ErrorCode::not_leader_or_follower);
      continue;
    }
    const std::size_t directory = partition->directory();
    const std::int64_t high_watermark = partition->high_watermark();
    std::unique_ptr<storage::Log> log =
        partition->take_log(Partition::State::closed, ErrorCode::not_leader_or_follower);
    const auto closed = log->close({.sync = false});
    if (!closed) LOG_ERROR("broker", "cannot close {}: {}", log->folder(), closed.error().message());
    // The owner syncs the file system before the checkpoint says so.
    result.push_back({.partition = log->partition(),
                      .directory = directory,
                      .recovery_point = closed ? log->log_end_offset() : log->recovery_point(),
                      .log_start_offset = log->log_start_offset(),
                      .high_watermark = std::max(high_watermark, log->log_end_offset()),
                      .clean = closed.has_value()});
  }
  partitions_.clear();
  return result;
}

}  // namespace thalweg::broker
