// How a Log gets smaller: retention from the front, truncation from the end.

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "storage/log.h"
#include "storage/log_recovery.h"

namespace thalweg::storage {

namespace {

constexpr SegmentFile kFilesOfSegment[] = {SegmentFile::log, SegmentFile::offset_index, SegmentFile::time_index,
                                           SegmentFile::transaction_index, SegmentFile::snapshot};

}  // namespace

// Renames the files of a segment; they are removed later, since a response may be reading them.
runtime::IoResult<void> Log::retire_segment(Segment& segment, DeletedSegments& deleted, Snapshot snapshot) {
  for (const SegmentFile file : kFilesOfSegment) {
    if (file == SegmentFile::snapshot && snapshot == Snapshot::stays) continue;
    const std::string path = segment.path(file);
    std::string renamed = path + std::string(kDeletedSuffix);
    const auto done = home_.context.files.rename(path, renamed);
    // Not every segment has all of them, and an earlier try may have come half-way.
    if (!done && done.error().error_number == ENOENT) continue;
    TRY(done);
    deleted.files.push_back(std::move(renamed));
  }
  segment.close();
  return {};
}

runtime::IoResult<DeletedSegments> Log::delete_old_segments(const DeleteLimits& limits,
                                                            const std::function<bool(const Segment&)>& due) {
  DeletedSegments deleted;
  std::size_t count = 0;
  const std::size_t most = std::min(limits.most_segments, segments_.size());
  while (count < most && end_offset_of(count) <= limits.highest_offset && due(*segments_[count])) ++count;
  if (count == segments_.size()) {
    --count;
    ASSIGN_OR_RETURN(deleted.rolled, roll(limits.now_ms));
  }
  while (static_cast<std::size_t>(deleted.segments) < count) {
    // The next segment's name keeps the log's end, and the snapshot there the producers; they must be on disk before.
    if (end_offset_of(0) > closed_durable_) break;
    const std::uint32_t size = segments_[0]->size_bytes();
    TRY(retire_segment(*segments_[0], deleted, Snapshot::goes));
    segments_.erase(segments_.begin());
    ++entries_version_;
    ++deleted.segments;
    deleted.bytes += size;
    raise_log_start_offset(segments_[0]->base_offset());
  }
  return deleted;
}

runtime::IoResult<DeletedSegments> Log::apply_retention(const DeleteLimits& limits) {
  const LogConfig& config = this->config();
  // Each rule sees what the one before it has left. Compacted-only topics lose just what lies before the log start.
  std::int64_t excess =
      config.cleanup_delete && config.retention_bytes >= 0 ? size_bytes() - config.retention_bytes : 0;
  return delete_old_segments(limits, [&, i = std::size_t{0}](const Segment& segment) mutable {
    const std::int64_t end = end_offset_of(i++);
    const bool is_active = &segment == segments_.back().get();
    if (is_active && segment.empty()) return false;
    if (!is_active && end <= log_start_offset_) {
      excess -= segment.size_bytes();
      return true;
    }
    if (!config.cleanup_delete) return false;
    if (excess - segment.size_bytes() >= 0 && excess > 0) {
      excess -= segment.size_bytes();
      return true;
    }
    return config.retention_ms >= 0 && limits.now_ms - segment.largest_timestamp() > config.retention_ms;
  });
}

std::optional<std::int64_t> Log::retention_due_ms() const {
  const LogConfig& config = this->config();
  const Segment& oldest = *segments_.front();
  if (segments_.size() > 1 && end_offset_of(0) <= log_start_offset_) return 0;
  if (!config.cleanup_delete || oldest.empty()) return std::nullopt;
  if (config.retention_bytes >= 0) {
    const std::int64_t excess = size_bytes() - config.retention_bytes;
    if (excess > 0 && excess >= oldest.size_bytes()) return 0;
  }
  if (config.retention_ms < 0) return std::nullopt;
  const std::int64_t largest = oldest.largest_timestamp();
  if (largest >= INT64_MAX - config.retention_ms) return std::nullopt;
  return largest + config.retention_ms + 1;
}

// Removes segments at the end, with their snapshots.
runtime::IoResult<void> Log::remove_segments(std::size_t first) {
  while (segments_.size() > first) {
    for (const SegmentFile file : kFilesOfSegment) TRY(home_.context.files.remove(segments_.back()->path(file)));
    segments_.pop_back();
    ++entries_version_;
  }
  return {};
}

// Begins an empty segment at the offset, in place of an empty active one.
runtime::IoResult<void> Log::begin_at(std::int64_t offset, std::int64_t now_ms) {
  TRY(remove_half_made_segment());
  auto segment = std::make_unique<Segment>(home_, offset, now_ms);
  TRY(segment->create_file());
  ++entries_version_;
  if (!segments_.empty() && segments_.back()->empty()) {
    if (segments_.back()->base_offset() == offset) {
      segments_.pop_back();
    } else {
      TRY(remove_segments(segments_.size() - 1));
    }
  }
  segments_.push_back(std::move(segment));
  recent_.reset(offset);
  return {};
}

runtime::IoResult<void> Log::truncate_to(std::int64_t offset, std::int64_t now_ms) {
  if (offset >= log_end_offset_) return {};
  if (offset < segments_.front()->base_offset()) return truncate_fully(offset, now_ms);
  ++truncations_;
  TRY(remove_half_made_segment());
  const std::size_t last = segment_of(std::max(offset - 1, segments_.front()->base_offset()));
  TRY(remove_segments(last + 1));
  Segment& segment = active();
  TRY(segment.write_indexes());
  auto bound = segment.find_batch(offset, Blocking::allowed);
  if (!bound) return std::unexpected(as_io_error(std::move(bound).error()));
  const std::uint32_t size = *bound ? (*bound)->position : segment.size_bytes();
  segment.close();
  const OpenOptions options{.clean_shutdown = false, .recovery_point = 0, .log_start_offset = 0, .now_ms = now_ms};
  LogRecovery recovery(*this, options);
  TRY(recovery.list_snapshots());
  TRY(recovery.recut(segment, size));
  // What was cut off must not come back after a crash.
  ASSIGN_OR_RETURN(const auto file, segment.file());
  TRY(file->sync());
  TRY(home_.context.files.sync_directory(home_.folder));
  leader_epochs_.truncate_from_end(log_end_offset_);
  recovery_point_ = std::min(recovery_point_, log_end_offset_);
  closed_durable_ = std::min(closed_durable_, segment.base_offset());
  log_start_offset_ = std::min(log_start_offset_, log_end_offset_);
  recent_.reset(segment.base_offset());
  return {};
}

runtime::IoResult<void> Log::truncate_fully(std::int64_t offset, std::int64_t now_ms) {
  ++truncations_;
  TRY(remove_half_made_segment());
  // The new segment first, so that the folder is never without one.
  auto segment = std::make_unique<Segment>(home_, offset, now_ms);
  for (const auto& old : segments_)
    if (old->base_offset() != offset)
      for (const SegmentFile file : kFilesOfSegment) TRY(home_.context.files.remove(old->path(file)));
  TRY(segment->create_file());
  ++entries_version_;
  segments_.clear();
  segments_.push_back(std::move(segment));
  producers_.clear();
  leader_epochs_.clear();
  recent_.reset(offset);
  log_start_offset_ = log_end_offset_ = offset;
  recovery_point_ = std::min(recovery_point_, offset);
  closed_durable_ = std::min(closed_durable_, offset);
  last_snapshot_offset_ = -1;
  const OpenOptions options{};
  LogRecovery recovery(*this, options);
  TRY(recovery.list_snapshots());
  TRY(recovery.remove_stray_snapshots());
  ASSIGN_OR_RETURN(const auto file, active().file());
  TRY(file->sync());
  return home_.context.files.sync_directory(home_.folder);
}

}  // namespace thalweg::storage
