#include "storage/log.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/crc32c.h"
#include "storage/checkpoints.h"
#include "storage/log_recovery.h"
#include "storage/producer_snapshot.h"

namespace thalweg::storage {

bool batch_crc_matches(std::span<const std::uint8_t> batch) {
  if (batch.size() < protocol::kBatchHeaderSize) return false;
  return protocol::BatchView(batch.data()).crc() == base::crc32c(batch.subspan(protocol::kAttributesPosition));
}

Log::Log(LogContext& context, std::string folder, TopicPartition partition, std::shared_ptr<const LogConfig> config)
    : home_{.context = context, .folder = std::move(folder), .config = std::move(config)},
      partition_(std::move(partition)) {}

Log::~Log() = default;

runtime::IoResult<std::unique_ptr<Log>> Log::open(LogContext& context, std::string folder, TopicPartition partition,
                                                  std::shared_ptr<const LogConfig> config, const OpenOptions& options) {
  std::unique_ptr<Log> log(new Log(context, std::move(folder), std::move(partition), std::move(config)));
  TRY(LogRecovery(*log, options).run());
  return log;
}

std::int64_t Log::size_bytes() const {
  std::int64_t size = 0;
  for (const auto& segment : segments_) size += segment->size_bytes();
  return size;
}

std::size_t Log::segment_of(std::int64_t offset) const {
  const auto after = std::ranges::upper_bound(segments_, offset, {}, [](const auto& s) { return s->base_offset(); });
  return after == segments_.begin() ? 0 : static_cast<std::size_t>(after - segments_.begin()) - 1;
}

std::int64_t Log::end_offset_of(std::size_t segment) const {
  return segment + 1 < segments_.size() ? segments_[segment + 1]->base_offset() : log_end_offset_;
}

std::int64_t Log::last_stable_offset(std::int64_t high_watermark) const {
  const std::optional<std::int64_t> unstable = producers_.first_unstable_offset();
  if (!unstable) return high_watermark;
  return std::min(high_watermark, std::max(*unstable, log_start_offset_));
}

void Log::expire_producers(std::int64_t now_ms) { producers_.expire(now_ms, config().producer_id_expiration_ms); }

EpochEndOffset Log::offset_for_leader_epoch(std::int32_t epoch) const {
  return leader_epochs_.end_offset_of(epoch, log_end_offset_);
}

void Log::assign_leader_epoch(std::int32_t epoch) { leader_epochs_.assign(epoch, log_end_offset_); }

bool Log::raise_log_start_offset(std::int64_t offset) {
  if (offset <= log_start_offset_ || offset > log_end_offset_) return false;
  log_start_offset_ = offset;
  leader_epochs_.truncate_from_start(offset);
  producers_.on_high_watermark(offset);
  return true;
}

std::vector<Log::Extent> Log::extents() const {
  std::vector<Extent> extents;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const bool closed = i + 1 < segments_.size();
    extents.push_back({.base_offset = segments_[i]->base_offset(),
                       .end_offset = end_offset_of(i),
                       .size_bytes = segments_[i]->size_bytes(),
                       .aborted_count = segments_[i]->aborted_count(),
                       .closed = closed,
                       .durable = closed && end_offset_of(i) <= closed_durable_,
                       .path = segments_[i]->path(SegmentFile::log)});
  }
  return extents;
}

runtime::IoResult<std::optional<FlushTargets>> Log::flush_targets() {
  if (log_end_offset_ <= recovery_point_ && entries_synced_ == entries_version_) return std::nullopt;
  FlushTargets targets;
  targets.mark = {.end_offset = log_end_offset_,
                  .closed_end_offset = active().base_offset(),
                  .entries_version = entries_version_,
                  .epochs_version = epochs_written_,
                  .truncations = truncations_};
  runtime::FileSystem& files = home_.context.files;
  const auto add = [&](const std::string& path) -> runtime::IoResult<void> {
    ASSIGN_OR_RETURN(const bool exists, files.exists(path));
    if (!exists) return {};
    ASSIGN_OR_RETURN(auto file, files.open(path, runtime::OpenMode::read_write));
    targets.files.push_back(std::move(file));
    return {};
  };
  for (std::size_t i = segments_.size(); i-- > 0;) {
    Segment& segment = *segments_[i];
    const bool closed = i + 1 < segments_.size();
    // A segment that is closed is synced once more even where its records have been: once the recovery point lies
    // behind it a restart trusts its indexes, begins with the snapshot at its end, and takes bytes of a failed write,
    // which must have been cut off for good by then, for damage.
    if (end_offset_of(i) <= (closed ? closed_durable_ : recovery_point_)) {
      if (closed) break;
      continue;
    }
    ASSIGN_OR_RETURN(auto file, segment.file());
    targets.files.push_back(std::move(file));
    if (!closed) continue;
    for (const SegmentFile index : {SegmentFile::offset_index, SegmentFile::time_index, SegmentFile::transaction_index})
      TRY(add(segment.path(index)));
    TRY(add(segment_file_path(home_.folder, end_offset_of(i), SegmentFile::snapshot)));
  }
  // A restart finds the epochs that begin in the segment of the recovery point in its batches, earlier ones only here.
  if (closed_durable_ < active().base_offset() && epochs_written_ != leader_epochs_.version()) {
    targets.replacements.push_back({in_directory(home_.folder, kLeaderEpochsFileName), leader_epochs_.text()});
    targets.mark.epochs_version = leader_epochs_.version();
  }
  if (entries_synced_ != entries_version_) {
    targets.folders.push_back(home_.folder);
    if (folder_unsynced_) {
      targets.folders.push_back(home_.folder.substr(0, home_.folder.rfind('/')));
      TRY(add(in_directory(home_.folder, kPartitionMetadataFileName)));
    }
  }
  return targets;
}

void Log::mark_flushed(const FlushMark& mark) {
  if (mark.truncations != truncations_) return;
  recovery_point_ = std::max(recovery_point_, std::min(mark.end_offset, log_end_offset_));
  closed_durable_ = std::max(closed_durable_, mark.closed_end_offset);
  if (mark.entries_version > entries_synced_) {
    entries_synced_ = mark.entries_version;
    folder_unsynced_ = false;
  }
  epochs_written_ = std::max(epochs_written_, mark.epochs_version);
}

runtime::IoResult<void> Log::write_snapshot(std::int64_t offset) {
  const std::string path = segment_file_path(home_.folder, offset, SegmentFile::snapshot);
  ASSIGN_OR_RETURN(const std::shared_ptr<runtime::File> file,
                   home_.context.files.open(path, runtime::OpenMode::create));
  TRY(file->truncate(0));
  TRY(file->write_at(0, std::span<const std::uint8_t>(encode_producer_snapshot(producers_))));
  last_snapshot_offset_ = offset;
  ++entries_version_;
  return {};
}

// A restart would take it for the end of the log.
runtime::IoResult<void> Log::remove_half_made_segment() {
  if (half_made_segment_ < 0) return {};
  TRY(home_.context.files.remove(segment_file_path(home_.folder, half_made_segment_, SegmentFile::log)));
  half_made_segment_ = -1;
  ++entries_version_;
  return {};
}

runtime::IoResult<bool> Log::roll(std::int64_t now_ms) {
  if (active().empty()) return false;
  // Each step may be made again, so that a roll that fails for want of space succeeds later.
  TRY(active().finish_indexes());
  if (log_end_offset_ > last_snapshot_offset_) TRY(write_snapshot(log_end_offset_));
  TRY(remove_half_made_segment());
  auto segment = std::make_unique<Segment>(home_, log_end_offset_, now_ms);
  if (auto created = segment->create_file(); !created) {
    half_made_segment_ = log_end_offset_;
    return std::unexpected(std::move(created).error());
  }
  ++entries_version_;
  segments_.push_back(std::move(segment));
  recent_.reset(log_end_offset_);
  return true;
}

runtime::IoResult<void> Log::release_memory() {
  TRY(active().write_indexes());
  recent_.reset(active().base_offset());
  for (const auto& segment : segments_) segment->close();
  return {};
}

runtime::IoResult<void> Log::close(const CloseOptions& options) {
  TRY(active().discard_unnoted());
  TRY(remove_half_made_segment());
  TRY(active().finish_indexes());
  if (log_end_offset_ > last_snapshot_offset_) TRY(write_snapshot(log_end_offset_));
  runtime::FileSystem& files = home_.context.files;
  if (epochs_written_ != leader_epochs_.version()) {
    TRY(files.replace_file(in_directory(home_.folder, kLeaderEpochsFileName), leader_epochs_.text(), options.sync));
    epochs_written_ = leader_epochs_.version();
  }
  if (options.sync) {
    ASSIGN_OR_RETURN(const std::vector<runtime::DirectoryEntry> entries, files.list(home_.folder));
    for (const runtime::DirectoryEntry& entry : entries) {
      if (entry.is_directory || !parse_segment_file_name(entry.name)) continue;
      ASSIGN_OR_RETURN(const auto file,
                       files.open(in_directory(home_.folder, entry.name), runtime::OpenMode::read_write));
      TRY(file->sync());
    }
    TRY(files.sync_directory(home_.folder));
    TRY(files.sync_directory(home_.folder.substr(0, home_.folder.rfind('/'))));
  }
  for (const auto& segment : segments_) segment->close();
  return {};
}

runtime::IoResult<std::string> Log::remove(const base::Uuid& id) {
  for (const auto& segment : segments_) segment->close();
  const std::string parent = home_.folder.substr(0, home_.folder.rfind('/'));
  std::string renamed = in_directory(parent, deleted_folder_name(partition_, id));
  TRY(home_.context.files.rename(home_.folder, renamed));
  home_.folder = renamed;
  return renamed;
}

}  // namespace thalweg::storage
