// The broker's log directories, and the logs that it finds in them when it starts.
#include <algorithm>
#include <filesystem>
#include <future>
#include <utility>

#include "base/log.h"
#include "broker/backup.h"
#include "broker/broker.h"
#include "storage/checkpoints.h"
#include "storage/log_folder.h"
#include "storage/topic_partition.h"

namespace thalweg::broker {

namespace {

// Makes the folder where it is missing, so that it stays.
runtime::IoResult<void> make_directory(runtime::FileSystem& files, const std::string& path) {
  const auto parent_of = [](const std::string& child) {
    const std::size_t slash = child.rfind('/');
    if (slash == std::string::npos) return std::string(".");
    return slash == 0 ? std::string("/") : child.substr(0, slash);
  };
  std::vector<std::string> with_new_entries;
  for (std::string missing = path; missing.size() > 1;) {
    ASSIGN_OR_RETURN(const bool exists, files.exists(missing));
    if (exists) break;
    missing = with_new_entries.emplace_back(parent_of(missing));
  }
  TRY(files.create_directories(path));
  for (const std::string& folder : with_new_entries) TRY(files.sync_directory(folder));
  return {};
}

// Runs every task on as many threads as `threads`, and waits for all.
void run_side_by_side(runtime::Host& host, std::vector<runtime::Task> tasks, std::size_t threads) {
  const std::unique_ptr<runtime::Pool> pool = host.make_pool("recovery", threads);
  for (runtime::Task& task : tasks) pool->post(std::move(task));
  pool->stop();
}

}  // namespace

base::Result<void, std::string> Broker::open_directories() {
  std::optional<std::string> cluster_id;
  for (const std::string& path : settings_.log_dirs) {
    auto directory = std::make_unique<LogDirectory>();
    directory->path = path;
    directory->absolute_path = std::filesystem::absolute(path).string();
    if (const auto made = make_directory(environment_.files, path); !made)
      return std::unexpected("log.dirs: " + made.error().message());
    auto lock = environment_.files.lock(path);
    if (!lock) {
      return std::unexpected(
          fmt::format("log.dirs: {} is in use by another process ({})", path, lock.error().message()));
    }
    locks_.push_back(std::move(*lock));
    if (const auto incomplete = environment_.files.exists(storage::in_directory(path, kIncompleteCopyFileName));
        incomplete && *incomplete)
      return std::unexpected(fmt::format("log.dirs: {} is a copy that was not finished; make it again", path));
    const auto properties = storage::read_meta_properties(environment_.files, path);
    if (!properties) return std::unexpected("log.dirs: " + properties.error().message());
    if (properties->has_value()) {
      const storage::MetaProperties& found = **properties;
      if (found.node_id != settings_.node_id)
        return std::unexpected(
            fmt::format("log.dirs: {} belongs to node {}, this is node.id={}; give each node folders of its own", path,
                        found.node_id, settings_.node_id));
      if (cluster_id && *cluster_id != found.cluster_id)
        return std::unexpected(fmt::format("log.dirs: {} belongs to cluster {}, another folder to {}", path,
                                           found.cluster_id, *cluster_id));
      cluster_id = found.cluster_id;
      directory->id = found.directory_id;
    }
    directories_.push_back(std::move(directory));
  }
  cluster_id_ = cluster_id.value_or(std::string());
  return {};
}

std::size_t Broker::directory_index(const base::Uuid& id) const {
  if (id.is_zero()) return 0;
  for (std::size_t i = 0; i < directories_.size(); ++i)
    if (directories_[i]->id == id) return i;
  return kNoDirectory;
}

bool Broker::is_offline(const base::Uuid& directory) const {
  const std::size_t index = directory_index(directory);
  return index == kNoDirectory || directories_[index]->offline;
}

std::vector<bool> Broker::cordoned_directories(const metadata::Snapshot& snapshot) const {
  const std::vector<std::string> names = effective_config(snapshot).get_list("cordoned.log.dirs");
  const auto has = [&names](std::string_view name) { return std::ranges::find(names, name) != names.end(); };
  std::vector<bool> result;
  result.reserve(directories_.size());
  for (const auto& directory : directories_) result.push_back(has("*") || has(directory->path));
  return result;
}

std::vector<base::Uuid> Broker::directories_for_new_partitions(const metadata::Snapshot& snapshot,
                                                               std::int32_t count) const {
  const std::vector<bool> cordoned = cordoned_directories(snapshot);
  std::vector<std::optional<std::int64_t>> partitions(directories_.size());
  for (std::size_t i = 0; i < directories_.size(); ++i)
    if (!cordoned[i] && !directories_[i]->offline) partitions[i] = 0;
  // Where there is but one, it need not be known how many it has.
  if (directories_.size() > 1) {
    for (const auto& [name, topic] : snapshot.topics()) {
      for (std::int32_t i = 0; i < topic->partitions.size(); ++i) {
        const std::size_t directory = directory_index(topic->partitions[i].directory);
        if (directory != kNoDirectory && partitions[directory]) ++*partitions[directory];
      }
    }
  }
  std::vector<base::Uuid> result;
  for (const std::size_t directory : fewest_first(partitions, count)) result.push_back(directories_[directory]->id);
  return result;
}

void Broker::directory_failed(std::size_t directory, const std::string& why) {
  if (directories_[directory]->offline.exchange(true)) return;
  LOG_ERROR("broker", "log directory {} is offline: {}", directories_[directory]->path, why);
  for (auto& shard : shards_) shard->core().post([&shard = *shard, directory] { shard.stop_directory(directory); });
}

base::Result<void, std::string> Broker::open_logs() {
  struct Opened {
    PartitionKey key;
    const metadata::Topic* topic = nullptr;
    int owner = 0;
    std::shared_ptr<const storage::LogConfig> config;
    std::unique_ptr<storage::Log> log;
    std::size_t directory = 0;
    std::int64_t clean_end = 0;
    std::optional<runtime::IoError> fault;
    storage::RecoveryReport report;
  };
  std::shared_ptr<const metadata::Snapshot> snapshot = store_->opened_snapshot();
  std::vector<std::unique_ptr<Opened>> opened;
  std::vector<std::pair<std::size_t, std::string>> failed;  // directories, and why
  bool all_known = true;
  // By directory: the lines of its log start checkpoint, and those of them whose partitions have not been met yet.
  std::vector<storage::OffsetMap> log_starts_of, strangers_of;
  std::vector<runtime::Task> tasks;
  metadata::ChangeSet moved_by_hand;
  for (std::size_t here = 0; here < directories_.size(); ++here) {
    const auto& directory = directories_[here];
    const auto entries = environment_.files.list(directory->path);
    if (!entries) return std::unexpected("log.dirs: " + entries.error().message());
    // As Kafka, one that is damaged counts as one that is missing.
    const auto read = [&](std::string_view name) -> runtime::IoResult<storage::OffsetMap> {
      auto offsets = storage::read_offsets(environment_.files, storage::in_directory(directory->path, name));
      if (offsets || offsets.error().error_number != EBADMSG) return offsets;
      LOG_ERROR("broker", "{}; its offsets count as 0", offsets.error().message());
      return storage::OffsetMap();
    };
    const auto recovery_points = read(storage::kRecoveryPointsFileName);
    const auto log_starts = read(storage::kLogStartOffsetsFileName);
    const auto clean_ends = read(storage::kCleanerOffsetsFileName);
    if (!recovery_points) return std::unexpected(recovery_points.error().message());
    if (!log_starts) return std::unexpected(log_starts.error().message());
    if (!clean_ends) return std::unexpected(clean_ends.error().message());
    directory->clean_ends->load(*clean_ends, {});
    log_starts_of.push_back(*log_starts);
    storage::OffsetMap& strangers = strangers_of.emplace_back(*log_starts);
    for (const runtime::DirectoryEntry& entry : *entries) {
      if (!entry.is_directory) continue;
      const std::string folder = storage::in_directory(directory->path, entry.name);
      if (storage::is_deleted_folder_name(entry.name)) {
        tasks.emplace_back([this, folder] { (void)environment_.files.remove_all(folder); });
        continue;
      }
      const auto name = storage::parse_folder_name(entry.name);
      if (!name) continue;
      const auto id = storage::read_partition_metadata(environment_.files, folder);
      const metadata::Topic* topic = snapshot->topic(name->topic);
      if (!id) {
        // Whose it is cannot be told now. It stays where it is, for there may be records in it.
        LOG_ERROR("broker", "cannot open a log: {}", id.error().message());
        if (is_fault_of_disk(id.error())) failed.emplace_back(here, id.error().message());
        all_known = false;
        strangers.erase(*name);
        continue;
      }
      if (!*id) {
        if (const auto empty = storage::is_log_folder_empty(environment_.files, folder); empty && *empty) {
          LOG_INFO("broker", "{} was being made when the broker stopped; nothing is in it, and it is removed", folder);
          if (environment_.files.remove_all(folder)) continue;
        }
      }
      const bool is_ours = topic != nullptr && *id == topic->id && topic->partition(name->partition) != nullptr;
      if (!is_ours || is_duplicate(*topic, *name, here)) {
        // Its topic was deleted, or it was never ours; nobody can reach it under this name again.
        LOG_WARN("broker", "{} {}; it is renamed to {}-stray", folder,
                 is_ours ? "is in another log directory as well" : "belongs to no topic of this cluster", entry.name);
        const auto renamed = environment_.files.rename(folder, folder + "." + random_.next().str() + "-stray");
        if (!renamed) return std::unexpected(renamed.error().message());
        continue;
      }
      const auto offset_of = [&](const storage::OffsetMap& map) {
        const auto it = map.find(*name);
        return it == map.end() ? std::int64_t{0} : it->second;
      };
      strangers.erase(*name);
      auto slot = std::make_unique<Opened>();
      slot->key = {.topic_id = topic->id, .partition = name->partition};
      slot->topic = topic;
      slot->owner = owner_of(name->topic, name->partition);
      slot->directory = here;
      if (const metadata::Partition& placed = *topic->partition(name->partition);
          directory_index(placed.directory) != here) {
        LOG_WARN("broker", "{} was moved here by hand, and is taken as it is", folder);
        // The snapshot is from before this start, which raises the epoch where the last stop was unclean.
        moved_by_hand.records.emplace_back(
            records::PartitionChanged{.topic_id = topic->id,
                                      .partition = name->partition,
                                      .leader = placed.leader,
                                      .leader_epoch = snapshot->leader_epoch(placed) + (unclean_ ? 1 : 0),
                                      .directory = directory->id});
      }
      slot->clean_end = offset_of(*clean_ends);
      const storage::OpenOptions options{.clean_shutdown = !unclean_,
                                         .recovery_point = offset_of(*recovery_points),
                                         .log_start_offset = offset_of(*log_starts),
                                         .now_ms = environment_.clock.wall_ms()};
      Opened* out = slot.get();
      opened.push_back(std::move(slot));
      tasks.emplace_back([this, out, folder, name = *name, options] {
        storage::LogContext& context = shard(out->owner).log_context();
        auto log = storage::Log::open(context, folder, name, out->config, options);
        if (log) {
          out->log = std::move(*log);
          out->report = out->log->recovery_report();
        } else {
          out->fault = log.error();
        }
      });
    }
  }
  TRY(load_log_starts(std::move(log_starts_of), strangers_of));
  if (!moved_by_hand.records.empty())
    if (const auto noted = commit_and_wait(std::move(moved_by_hand)); !noted)
      return std::unexpected("cannot write the metadata store: " + noted.error().detail);
  // Recovery makes indexes, which are as the topic has them.
  for (const auto& slot : opened) {
    shard(slot->owner).core().post([&owner = shard(slot->owner), &slot = *slot] {
      slot.config = owner.settings_of(*slot.topic)->log;
    });
  }
  on_every_core([](Shard&) {});
  const auto began = environment_.clock.steady();
  const LiveSettings live = LiveSettings::read(effective_config(*store_->opened_snapshot()));
  run_side_by_side(environment_.host, std::move(tasks),
                   static_cast<std::size_t>(live.recovery_threads) * directories_.size());
  // What a killed process has written may be in the machine's memory only. From now on it is read, so it must stay.
  for (std::size_t i = 0; unclean_ && settings_.flush_acks && i < directories_.size(); ++i)
    if (const auto synced = environment_.files.sync_filesystem(directories_[i]->path); !synced)
      failed.emplace_back(i, synced.error().message());
  std::int64_t truncated = 0;
  std::int64_t recovered = 0;
  std::size_t count = 0;
  for (auto& slot : opened) {
    if (!slot->log) {
      LOG_ERROR("broker", "cannot open a log: {}", slot->fault->message());
      // A sync that failed may have lost what the next try would find in memory.
      if (is_fault_of_disk(*slot->fault)) failed.emplace_back(slot->directory, slot->fault->message());
      continue;
    }
    ++count;
    truncated += slot->report.bytes_truncated;
    recovered += slot->report.bytes_recovered;
    Shard& owner = shard(slot->owner);
    owner.core().post([&owner, key = slot->key, directory = slot->directory, clean_end = slot->clean_end,
                       log = std::move(slot->log)]() mutable {
      // A line beyond the end is of a log that was there before.
      if (clean_end > log->log_end_offset()) clean_end = 0;
      owner.adopt(key, directory, std::move(log));
      if (const auto partition = owner.find_partition(key)) partition->clean_end = clean_end;
    });
  }
  for (const auto& [directory, why] : failed) directory_failed(directory, why);
  on_every_core([](Shard&) {});
  all_opened_ = all_known && count == opened.size();
  if (count > 0) {
    const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(environment_.clock.steady() - began);
    LOG_INFO("broker", "opened {} partitions in {} ms after {} stop; {} bytes checked, {} cut off", count, took.count(),
             unclean_ ? "an unclean" : "a clean", recovered, truncated);
  }
  return {};
}

bool Broker::is_duplicate(const metadata::Topic& topic, const storage::TopicPartition& name,
                          std::size_t directory) const {
  const std::size_t home = directory_index(topic.partition(name.partition)->directory);
  if (home == directory || home == kNoDirectory) return false;
  const std::string folder = storage::in_directory(directories_[home]->path, storage::folder_name(name));
  const auto id = storage::read_partition_metadata(environment_.files, folder);
  return id && *id == topic.id;
}

// Lines of partitions that are no more go before their names can be used again.
base::Result<void, std::string> Broker::load_log_starts(std::vector<storage::OffsetMap> lines,
                                                        const std::vector<storage::OffsetMap>& dead) {
  for (std::size_t i = 0; i < directories_.size(); ++i) {
    std::vector<storage::TopicPartition> names;
    for (const auto& [name, offset] : dead[i]) names.push_back(name);
    OffsetCheckpoint& checkpoint = *directories_[i]->log_starts;
    checkpoint.load(std::move(lines[i]), names);
    if (names.empty()) continue;
    std::promise<runtime::IoResult<void>> promise;
    auto future = promise.get_future();
    cores_.front()->post([&] {
      checkpoint.raise({}, [&promise](runtime::IoResult<void> written) { promise.set_value(std::move(written)); });
    });
    const runtime::IoResult<void> written = environment_.host.wait(future);
    if (!written) return std::unexpected("log.dirs: " + written.error().message());
  }
  return {};
}

}  // namespace thalweg::broker
