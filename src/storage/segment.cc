#include "storage/segment.h"

#include <algorithm>
#include <functional>

#include "base/check.h"

namespace thalweg::storage {

namespace {

// How much earlier than segment.ms a segment rolls, so that the partitions of a topic do not all roll at once. The same
// segment always gets the same share.
std::int64_t jitter_ms(const SegmentHome& home, std::int64_t base_offset) {
  const std::int64_t most = std::min(home.config->segment_jitter_ms, home.config->roll_ms());
  if (most <= 0) return 0;
  const std::uint64_t mixed =
      (std::hash<std::string>{}(home.folder) ^ static_cast<std::uint64_t>(base_offset)) * 0x9e3779b97f4a7c15ULL;
  return static_cast<std::int64_t>((mixed >> 1) % static_cast<std::uint64_t>(most));
}

}  // namespace

Segment::Segment(const SegmentHome& home, std::int64_t base_offset, std::int64_t created_ms)
    : home_(&home),
      base_offset_(base_offset),
      created_ms_(created_ms),
      modified_ms_(created_ms),
      offset_of_max_timestamp_(base_offset),
      offset_index_(base_offset),
      time_index_(base_offset) {}

Segment::~Segment() { close(); }

std::uint32_t Segment::index_bytes() const {
  return static_cast<std::uint32_t>(std::max(offset_index_.entries().count() * OffsetIndexEntry::kSize,
                                             time_index_.entries().count() * TimeIndexEntry::kSize));
}

runtime::IoResult<std::shared_ptr<runtime::File>> Segment::file() {
  if (auto open = home_->context.handles.find(file_)) return open;
  return home_->context.handles.open(file_, path(SegmentFile::log), runtime::OpenMode::read_write);
}

runtime::IoResult<void> Segment::create_file() {
  for (const SegmentFile file : {SegmentFile::offset_index, SegmentFile::time_index, SegmentFile::transaction_index})
    TRY(home_->context.files.remove(path(file)));
  // Not through the cache: a log that is being opened makes files as well, on another thread.
  ASSIGN_OR_RETURN(const std::shared_ptr<runtime::File> file,
                   home_->context.files.open(path(SegmentFile::log), runtime::OpenMode::create));
  return file->truncate(0);
}

bool Segment::should_roll(const Incoming& incoming) const {
  const LogConfig& config = *home_->config;
  if (empty()) return !offset_index_.can_hold(incoming.last_offset);
  if (size_bytes_ + incoming.size_bytes > static_cast<std::uint64_t>(config.segment_bytes)) return true;
  const std::int64_t waited_ms =
      first_timestamp_ >= 0 ? incoming.max_timestamp - first_timestamp_ : incoming.now_ms - created_ms_;
  return waited_ms > config.roll_ms() - jitter_ms(*home_, base_offset_) ||
         offset_index_.is_full(config.segment_index_bytes) || time_index_.is_full(config.segment_index_bytes) ||
         !offset_index_.can_hold(incoming.last_offset);
}

runtime::IoResult<void> Segment::write(std::span<const MutableBatch> batches) {
  TRY(discard_unnoted());
  ASSIGN_OR_RETURN(const std::shared_ptr<runtime::File> file, this->file());
  torn_ = true;
  if (batches.size() == 1) return file->write_at(size_bytes_, std::span<const std::uint8_t>(batches[0]));
  const std::vector<std::span<const std::uint8_t>> pieces(batches.begin(), batches.end());
  return file->write_at(size_bytes_, pieces);
}

std::uint32_t Segment::note(const protocol::BatchView& batch, std::int64_t now_ms) {
  const std::uint32_t position = size_bytes_;
  if (empty()) first_timestamp_ = batch.max_timestamp();
  note_indexes(batch.last_offset(), batch.max_timestamp(), static_cast<std::uint32_t>(batch.size_bytes()));
  modified_ms_ = now_ms;
  torn_ = false;
  return position;
}

void Segment::note_indexes(std::int64_t last_offset, std::int64_t max_timestamp, std::uint32_t size) {
  if (max_timestamp > max_timestamp_) {
    max_timestamp_ = max_timestamp;
    offset_of_max_timestamp_ = last_offset;
  }
  if (bytes_since_index_entry_ > static_cast<std::uint32_t>(home_->config->index_interval_bytes)) {
    offset_index_.append(last_offset, size_bytes_);
    time_index_.maybe_append(max_timestamp_, offset_of_max_timestamp_);
    bytes_since_index_entry_ = 0;
  }
  size_bytes_ += size;
  bytes_since_index_entry_ += size;
}

runtime::IoResult<void> Segment::discard_unnoted() {
  if (torn_) {
    ASSIGN_OR_RETURN(const std::shared_ptr<runtime::File> file, this->file());
    TRY(file->truncate(size_bytes_));
    torn_ = false;
  }
  if (torn_aborted_) {
    ASSIGN_OR_RETURN(const std::shared_ptr<runtime::File> file,
                     home_->context.files.open(path(SegmentFile::transaction_index), runtime::OpenMode::create));
    TRY(file->truncate(std::uint64_t{aborted_count_} * kTxnIndexEntrySize));
    torn_aborted_ = false;
  }
  return {};
}

runtime::IoResult<void> Segment::append_aborted(const AbortedTransaction& transaction) {
  std::uint8_t bytes[kTxnIndexEntrySize];
  encode_txn_index_entry(transaction, bytes);
  ASSIGN_OR_RETURN(const std::shared_ptr<runtime::File> file,
                   home_->context.files.open(path(SegmentFile::transaction_index), runtime::OpenMode::create));
  torn_aborted_ = true;
  TRY(file->write_at(std::uint64_t{aborted_count_} * kTxnIndexEntrySize, std::span<const std::uint8_t>(bytes)));
  torn_aborted_ = false;
  ++aborted_count_;
  return {};
}

void Segment::drop_aborted(std::uint32_t count) {
  if (count == 0) return;
  CHECK(count <= aborted_count_, "only what was added is taken back");
  aborted_count_ -= count;
  torn_aborted_ = true;
}

ReadOutcome<bool> Segment::collect_aborted(std::int64_t offset, std::int64_t upper_bound_offset, Blocking blocking,
                                           std::vector<AbortedTransaction>& into) {
  if (aborted_count_ == 0) return false;
  auto file = home_->context.files.open(path(SegmentFile::transaction_index), runtime::OpenMode::read);
  if (!file) return std::unexpected(ReadFault::of(std::move(file).error()));
  return storage::collect_aborted(*file, aborted_count_, offset, upper_bound_offset, blocking, into);
}

void Segment::write_full_indexes() {
  constexpr std::size_t kMost = IndexEntries<OffsetIndexEntry>::kMostWaiting;
  const std::size_t waiting = std::max(offset_index_.entries().waiting(), time_index_.entries().waiting());
  // Tried once in so many entries, so that a full disk does not cost a call with each append.
  if (waiting >= kMost && waiting % kMost == 0) static_cast<void>(write_indexes().has_value());
}

runtime::IoResult<void> Segment::write_indexes() {
  TRY(offset_index_.entries().write(home_->context.files, path(SegmentFile::offset_index)));
  return time_index_.entries().write(home_->context.files, path(SegmentFile::time_index));
}

runtime::IoResult<void> Segment::finish_indexes() {
  time_index_.maybe_append(max_timestamp_, offset_of_max_timestamp_);
  return write_indexes();
}

ReadOutcome<std::optional<BatchPlace>> Segment::find_batch(std::int64_t offset, Blocking blocking) {
  if (empty()) return std::nullopt;
  const auto index_path = [&] { return path(SegmentFile::offset_index); };
  ASSIGN_OR_RETURN(const std::uint32_t from, offset_index_.lookup(home_->context, offset, blocking, index_path));
  auto file = this->file();
  if (!file) return std::unexpected(ReadFault::of(std::move(file).error()));
  BatchScanner scanner(std::move(*file), from, size_bytes_, BatchScanner::What::headers, blocking);
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<BatchPlace> batch, scanner.next());
    if (!batch || batch->last_offset >= offset) return batch;
  }
}

ReadOutcome<BatchScanner> Segment::scan_for_timestamp(std::int64_t timestamp, std::int64_t first_offset,
                                                      Blocking blocking) {
  const auto time_path = [&] { return path(SegmentFile::time_index); };
  ASSIGN_OR_RETURN(const std::int64_t older, time_index_.lookup(home_->context, timestamp, blocking, time_path));
  const auto offset_path = [&] { return path(SegmentFile::offset_index); };
  ASSIGN_OR_RETURN(const std::uint32_t from,
                   offset_index_.lookup(home_->context, std::max(older, first_offset), blocking, offset_path));
  auto file = this->file();
  if (!file) return std::unexpected(ReadFault::of(std::move(file).error()));
  return BatchScanner(std::move(*file), from, size_bytes_, BatchScanner::What::headers, blocking);
}

ReadOutcome<std::optional<std::int64_t>> Segment::offset_behind(std::uint64_t position, Blocking blocking) {
  const auto index_path = [&] { return path(SegmentFile::offset_index); };
  return offset_index_.offset_at_or_after(home_->context, position, blocking, index_path);
}

void Segment::close() {
  file_.close();
  offset_index_.entries().forget_loaded(home_->context);
  time_index_.entries().forget_loaded(home_->context);
}

}  // namespace thalweg::storage
