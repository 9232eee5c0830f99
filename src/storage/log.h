// Log: one partition on a local disk, as a row of segments in Kafka's file formats.
//
//   FOLDER/00000000000000000000.log, .index, .timeindex, .txnindex   a segment, named by its base offset
//   FOLDER/00000000000000000042.snapshot                             producer state up to offset 42
//   FOLDER/leader-epoch-checkpoint, partition.metadata
//
// A log belongs to one core and is used by that core's thread alone. All calls are synchronous. Only open() and
// remove() may be made on another thread (a pool), before the log is handed to its core. Waiting for a disk is kept out
// of the other calls like this:
//   - append() writes to the page cache; flush_targets() names what to sync, a FlushScheduler syncs it on a pool,
//     mark_flushed() notes it;
//   - lookups take Blocking::never: where bytes are not in memory they answer "cold" with a FileRange, which the owner
//     warms on a pool before it asks again (and after a few rounds asks with Blocking::allowed);
//   - whatever deletes only renames; the owner removes the files later, on a pool.
//
// The high watermark and the last stable offset belong to the partition; the log only says where the first open
// transaction begins.
//
// Memory of an idle log with one segment: about 650 bytes (312 the log, 232 the segment, the rest its names), and
// nothing else: no open file, no mapping, no buffer. Index entries of the active segment wait in memory for their file,
// at most 512 of them (10 KiB); recent batch positions take 8 bytes each, at most 64 of them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/uuid.h"
#include "storage/append.h"
#include "storage/cleaned_segment.h"
#include "storage/flush.h"
#include "storage/leader_epochs.h"
#include "storage/log_config.h"
#include "storage/log_context.h"
#include "storage/producer_state.h"
#include "storage/read_fault.h"
#include "storage/recent_batches.h"
#include "storage/segment.h"
#include "storage/topic_partition.h"

namespace thalweg::storage {

struct OpenOptions {
  // The log directory was closed in order (.kafka_cleanshutdown), so nothing needs to be recovered.
  bool clean_shutdown = false;
  // From recovery-point-offset-checkpoint: everything before it is durable. 0 where there is no line.
  std::int64_t recovery_point = 0;
  // From log-start-offset-checkpoint. 0 where there is no line.
  std::int64_t log_start_offset = 0;
  // Wall clock; producers that have been silent for too long are not loaded, and new segments are dated by it.
  std::int64_t now_ms = 0;
};

// What open() had to do, for the log and for metrics.
struct RecoveryReport {
  std::int32_t segments_recovered = 0;
  std::int64_t bytes_recovered = 0;
  std::int64_t bytes_truncated = 0;
  std::int32_t segments_deleted = 0;  // behind a corrupt one
  std::int32_t indexes_rebuilt = 0;
  bool durable_end_lost = false;  // the log ends before the recovery point: the disk has lost synced records
};

struct ReadOptions {
  std::int64_t max_bytes = 1 << 20;
  // Records at and after this offset are not read: the high watermark, the last stable offset or the log end offset.
  std::int64_t upper_bound_offset = INT64_MAX;
  // The first batch is given whole even where it is larger than max_bytes.
  bool at_least_one = false;
  Blocking blocking = Blocking::never;
};

// One contiguous range, all of one segment, as Kafka reads: a fetch that ends at a segment's end gets the rest next
// time. It begins with the batch that holds the offset, and ends at max_bytes, which may cut the last batch, or at the
// start of the batch that holds the upper bound.
struct ReadResult {
  enum class Status : std::uint8_t { ok, offset_out_of_range, cold, failed };
  Status status = Status::ok;
  FileRange range;                       // ok: size 0 where there is nothing to read; cold: what to warm
  std::int64_t log_start_offset = 0;     // always set
  std::int64_t log_end_offset = 0;       // always set
  std::int64_t first_batch_offset = -1;  // base offset of the first batch of the range
  std::uint32_t first_batch_size = 0;    // bytes, also where the range is shorter
  bool recent = false;                   // written a moment ago, so surely in memory: seems_cached() need not be asked
  std::string detail;                    // failed: what, for the log
  bool corrupt = false;                  // failed: the bytes make no sense (else: the disk)
};

// An offset found by its timestamp.
struct TimestampedOffset {
  std::int64_t timestamp = -1;
  std::int64_t offset = -1;
  std::int32_t leader_epoch = -1;
};

// Looks for a record in one batch, whose bytes are whole and may be compressed: the first one at or after
// `first_offset` whose timestamp is at least `timestamp`. The caller injects it, since the log does not read records.
// Nothing where the batch has none such.
using RecordFinder = std::function<std::optional<TimestampedOffset>(std::span<const std::uint8_t> batch,
                                                                    std::int64_t timestamp, std::int64_t first_offset)>;

// What deleting segments has left behind.
struct DeletedSegments {
  std::vector<std::string> files;  // renamed to *.deleted; to be removed after file.delete.delay.ms
  std::int32_t segments = 0;
  std::int64_t bytes = 0;
  bool rolled = false;  // the active segment was closed because it is due, too; it goes in a later pass, once flushed
};

class Log {
 public:
  // Opens the partition in `folder` (LOG_DIRECTORY/TOPIC-PARTITION), which is made where it is missing. Removes what an
  // interrupted deletion or compaction has left, and recovers what an unclean shutdown may have torn: every batch from
  // the segment of the recovery point on is checked, the log is cut before the first bad one, segments behind it are
  // removed, indexes, leader epochs and producer state are rebuilt. After a clean shutdown it reads a few small files
  // and the tail of the last segment. Keeps no file open, and does not touch the caches of `context`, so it may run on
  // a pool.
  static runtime::IoResult<std::unique_ptr<Log>> open(LogContext& context, std::string folder, TopicPartition partition,
                                                      std::shared_ptr<const LogConfig> config,
                                                      const OpenOptions& options);
  ~Log();
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;

  [[nodiscard]] const TopicPartition& partition() const { return partition_; }
  [[nodiscard]] const std::string& folder() const { return home_.folder; }
  [[nodiscard]] const LogConfig& config() const { return *home_.config; }
  // Takes effect with the next append or retention pass.
  void set_config(std::shared_ptr<const LogConfig> config) { home_.config = std::move(config); }
  [[nodiscard]] const RecoveryReport& recovery_report() const { return recovery_report_; }

  [[nodiscard]] std::int64_t log_start_offset() const { return log_start_offset_; }
  // The offset that the next record gets.
  [[nodiscard]] std::int64_t log_end_offset() const { return log_end_offset_; }
  // Everything before it is on stable storage. What the owner writes into recovery-point-offset-checkpoint.
  [[nodiscard]] std::int64_t recovery_point() const { return recovery_point_; }
  [[nodiscard]] std::int64_t size_bytes() const;
  [[nodiscard]] std::size_t segment_count() const { return segments_.size(); }
  // Base offset of the segment that is written to.
  [[nodiscard]] std::int64_t active_base_offset() const { return active().base_offset(); }
  [[nodiscard]] std::uint32_t active_size_bytes() const { return active().size_bytes(); }

  // Appends the batches, one behind the other, in one write. All or nothing: a refused or failed append leaves no
  // trace. See AppendResult for the errors: out_of_order_sequence_number, invalid_producer_epoch, invalid_txn_state,
  // transaction_coordinator_fenced, record_list_too_large (more than a segment holds), kafka_storage_error.
  // Duplicates are found as Kafka finds them: the first batch that repeats one of its producer's last five makes the
  // whole append a duplicate.
  AppendResult append(std::span<const MutableBatch> batches, const AppendOptions& options);

  // Finds what a fetch at `offset` gets. Offsets in a gap give the next batch. An offset at the log end or at the upper
  // bound gives an empty range; one before the log start or after the log end is out of range.
  ReadResult read(std::int64_t offset, const ReadOptions& options);
  // Copies a range into memory, for small ranges and for those that cannot be sent as files.
  static ReadOutcome<base::Bytes> read_bytes(const FileRange& range, Blocking blocking);
  // Bytes between two offsets, roughly: exact within the active segment's recent batches, else by whole segments.
  // For min.bytes of a fetch.
  [[nodiscard]] std::int64_t bytes_between(std::int64_t from_offset, std::int64_t to_offset) const;

  // The first record whose timestamp is at least `timestamp`, at or after the log start offset; nothing where there is
  // none.
  ReadOutcome<std::optional<TimestampedOffset>> offset_for_time(std::int64_t timestamp, const RecordFinder& find,
                                                                Blocking blocking);
  // The record with the largest timestamp (the first such one); nothing where the log is empty.
  ReadOutcome<std::optional<TimestampedOffset>> max_timestamp(const RecordFinder& find, Blocking blocking);

  // Aborted transactions that overlap [offset, upper_bound_offset), for a read_committed fetch of that range. The
  // second form finds the upper bound itself, from the range that a read gave.
  ReadOutcome<std::vector<AbortedTransaction>> aborted_transactions(std::int64_t offset,
                                                                    std::int64_t upper_bound_offset, Blocking blocking);
  // The offset behind a range that read() gave, or a little more: an upper bound for aborted_transactions().
  ReadOutcome<std::int64_t> upper_bound_of(const ReadResult& result, Blocking blocking);

  // Producer state: epochs, sequences, open transactions.
  [[nodiscard]] const ProducerState& producers() const { return producers_; }
  // The first offset that is not decided: of an open transaction, or of one whose marker is at or above the high
  // watermark.
  [[nodiscard]] std::optional<std::int64_t> first_unstable_offset() const { return producers_.first_unstable_offset(); }
  // The last stable offset, where the high watermark is this.
  [[nodiscard]] std::int64_t last_stable_offset(std::int64_t high_watermark) const;
  // Forgets ended transactions whose markers are below the high watermark. Call whenever it moves.
  void on_high_watermark(std::int64_t high_watermark) { producers_.on_high_watermark(high_watermark); }
  // Forgets producers that have been silent for producer.id.expiration.ms.
  void expire_producers(std::int64_t now_ms);

  [[nodiscard]] const LeaderEpochs& leader_epochs() const { return leader_epochs_; }
  // What OffsetForLeaderEpoch answers: the largest epoch not above the one asked for, and where it ends.
  [[nodiscard]] EpochEndOffset offset_for_leader_epoch(std::int32_t epoch) const;
  // Notes a new leader epoch that begins at the log end. append() does so by itself.
  void assign_leader_epoch(std::int32_t epoch);

  // Raises the log start offset (DeleteRecords, retention of diskless data); never lowers it. True where it moved; the
  // owner then writes log-start-offset-checkpoint. Segments below go with the next retention pass.
  bool raise_log_start_offset(std::int64_t offset);

  // What must be synced so that everything up to the log end is durable; nothing where all is. Besides the records
  // these are the indexes and the producer snapshot of segments that have been rolled, so that a restart need not read
  // them.
  runtime::IoResult<std::optional<FlushTargets>> flush_targets();
  // Notes that what flush_targets() named has been synced: raises the recovery point to the mark's end offset.
  void mark_flushed(const FlushMark& mark);

  // Deletes segments from the oldest on, as long as `due` says so and the segment ends at or below `highest_offset`
  // (the high watermark). At least the active segment stays, and so do segments whose end is not durable yet
  // (flush_targets()), and what is due beyond `most_segments`. Renames only; the log start offset follows.
  struct DeleteLimits {
    std::int64_t highest_offset = 0;
    std::int64_t now_ms = 0;
    std::size_t most_segments = SIZE_MAX;
  };
  runtime::IoResult<DeletedSegments> delete_old_segments(const DeleteLimits& limits,
                                                         const std::function<bool(const Segment&)>& due);
  // The same with what the configuration asks for: retention.ms, retention.bytes, and segments below the log start.
  runtime::IoResult<DeletedSegments> apply_retention(const DeleteLimits& limits);
  // The time (wall clock) from which on apply_retention() finds something to delete, as far as the segments and the
  // configuration are as they are now; 0: now; nothing: never. What an append adds can only bring it forward. Whether
  // the high watermark and the flushes have come so far is not asked.
  [[nodiscard]] std::optional<std::int64_t> retention_due_ms() const;
  // The segments with their files as far as they are written, oldest first: for whoever reads them beside the log.
  struct Extent {
    std::int64_t base_offset = 0;
    std::int64_t end_offset = 0;
    std::uint32_t size_bytes = 0;
    std::uint32_t aborted_count = 0;  // entries of the transaction index
    bool closed = false;              // a newer one is written to, and its indexes are whole in their files
    bool durable = false;             // closed and on stable storage with its indexes, so that nothing of it changes
    std::string path;                 // of the `.log` file
  };
  [[nodiscard]] std::vector<Extent> extents() const;
  // What a compaction is to know of the segments: those that are closed and durable, oldest first. See cleaner.h.
  [[nodiscard]] std::vector<CleanableSegment> cleanable_segments() const;
  // Puts a compacted segment, whose files end in `.swap` and are on stable storage, in the place of those that it was
  // made of, which must not have changed since. Renames only; the old files are to be removed later.
  //   errors   of a rename: a restart finishes what was begun
  runtime::IoResult<DeletedSegments> replace_segments(const CleanedSegment& cleaned);
  // Begins a new segment where the active one is not empty. Takes a producer snapshot, as Kafka does.
  runtime::IoResult<bool> roll(std::int64_t now_ms);

  // Removes everything at and after `offset`, which is cut down to a batch boundary, and syncs: this waits for the
  // disk. For logs that follow another.
  runtime::IoResult<void> truncate_to(std::int64_t offset, std::int64_t now_ms);
  // Removes everything and begins anew at `offset`.
  runtime::IoResult<void> truncate_fully(std::int64_t offset, std::int64_t now_ms);

  // Gives memory and descriptors of an idle log back: writes waiting index entries, drops recent batch positions.
  runtime::IoResult<void> release_memory();
  // Writes indexes, the producer snapshot and leader epochs; the log is not used afterwards. With `sync` everything is
  // synced file by file; without, the owner syncs the file system once for all its logs (sync_filesystem).
  struct CloseOptions {
    bool sync = false;
  };
  runtime::IoResult<void> close(const CloseOptions& options);
  // Closes the files and renames the folder to TOPIC-PARTITION.ID-delete. Returns its new path, to be removed later.
  runtime::IoResult<std::string> remove(const base::Uuid& id);

 private:
  friend class LogRecovery;
  Log(LogContext& context, std::string folder, TopicPartition partition, std::shared_ptr<const LogConfig> config);

  [[nodiscard]] Segment& active() { return *segments_.back(); }
  [[nodiscard]] const Segment& active() const { return *segments_.back(); }

  // A segment's index in segments_: the last one that begins at or before the offset; 0 where none does.
  [[nodiscard]] std::size_t segment_of(std::int64_t offset) const;
  // The offset behind the segment.
  [[nodiscard]] std::int64_t end_offset_of(std::size_t segment) const;
  protocol::Result<void> check_batches(std::span<const MutableBatch> batches, const AppendOptions& options) const;
  void assign_offsets(std::span<const MutableBatch> batches, const AppendOptions& options);
  runtime::IoResult<void> write_snapshot(std::int64_t offset);
  runtime::IoResult<void> remove_half_made_segment();
  ReadOutcome<std::optional<RecentBatches::Place>> find_batch(std::size_t segment, std::int64_t offset,
                                                              Blocking blocking, bool* recent);
  ReadOutcome<void> find_range(std::int64_t offset, std::int64_t upper, const ReadOptions& options, ReadResult& result);
  ReadOutcome<std::optional<TimestampedOffset>> search_segment(Segment& segment, std::int64_t timestamp,
                                                               const RecordFinder& find, Blocking blocking);
  enum class Snapshot : std::uint8_t { goes, stays };
  runtime::IoResult<void> retire_segment(Segment& segment, DeletedSegments& deleted, Snapshot snapshot);
  runtime::IoResult<void> remove_segments(std::size_t first);
  runtime::IoResult<void> begin_at(std::int64_t offset, std::int64_t now_ms);

  SegmentHome home_;
  TopicPartition partition_;
  std::vector<std::unique_ptr<Segment>> segments_;  // by base offset, never empty once open
  std::int64_t log_start_offset_ = 0;
  std::int64_t log_end_offset_ = 0;
  std::int64_t recovery_point_ = 0;
  std::int64_t closed_durable_ = 0;  // segments that end at or before it are durable with their indexes
  std::int64_t last_snapshot_offset_ = -1;
  std::int64_t half_made_segment_ = -1;  // a roll failed there and may have left an empty `.log` file
  RecentBatches recent_;
  ProducerState producers_;
  LeaderEpochs leader_epochs_;
  std::uint32_t epochs_written_ = 0;   // version of the leader epochs that is in the file
  std::uint32_t entries_version_ = 0;  // counts changes of the folder's entries
  std::uint32_t entries_synced_ = 0;
  std::uint32_t truncations_ = 0;
  bool folder_unsynced_ = false;  // the entry of the folder itself may not be durable
  RecoveryReport recovery_report_;
};

}  // namespace thalweg::storage
