#include "broker/backup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/log.h"
#include "broker/shard.h"
#include "metadata/offline_store.h"
#include "metadata/sqlite_store.h"
#include "runtime/hard_link.h"
#include "runtime/io_message.h"
#include "storage/checkpoints.h"
#include "storage/copy_files.h"
#include "storage/leader_epochs.h"
#include "storage/segment_files.h"
#include "storage/txn_index.h"

namespace thalweg::broker {

namespace {

using runtime::with_message;
using storage::SegmentFile;

// A compaction that is under way ends by itself; how often it is asked for, and the pause in between.
constexpr int kBusyRounds = 6000;
constexpr std::chrono::milliseconds kBusyPause{100};

// What a core tells of one of its logs; until it is released the segments stand still.
struct Capture {
  enum class State : std::uint8_t { taken, absent, busy, failed };
  State state = State::absent;
  std::shared_ptr<Partition> partition;
  storage::TopicPartition name;
  std::string folder;
  std::vector<storage::Log::Extent> extents;
  std::string leader_epochs;
  std::int64_t log_start_offset = 0;
  std::int64_t log_end_offset = 0;
  std::int64_t high_watermark = 0;
  std::int64_t clean_end = 0;
};

Capture capture(Shard& shard, const PartitionKey& key) {
  Capture capture;
  capture.partition = shard.find_partition(key);
  if (!capture.partition) return capture;
  Partition& partition = *capture.partition;
  using enum Partition::State;
  if (partition.state() == offline) capture.state = Capture::State::failed;
  if (partition.state() == opening || (partition.is_open() && partition.cleaning)) capture.state = Capture::State::busy;
  if (!partition.is_open() || partition.cleaning) return capture;
  storage::Log& log = partition.log();
  partition.backing_up = true;
  capture.state = Capture::State::taken;
  capture.name = log.partition();
  capture.folder = log.folder();
  capture.extents = log.extents();
  capture.leader_epochs = log.leader_epochs().text();
  capture.log_start_offset = log.log_start_offset();
  capture.log_end_offset = log.log_end_offset();
  capture.high_watermark = partition.high_watermark();
  capture.clean_end = partition.clean_end;
  return capture;
}

class BackupRun {
 public:
  BackupRun(Broker& broker, std::string target, const std::atomic<bool>& cancelled)
      : broker_(broker), files_(broker.files()), target_(std::move(target)), cancelled_(cancelled) {}

  base::Result<BackupReport, std::string> run() {
    TRY(prepare_target());
    TRY(copy_store());
    for (const auto& [name, topic] : store_.snapshot->topics()) TRY(copy_topic(*topic));
    TRY(leave_out_deleted());
    TRY(with_message(finish()));
    return report_;
  }

 private:
  [[nodiscard]] std::string in_target(std::string_view name) const { return storage::in_directory(target_, name); }
  template <class Work>
  auto on_core(int core, Work work) {
    std::promise<std::invoke_result_t<Work, Shard&>> promise;
    auto future = promise.get_future();
    broker_.core(core).post([&] { promise.set_value(work(broker_.shard(core))); });
    return future.get();
  }

  // On the core's clock.
  void pause(int core) {
    std::promise<void> over;
    auto waiting = over.get_future();
    broker_.core(core).at_any_thread(kBusyPause, [&over] { over.set_value(); });
    waiting.wait();
  }

  base::Result<void, std::string> prepare_target();
  base::Result<void, std::string> copy_store();
  base::Result<void, std::string> copy_topic(const metadata::Topic& topic);
  base::Result<bool, std::string> copy_partition(const metadata::Topic& topic, std::int32_t number);
  runtime::IoResult<void> copy_log(const Capture& capture, const metadata::Topic& topic);
  runtime::IoResult<void> copy_segment(const Capture& capture, const storage::Log::Extent& extent);
  runtime::IoResult<void> copy_file(const std::string& from, const std::string& to, std::uint64_t size);
  runtime::IoResult<void> copy_whole(const std::string& from, const std::string& to);
  base::Result<void, std::string> leave_out_deleted();
  runtime::IoResult<void> finish();

  Broker& broker_;
  runtime::FileSystem& files_;
  const std::string target_;
  const std::atomic<bool>& cancelled_;
  metadata::SqliteExamination store_;
  std::vector<base::Uuid> deleted_;  // topics that went while the backup ran
  storage::OffsetMap ends_, log_starts_, high_watermarks_, clean_ends_;
  BackupReport report_;
};

base::Result<void, std::string> BackupRun::prepare_target() {
  ASSIGN_OR_RETURN(const bool free, with_message(storage::is_free(files_, target_)));
  if (!free) return std::unexpected(target_ + " is not empty; a backup goes into a folder of its own");
  TRY(with_message(files_.create_directories(target_)));
  TRY(with_message(files_.replace_file(in_target(kIncompleteCopyFileName), "")));
  return {};
}

base::Result<void, std::string> BackupRun::copy_store() {
  const std::string from = storage::in_directory(broker_.log_directories().front()->path, metadata::kSqliteFileName);
  const std::string copy = in_target(metadata::kSqliteFileName);
  if (auto copied = metadata::copy_sqlite_file(from, copy, {}); !copied)
    return std::unexpected(std::move(copied).error().message);
  store_ = metadata::examine_sqlite_file(copy, [](const metadata::GroupPage&) {});
  if (!store_.snapshot)
    return std::unexpected(copy + ": " + (store_.faults.empty() ? "cannot be read" : store_.faults.front()));
  return {};
}

base::Result<void, std::string> BackupRun::copy_topic(const metadata::Topic& topic) {
  ++report_.topics;
  for (std::int32_t number = 0; number < topic.partitions.size(); ++number) {
    if (cancelled_) return std::unexpected("the broker is stopping");
    ASSIGN_OR_RETURN(const bool topic_is_there, copy_partition(topic, number));
    if (topic_is_there) continue;
    deleted_.push_back(topic.id);
    break;
  }
  return {};
}

// False where the topic is no more.
base::Result<bool, std::string> BackupRun::copy_partition(const metadata::Topic& topic, std::int32_t number) {
  const PartitionKey key{.topic_id = topic.id, .partition = number};
  const int owner = broker_.owner_of(std::string_view(topic.name), number);
  const storage::TopicPartition name{.topic = std::string(topic.name), .partition = number};
  Capture captured;
  for (int round = 0;; ++round) {
    struct Seen {
      bool topic = false;
      Capture capture;
    };
    Seen seen = on_core(owner, [&](Shard& shard) {
      // Nobody has written to a partition without a folder, and a backup is no reason to make one.
      const metadata::Topic* const now = shard.snapshot()->topic(key.topic_id);
      if (now == nullptr) return Seen{};
      const bool known = shard.known_partition(key) != nullptr;
      return Seen{.topic = true, .capture = known ? capture(shard, key) : Capture{}};
    });
    if (!seen.topic) return false;
    captured = std::move(seen.capture);
    if (captured.state != Capture::State::busy) break;
    if (cancelled_ || round >= kBusyRounds)
      return std::unexpected(storage::folder_name(name) + " is being compacted for too long");
    pause(owner);
  }
  if (captured.state == Capture::State::failed)
    return std::unexpected(storage::folder_name(name) + " is offline, as its log directory has failed");
  if (captured.state == Capture::State::absent) return true;
  const auto copied = copy_log(captured, topic);
  const bool is_open = on_core(owner, [&](Shard& shard) {
    captured.partition->backing_up = false;
    if (captured.partition->is_open()) shard.touch(captured.partition);
    return captured.partition->is_open();
  });
  captured.partition = nullptr;
  if (copied) return true;
  if (!is_open) {
    // Its folder was renamed under the copy.
    (void)files_.remove_all(in_target(storage::folder_name(name)));
    return false;
  }
  return std::unexpected(copied.error().message());
}

runtime::IoResult<void> BackupRun::copy_log(const Capture& capture, const metadata::Topic& topic) {
  const std::string folder = in_target(storage::folder_name(capture.name));
  TRY(files_.create_directories(folder));
  TRY(storage::write_partition_metadata(files_, folder, topic.id));
  if (!capture.leader_epochs.empty())
    TRY(files_.replace_file(storage::in_directory(folder, storage::kLeaderEpochsFileName), capture.leader_epochs,
                            false));
  for (const storage::Log::Extent& extent : capture.extents) TRY(copy_segment(capture, extent));
  ends_[capture.name] = capture.log_end_offset;
  high_watermarks_[capture.name] = capture.high_watermark;
  if (capture.log_start_offset > 0) log_starts_[capture.name] = capture.log_start_offset;
  if (capture.clean_end > 0) clean_ends_[capture.name] = capture.clean_end;
  ++report_.partitions;
  return {};
}

runtime::IoResult<void> BackupRun::copy_segment(const Capture& capture, const storage::Log::Extent& extent) {
  const std::string folder = in_target(storage::folder_name(capture.name));
  const auto from = [&](SegmentFile file) {
    return storage::segment_file_path(capture.folder, extent.base_offset, file);
  };
  const auto to = [&](SegmentFile file) { return storage::segment_file_path(folder, extent.base_offset, file); };
  if (extent.durable && runtime::hard_link(extent.path, to(SegmentFile::log))) {
    report_.bytes_linked += extent.size_bytes;
  } else {
    TRY(copy_file(extent.path, to(SegmentFile::log), extent.size_bytes));
  }
  // A roll writes the indexes before the next segment is there, so a closed segment has them even where no sync has
  // come by yet. Entries of the last segment's indexes wait in memory; a start makes these anew, and no others.
  if (extent.closed) {
    TRY(copy_whole(from(SegmentFile::offset_index), to(SegmentFile::offset_index)));
    TRY(copy_whole(from(SegmentFile::time_index), to(SegmentFile::time_index)));
  }
  if (extent.aborted_count > 0)
    TRY(copy_file(from(SegmentFile::transaction_index), to(SegmentFile::transaction_index),
                  std::uint64_t{extent.aborted_count} * storage::kTxnIndexEntrySize));
  return copy_whole(from(SegmentFile::snapshot), to(SegmentFile::snapshot));
}

runtime::IoResult<void> BackupRun::copy_file(const std::string& from, const std::string& to, std::uint64_t size) {
  TRY(storage::copy_file(files_, from, to, size));
  report_.bytes_copied += size;
  return {};
}

// Where there is such a file.
runtime::IoResult<void> BackupRun::copy_whole(const std::string& from, const std::string& to) {
  const auto source = files_.open(from, runtime::OpenMode::read);
  if (!source)
    return source.error().error_number == ENOENT ? runtime::IoResult<void>() : std::unexpected(source.error());
  ASSIGN_OR_RETURN(const std::uint64_t size, (*source)->size());
  return copy_file(from, to, size);
}

base::Result<void, std::string> BackupRun::leave_out_deleted() {
  if (deleted_.empty()) return {};
  auto store = metadata::OfflineStore::open(
      {.path = in_target(metadata::kSqliteFileName), .node_id = broker_.node_id(), .cluster_id = broker_.cluster_id()});
  if (!store) return std::unexpected(std::move(store).error().message);
  for (const base::Uuid& id : deleted_) {
    metadata::ChangeSet changes;
    changes.records.emplace_back(records::TopicDeleted{.topic_id = id});
    if (auto committed = (*store)->commit(std::move(changes)); !committed)
      return std::unexpected(std::move(committed).error().message);
    ++report_.topics_left_out;
    --report_.topics;
  }
  return {};
}

runtime::IoResult<void> BackupRun::finish() {
  TRY(storage::write_offsets(files_, in_target(storage::kRecoveryPointsFileName), ends_));
  TRY(storage::write_offsets(files_, in_target(storage::kLogStartOffsetsFileName), log_starts_));
  TRY(storage::write_offsets(files_, in_target(storage::kHighWatermarksFileName), high_watermarks_));
  TRY(storage::write_offsets(files_, in_target(storage::kCleanerOffsetsFileName), clean_ends_));
  TRY(storage::write_meta_properties(files_, target_,
                                     {.cluster_id = broker_.cluster_id(),
                                      .node_id = broker_.settings().node_id,
                                      .directory_id = broker_.log_directories().front()->id}));
  TRY(files_.sync_filesystem(target_));
  TRY(files_.remove(in_target(kIncompleteCopyFileName)));
  return files_.sync_directory(target_);
}

}  // namespace

base::Result<BackupReport, std::string> back_up(Broker& broker, const std::string& target,
                                                const std::atomic<bool>& cancelled) {
  return BackupRun(broker, target, cancelled).run();
}

}  // namespace thalweg::broker
