// Segment: one `.log` file of a partition with its indexes. Its first batch begins at the base offset that names it;
// only the last segment of a log is written to. At most 2 GiB, as positions in the index are 32 bits wide.
//
// A segment keeps no file open by itself: the HandleCache does.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "storage/append.h"
#include "storage/batch_scanner.h"
#include "storage/handle_cache.h"
#include "storage/log_config.h"
#include "storage/log_context.h"
#include "storage/offset_index.h"
#include "storage/segment_files.h"
#include "storage/time_index.h"
#include "storage/txn_index.h"

namespace thalweg::storage {

// What the segments of a log have in common.
struct SegmentHome {
  LogContext& context;
  std::string folder;
  std::shared_ptr<const LogConfig> config;
};

class Segment {
 public:
  // A segment that is empty as yet; no file is made. `home` outlives it. `created_ms`: wall clock.
  Segment(const SegmentHome& home, std::int64_t base_offset, std::int64_t created_ms);
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;
  ~Segment();

  [[nodiscard]] std::int64_t base_offset() const { return base_offset_; }
  [[nodiscard]] std::uint32_t size_bytes() const { return size_bytes_; }
  [[nodiscard]] bool empty() const { return size_bytes_ == 0; }
  // Of all its batches, and the last offset of the batch that has it; -1 where no batch has a timestamp.
  [[nodiscard]] std::int64_t max_timestamp() const { return max_timestamp_; }
  [[nodiscard]] std::int64_t offset_of_max_timestamp() const { return offset_of_max_timestamp_; }
  // What retention by time goes by: the largest timestamp, or else when the segment was last written to (as far as this
  // process knows: a restart counts).
  [[nodiscard]] std::int64_t largest_timestamp() const { return max_timestamp_ >= 0 ? max_timestamp_ : modified_ms_; }
  [[nodiscard]] std::string path(SegmentFile file) const {
    return segment_file_path(home_->folder, base_offset_, file);
  }
  [[nodiscard]] const OffsetIndex& offset_index() const { return offset_index_; }
  [[nodiscard]] const TimeIndex& time_index() const { return time_index_; }
  [[nodiscard]] std::uint32_t aborted_count() const { return aborted_count_; }
  // Of the larger of the two indexes.
  [[nodiscard]] std::uint32_t index_bytes() const;
  // The largest timestamp of the first batch; -1 where that is not known.
  [[nodiscard]] std::int64_t first_timestamp() const { return first_timestamp_; }
  // Wall clock. See largest_timestamp().
  [[nodiscard]] std::int64_t created_ms() const { return created_ms_; }
  [[nodiscard]] std::int64_t modified_ms() const { return modified_ms_; }
  void set_modified_ms(std::int64_t modified_ms) { modified_ms_ = modified_ms; }

  // The `.log` file, opened where it is not.
  runtime::IoResult<std::shared_ptr<runtime::File>> file();
  // Makes an empty `.log` file, and removes what an earlier segment of this name may have left.
  runtime::IoResult<void> create_file();

  // What is about to be appended, for should_roll().
  struct Incoming {
    std::uint64_t size_bytes = 0;
    std::int64_t last_offset = 0;
    std::int64_t max_timestamp = -1;
    std::int64_t now_ms = 0;
  };
  // Whether it has to go to a new segment: for segment.bytes, segment.ms (less jitter; by timestamps, from the first
  // batch's on, or else by the clock), a full index, or an offset too far from the base offset.
  [[nodiscard]] bool should_roll(const Incoming& incoming) const;

  // Writes the batches at the end, in one go. They count only once they are note()d; where that does not follow,
  // discard_unnoted() cuts them off.
  runtime::IoResult<void> write(std::span<const MutableBatch> batches);
  // Counts a batch whose bytes stand at the end: size, timestamps, index entries. Returns its position.
  std::uint32_t note(const protocol::BatchView& batch, std::int64_t now_ms);
  // Cuts the files to what counts, where they may be longer. Where even that fails, the next write() tries again first.
  runtime::IoResult<void> discard_unnoted();

  // Adds an entry to the `.txnindex` file; counts at once.
  runtime::IoResult<void> append_aborted(const AbortedTransaction& transaction);
  // Takes the last `count` of them back; discard_unnoted() removes them from the file.
  void drop_aborted(std::uint32_t count);
  // See txn_index.h.
  ReadOutcome<bool> collect_aborted(std::int64_t offset, std::int64_t upper_bound_offset, Blocking blocking,
                                    std::vector<AbortedTransaction>& into);

  // Writes waiting index entries where there are many; an error is no harm, they wait on.
  void write_full_indexes();
  // Writes all waiting index entries, making the files where they are missing.
  runtime::IoResult<void> write_indexes();
  // The same for a segment that is closed: its largest timestamp becomes the last entry of the time index.
  runtime::IoResult<void> finish_indexes();

  // The first batch whose last offset is at or after `offset`; nothing where there is none in this segment.
  ReadOutcome<std::optional<BatchPlace>> find_batch(std::int64_t offset, Blocking blocking);
  // A scanner that stands before the first batch at or after `first_offset` that may hold a record as new as
  // `timestamp`: no record between the two is as new. What it gives may be older.
  ReadOutcome<BatchScanner> scan_for_timestamp(std::int64_t timestamp, std::int64_t first_offset, Blocking blocking);
  // An offset at or behind that of the batch that ends at or behind `position`, from the index; nothing where the index
  // does not reach that far.
  ReadOutcome<std::optional<std::int64_t>> offset_behind(std::uint64_t position, Blocking blocking);

  // Gives up descriptors and what the index cache holds.
  void close();

 private:
  friend class SegmentRecovery;

  void note_indexes(std::int64_t last_offset, std::int64_t max_timestamp, std::uint32_t size);

  const SegmentHome* home_;
  std::int64_t base_offset_;
  std::int64_t created_ms_;
  std::int64_t modified_ms_;
  std::int64_t first_timestamp_ = -1;  // max timestamp of the first batch
  std::int64_t max_timestamp_ = -1;
  std::int64_t offset_of_max_timestamp_;
  std::uint32_t size_bytes_ = 0;
  std::uint32_t bytes_since_index_entry_ = 0;
  std::uint32_t aborted_count_ = 0;
  bool torn_ = false;          // the `.log` file may be longer than size_bytes_
  bool torn_aborted_ = false;  // the `.txnindex` file may have more than aborted_count_ entries
  CachedFile file_;
  OffsetIndex offset_index_;
  TimeIndex time_index_;
};

}  // namespace thalweg::storage
