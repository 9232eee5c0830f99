#include "storage/log_recovery.h"

#include <algorithm>
#include <cerrno>
#include <unordered_map>
#include <vector>

#include "base/log.h"
#include "storage/checkpoints.h"
#include "storage/producer_append.h"
#include "storage/producer_snapshot.h"

namespace thalweg::storage {

namespace {

// Batches that are in the log have been accepted once: they are taken as they are.
const AppendOptions kReplay{.origin = AppendOrigin::replication,
                            .leader_epoch = -1,
                            .now_ms = 0,
                            .transaction_version = 0,
                            .verification = std::nullopt};

}  // namespace

runtime::IoResult<void> LogRecovery::run() {
  runtime::FileSystem& files = log_.home_.context.files;
  ASSIGN_OR_RETURN(folder_, list_log_folder(files, log_.home_.folder));
  for (const auto& [base_offset, listing] : folder_.segments)
    log_.segments_.push_back(std::make_unique<Segment>(log_.home_, base_offset, options_.now_ms));

  ASSIGN_OR_RETURN(const bool epochs_known, read_leader_epochs());
  const bool clean = options_.clean_shutdown && epochs_known;
  std::size_t first_unsafe = log_.segments_.size();
  if (!clean && !log_.segments_.empty()) {
    const std::int64_t safe_to = epochs_known ? options_.recovery_point : 0;
    // A segment that ends at the recovery point has its records on disk, but its indexes may have been closed later.
    const auto after =
        std::ranges::lower_bound(log_.segments_, safe_to, {}, [](const auto& s) { return s->base_offset(); });
    first_unsafe = after == log_.segments_.begin() ? 0 : static_cast<std::size_t>(after - log_.segments_.begin()) - 1;
  }
  TRY(take_over_segments(first_unsafe));
  if (first_unsafe < log_.segments_.size()) {
    log_.closed_durable_ = log_.segments_[first_unsafe]->base_offset();
    TRY(recover_segments(first_unsafe));
  } else {
    TRY(find_log_end());
  }

  if (log_.log_end_offset_ < options_.log_start_offset && !log_.segments_.empty()) {
    LOG_WARN("storage", "{} ends at {}, before its log start offset {}: beginning anew there", log_.home_.folder,
             log_.log_end_offset_, options_.log_start_offset);
    TRY(delete_segments(0));
  }
  if (log_.segments_.empty()) {
    log_.segments_.push_back(std::make_unique<Segment>(log_.home_, options_.log_start_offset, options_.now_ms));
    TRY(log_.active().create_file());
    log_.log_end_offset_ = options_.log_start_offset;
    log_.producers_.clear();
    log_.leader_epochs_.clear();
    recovered_ = true;
    folder_.changed = true;
  }
  log_.log_start_offset_ = std::max(options_.log_start_offset, log_.segments_.front()->base_offset());
  log_.recovery_point_ =
      clean && !recovered_ ? log_.log_end_offset_ : std::min(options_.recovery_point, log_.log_end_offset_);
  if (clean && !recovered_) log_.closed_durable_ = log_.active().base_offset();
  log_.leader_epochs_.truncate_from_end(log_.log_end_offset_);
  log_.leader_epochs_.truncate_from_start(log_.log_start_offset_);
  if (!recovered_) TRY(load_producers(log_.log_end_offset_));
  TRY(restore_windows());
  log_.producers_.expire(options_.now_ms, log_.home_.config->producer_id_expiration_ms);
  TRY(remove_stray_snapshots());
  log_.recent_.reset(log_.active().base_offset());
  // What was cut off or deleted must not come back after the next crash.
  const RecoveryReport& report = log_.recovery_report_;
  if (report.bytes_truncated > 0 || report.segments_deleted > 0) {
    ASSIGN_OR_RETURN(const auto file, files.open(log_.active().path(SegmentFile::log), runtime::OpenMode::read_write));
    TRY(file->sync());
    TRY(files.sync_directory(log_.home_.folder));
  }
  // What a process that was killed has made may be there and not be durable.
  log_.folder_unsynced_ = folder_.created || !clean;
  if (folder_.changed || log_.folder_unsynced_) ++log_.entries_version_;
  return {};
}

// False where the file is broken, so that the epochs must be gathered from all batches.
runtime::IoResult<bool> LogRecovery::read_leader_epochs() {
  runtime::FileSystem& files = log_.home_.context.files;
  const std::string path = in_directory(log_.home_.folder, kLeaderEpochsFileName);
  ASSIGN_OR_RETURN(const bool exists, files.exists(path));
  if (!exists) return true;
  ASSIGN_OR_RETURN(const std::string text, files.read_file(path));
  const auto epochs = LeaderEpochs::parse(text);
  if (!epochs) {
    LOG_WARN("storage", "{} is broken: reading the whole log to rebuild it", path);
    return false;
  }
  log_.leader_epochs_ = *epochs;
  log_.epochs_written_ = log_.leader_epochs_.version();
  return true;
}

runtime::IoResult<void> LogRecovery::take_over_segments(std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Segment& segment = *log_.segments_[i];
    ASSIGN_OR_RETURN(const bool sound, SegmentRecovery(segment).adopt(folder_.segments.at(segment.base_offset())));
    if (!sound) TRY(rebuild_indexes(segment));
  }
  return {};
}

// For a segment whose records are durable: its batches must all be sound.
runtime::IoResult<void> LogRecovery::rebuild_indexes(Segment& segment) {
  const auto size = static_cast<std::uint32_t>(*folder_.segments.at(segment.base_offset()).log);
  LOG_WARN("storage", "{}: rebuilding the indexes of this segment", segment.path(SegmentFile::log));
  TRY(load_producers(segment.base_offset()));
  const auto visit = [&](const BatchPlace&, std::span<const std::uint8_t> batch) {
    return note_producer(segment, batch);
  };
  TRY(SegmentRecovery(segment).rebuild({.size = size,
                                        .next_offset = segment.base_offset(),
                                        .leader_epoch = -1,
                                        .now_ms = options_.now_ms,
                                        .may_cut = false},
                                       visit));
  log_.producers_.clear();
  ++log_.recovery_report_.indexes_rebuilt;
  folder_.changed = true;
  return {};
}

runtime::IoResult<void> LogRecovery::recover_segments(std::size_t first) {
  TRY(load_producers(log_.segments_[first]->base_offset()));
  std::int64_t next_offset = log_.segments_[first]->base_offset();
  std::int32_t leader_epoch = -1;
  for (std::size_t i = first; i < log_.segments_.size(); ++i) {
    Segment& segment = *log_.segments_[i];
    // What begins too early is a leftover of a log that has been cut since. What begins too late lost the records
    // before it in the crash; below the recovery point a compaction may have removed them.
    if (segment.base_offset() < next_offset ||
        (segment.base_offset() > next_offset && next_offset >= options_.recovery_point)) {
      LOG_WARN("storage", "{} does not follow offset {}: deleting it and what is behind",
               segment.path(SegmentFile::log), next_offset);
      TRY(delete_segments(i));
      break;
    }
    if (i > first) TRY(log_.write_snapshot(segment.base_offset()));
    folder_.snapshots.insert(segment.base_offset());
    const auto visit = [&](const BatchPlace& place, std::span<const std::uint8_t> batch) {
      if (place.leader_epoch > log_.leader_epochs_.latest().value_or(-1))
        log_.leader_epochs_.assign(place.leader_epoch, place.base_offset);
      return note_producer(segment, batch);
    };
    const auto size =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(*folder_.segments.at(segment.base_offset()).log, INT32_MAX));
    auto rebuilt = SegmentRecovery(segment).rebuild({.size = size,
                                                     .next_offset = segment.base_offset(),
                                                     .leader_epoch = leader_epoch,
                                                     .now_ms = options_.now_ms,
                                                     .may_cut = true},
                                                    visit);
    if (!rebuilt) return std::unexpected(std::move(rebuilt).error());
    next_offset = rebuilt->next_offset;
    leader_epoch = rebuilt->leader_epoch;
    RecoveryReport& report = log_.recovery_report_;
    ++report.segments_recovered;
    report.bytes_recovered += segment.size_bytes();
    report.bytes_truncated += static_cast<std::int64_t>(rebuilt->bytes_cut);
    if (rebuilt->bytes_cut > 0) {
      LOG_WARN("storage", "{} cut at offset {}, {} bytes removed: {}", segment.path(SegmentFile::log), next_offset,
               rebuilt->bytes_cut, rebuilt->why_cut);
      TRY(delete_segments(i + 1));
    }
  }
  if (next_offset < options_.recovery_point) {
    log_.recovery_report_.durable_end_lost = true;
    LOG_ERROR("storage", "{} ends at {}, but everything before {} had been synced: records are lost", log_.home_.folder,
              next_offset, options_.recovery_point);
  }
  log_.log_end_offset_ = next_offset;
  recovered_ = true;
  folder_.changed = true;
  return {};
}

runtime::IoResult<void> LogRecovery::delete_segments(std::size_t first) {
  runtime::FileSystem& files = log_.home_.context.files;
  for (std::size_t i = first; i < log_.segments_.size(); ++i) {
    for (const SegmentFile file : {SegmentFile::log, SegmentFile::offset_index, SegmentFile::time_index,
                                   SegmentFile::transaction_index, SegmentFile::snapshot})
      TRY(files.remove(log_.segments_[i]->path(file)));
    folder_.snapshots.erase(log_.segments_[i]->base_offset());
    ++log_.recovery_report_.segments_deleted;
    folder_.changed = true;
  }
  log_.segments_.resize(first);
  return {};
}

// After a clean shutdown.
runtime::IoResult<void> LogRecovery::find_log_end() {
  if (log_.segments_.empty()) {
    log_.log_end_offset_ = 0;
    return {};
  }
  // An empty last segment may be left from a roll that failed, and the one before it went on.
  if (log_.active().empty() && log_.segments_.size() > 1) {
    const std::size_t last = log_.segments_.size() - 1;
    ASSIGN_OR_RETURN(const auto before, SegmentRecovery(*log_.segments_[last - 1]).read_ends());
    if (!before || *before > log_.active().base_offset()) TRY(delete_segments(last));
  }
  ASSIGN_OR_RETURN(const std::optional<std::int64_t> end, SegmentRecovery(log_.active()).read_ends());
  if (end) {
    log_.log_end_offset_ = *end;
    return {};
  }
  LOG_WARN("storage", "{} does not end in order although it was closed in order: recovering the last segment",
           log_.home_.folder);
  return recover_segments(log_.segments_.size() - 1);
}

runtime::IoResult<void> LogRecovery::recut(Segment& segment, std::uint32_t size) {
  TRY(load_producers(segment.base_offset()));
  const auto visit = [&](const BatchPlace&, std::span<const std::uint8_t> batch) {
    return note_producer(segment, batch);
  };
  auto rebuilt = SegmentRecovery(segment).rebuild({.size = size,
                                                   .next_offset = segment.base_offset(),
                                                   .leader_epoch = -1,
                                                   .now_ms = options_.now_ms,
                                                   .may_cut = true},
                                                  visit);
  if (!rebuilt) return std::unexpected(std::move(rebuilt).error());
  log_.log_end_offset_ = rebuilt->next_offset;
  TRY(remove_stray_snapshots());
  ++log_.entries_version_;
  return {};
}

runtime::IoResult<void> LogRecovery::list_snapshots() {
  ASSIGN_OR_RETURN(const std::vector<runtime::DirectoryEntry> listed, log_.home_.context.files.list(log_.home_.folder));
  folder_.snapshots.clear();
  for (const runtime::DirectoryEntry& entry : listed) {
    const auto name = parse_segment_file_name(entry.name);
    if (name && name->file == SegmentFile::snapshot && name->suffix.empty()) folder_.snapshots.insert(name->offset);
  }
  return {};
}

runtime::IoResult<void> LogRecovery::load_producers(std::int64_t offset) {
  runtime::FileSystem& files = log_.home_.context.files;
  log_.producers_.clear();
  std::int64_t from = log_.segments_.empty() ? offset : log_.segments_.front()->base_offset();
  log_.last_snapshot_offset_ = -1;
  bool found = false;
  while (!found) {
    const auto after = folder_.snapshots.upper_bound(offset);
    if (after == folder_.snapshots.begin()) break;
    const std::int64_t at = *std::prev(after);
    const std::string path = segment_file_path(log_.home_.folder, at, SegmentFile::snapshot);
    ASSIGN_OR_RETURN(const std::string contents, files.read_file(path));
    const auto entries =
        decode_producer_snapshot(std::span(reinterpret_cast<const std::uint8_t*>(contents.data()), contents.size()));
    if (entries) {
      for (const ProducerEntry& entry : *entries) log_.producers_.load(entry);
      log_.last_snapshot_offset_ = at;
      from = std::max(from, at);
      found = true;
    } else {
      LOG_WARN("storage", "{} is broken: going back to the one before", path);
      TRY(files.remove(path));
      folder_.snapshots.erase(at);
      folder_.changed = true;
    }
  }
  // As Kafka does: a log that was closed in order and has no snapshot had no producers.
  if (!found && options_.clean_shutdown) return {};
  if (from >= offset) return {};
  for (std::size_t i = 0; i < log_.segments_.size() && log_.segments_[i]->base_offset() < offset; ++i) {
    const bool is_last = i + 1 == log_.segments_.size();
    if (is_last || log_.segments_[i + 1]->base_offset() > from) TRY(replay(*log_.segments_[i], from, offset));
  }
  return {};
}

// A snapshot, in Kafka's format, knows the last batch of a producer alone. Clients have up to five in flight when a
// broker stops and send them all again, so the ones before are read from the end of the log, which may begin in an
// earlier segment than the last.
runtime::IoResult<void> LogRecovery::restore_windows() {
  constexpr std::uint64_t kTailBytes = 256 * 1024;
  constexpr std::uint64_t kIndexEntries = 64;  // with the default interval at least as much
  if (log_.producers_.size() == 0) return {};
  std::size_t first = log_.segments_.size();
  for (std::uint64_t bytes = 0; first > 0 && bytes < kTailBytes;) bytes += log_.segments_[--first]->size_bytes();
  std::unordered_map<std::int64_t, ProducerEntry> seen;
  const auto note = [&](const BatchPlace& place, std::span<const std::uint8_t> bytes) {
    const protocol::BatchView batch(bytes.data());
    if (!batch.has_producer_id() || batch.is_control() || batch.base_sequence() < 0) return runtime::IoResult<void>{};
    ProducerEntry& entry = seen[batch.producer_id()];
    if (entry.epoch != batch.producer_epoch()) entry.set_epoch(batch.producer_epoch());
    entry.add_batch({.last_offset = place.last_offset,
                     .timestamp = place.max_timestamp,
                     .last_sequence = batch.last_sequence(),
                     .offset_delta = batch.last_offset_delta()});
    return runtime::IoResult<void>{};
  };
  for (std::size_t i = first; i < log_.segments_.size(); ++i) {
    SegmentRecovery segment(*log_.segments_[i]);
    std::uint32_t from = 0;
    if (log_.segments_[i]->size_bytes() > kTailBytes) {
      ASSIGN_OR_RETURN(from, segment.position_near_end(kIndexEntries));
    }
    const auto walked = segment.walk_headers(from, note);
    // Damage there is for those who read it to meet; the log opens without this.
    if (!walked && walked.error().error_number == EBADMSG) return {};
    TRY(walked);
  }
  for (const auto& [id, entry] : seen) log_.producers_.restore_window(id, entry);
  return {};
}

runtime::IoResult<void> LogRecovery::replay(Segment& segment, std::int64_t from_offset, std::int64_t end_offset) {
  return SegmentRecovery(segment).walk_headers(0, [&](const BatchPlace& place, std::span<const std::uint8_t> batch) {
    if (place.last_offset < from_offset || place.base_offset >= end_offset) return runtime::IoResult<void>{};
    ProducerAppend producers(log_.producers_, kReplay);
    static_cast<void>(producers.add(batch).has_value());
    producers.commit(log_.producers_);
    return runtime::IoResult<void>{};
  });
}

// The same with entries in the transaction index of the segment that holds the batch.
runtime::IoResult<void> LogRecovery::note_producer(Segment& segment, std::span<const std::uint8_t> batch) {
  ProducerAppend producers(log_.producers_, kReplay);
  static_cast<void>(producers.add(batch).has_value());
  for (const AbortedTransaction& aborted : producers.aborted()) TRY(segment.append_aborted(aborted));
  producers.commit(log_.producers_);
  return {};
}

runtime::IoResult<void> LogRecovery::remove_stray_snapshots() {
  std::set<std::int64_t> keep;
  for (const auto& segment : log_.segments_) keep.insert(segment->base_offset());
  const auto behind = folder_.snapshots.upper_bound(log_.log_end_offset_);
  if (behind != folder_.snapshots.begin()) keep.insert(*std::prev(behind));
  for (const std::int64_t at : folder_.snapshots) {
    if (at <= log_.log_end_offset_ && keep.contains(at)) continue;
    TRY(log_.home_.context.files.remove(segment_file_path(log_.home_.folder, at, SegmentFile::snapshot)));
    folder_.changed = true;
  }
  return {};
}

}  // namespace thalweg::storage
