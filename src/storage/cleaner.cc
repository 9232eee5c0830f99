#include "storage/cleaner.h"

#include <algorithm>
#include <cerrno>
#include <span>
#include <utility>

#include "base/check.h"
#include "protocol/record_batch.h"
#include "protocol/record_batch_builder.h"
#include "storage/log_context.h"

namespace thalweg::storage {

namespace {

using protocol::BatchView;

// Written in one go.
constexpr std::size_t kWriteChunk = std::size_t{1} << 20;

std::int64_t end_of(const std::vector<CleanableSegment>& segments) { return segments.back().end_offset; }

// The transactions that are not over at the offset.
std::span<const AbortedTransaction> aborted_from(std::vector<AbortedTransaction>& aborted, std::int64_t offset) {
  const auto over =
      std::ranges::partition(aborted, [offset](const AbortedTransaction& one) { return one.last_offset < offset; });
  std::ranges::sort(over, {}, &AbortedTransaction::first_offset);
  return {over.begin(), over.end()};
}

runtime::IoError bad(const std::string& what, const std::string& path, std::uint32_t position) {
  return {EBADMSG, what + " in " + path + " at " + std::to_string(position)};
}

protocol::BatchOptions options_of(const BatchView& batch, std::optional<std::int64_t> delete_horizon_ms) {
  protocol::BatchOptions options;
  options.compression = batch.compression();
  options.timestamp_type = batch.timestamp_type();
  options.append_time_ms = batch.max_timestamp();
  options.base_offset = batch.base_offset();
  options.last_offset = batch.last_offset();
  options.leader_epoch = batch.leader_epoch();
  options.producer_id = batch.producer_id();
  options.producer_epoch = batch.producer_epoch();
  options.base_sequence = batch.base_sequence();
  options.transactional = batch.is_transactional();
  options.control = batch.is_control();
  options.delete_horizon_ms = delete_horizon_ms;
  options.empty_max_timestamp = batch.max_timestamp();
  return options;
}

std::optional<std::int64_t> delete_horizon(const BatchView& batch) {
  if (!batch.has_delete_horizon()) return std::nullopt;
  return batch.base_timestamp();
}

std::int64_t saturating_add(std::int64_t a, std::int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

}  // namespace

// The segment that is being written.
struct Cleaner::Output {
  explicit Output(std::int64_t base) : base_offset(base), offset_index(base), time_index(base) {}

  std::int64_t base_offset;
  std::shared_ptr<runtime::File> file;
  std::vector<std::uint8_t> waiting;  // not yet in the file
  std::uint64_t in_file = 0;
  OffsetIndex offset_index;
  TimeIndex time_index;
  std::int64_t max_timestamp = -1;
  std::int64_t offset_of_max_timestamp = -1;
  std::uint64_t bytes_since_index_entry = 0;
  std::vector<AbortedTransaction> aborted;
  bool changed = false;  // it is not the same as what it is made of

  [[nodiscard]] std::uint64_t size() const { return in_file + waiting.size(); }

  void append(std::span<const std::uint8_t> bytes, std::int32_t index_interval_bytes) {
    const BatchView batch(bytes.data());
    if (batch.max_timestamp() > max_timestamp) {
      max_timestamp = batch.max_timestamp();
      offset_of_max_timestamp = batch.last_offset();
    }
    if (bytes_since_index_entry > static_cast<std::uint64_t>(index_interval_bytes)) {
      offset_index.append(batch.last_offset(), static_cast<std::uint32_t>(size()));
      time_index.maybe_append(max_timestamp, offset_of_max_timestamp);
      bytes_since_index_entry = 0;
    }
    waiting.insert(waiting.end(), bytes.begin(), bytes.end());
    bytes_since_index_entry += bytes.size();
  }

  runtime::IoResult<void> write() {
    if (waiting.empty()) return {};
    TRY(file->write_at(in_file, std::span<const std::uint8_t>(waiting)));
    in_file += waiting.size();
    waiting.clear();
    return {};
  }
};

Cleaner::Cleaner(runtime::FileSystem& files, CleanerJob job)
    : files_(files),
      job_(std::move(job)),
      map_(job_.map, job_.secret),
      clean_end_(job_.segments.empty() ? job_.first_dirty_offset : end_of(job_.segments)),
      transactions_(aborted_from(job_.aborted, job_.first_dirty_offset)) {
  while (segment_ < job_.segments.size() && job_.segments[segment_].end_offset <= job_.first_dirty_offset) ++segment_;
  if (segment_ == job_.segments.size()) state_ = State::done;
}

Cleaner::~Cleaner() { discard_output(); }

std::string Cleaner::path(std::int64_t base_offset, SegmentFile file) const {
  return segment_file_path(job_.folder, base_offset, file);
}

runtime::IoResult<Cleaner::Progress> Cleaner::step(std::uint64_t bytes) {
  CHECK(!failed_, "a failed compaction does not go on");
  Progress progress;
  failed_ = true;  // until the step has ended well
  while (state_ != State::done && !progress.ready && progress.bytes_read < bytes) {
    if (state_ == State::copying && output_ == nullptr) TRY(begin_output());
    const std::uint64_t written = output_ == nullptr ? 0 : output_->in_file;
    ASSIGN_OR_RETURN(const bool more, next_batch());
    if (more) {
      progress.bytes_read += place_->size;
      TRY(state_ == State::mapping ? map_batch() : copy_batch());
    } else if (state_ == State::mapping) {
      group_segments();
    } else {
      TRY(finish_output(progress));
    }
    if (output_ != nullptr) progress.bytes_written += output_->in_file - written;
  }
  progress.done = state_ == State::done;
  failed_ = false;
  return progress;
}

runtime::IoResult<void> Cleaner::open_segment() {
  const CleanableSegment& segment = job_.segments[segment_];
  ASSIGN_OR_RETURN(auto file, files_.open(path(segment.base_offset, SegmentFile::log), runtime::OpenMode::read));
  scanner_.emplace(std::move(file), 0, segment.size_bytes, BatchScanner::What::whole, Blocking::allowed);
  return {};
}

// The next batch of the segments that are read in this state; false at their end.
runtime::IoResult<bool> Cleaner::next_batch() {
  const std::size_t end =
      state_ == State::mapping ? job_.segments.size() : groups_[group_].first + groups_[group_].count;
  while (segment_ < end) {
    if (!scanner_) TRY(open_segment());
    auto next = scanner_->next();
    if (!next) return std::unexpected(as_io_error(std::move(next).error()));
    if (*next) {
      place_ = **next;
      if (!batch_crc_matches(scanner_->bytes()))
        return std::unexpected(
            bad("wrong checksum", path(job_.segments[segment_].base_offset, SegmentFile::log), place_->position));
      return true;
    }
    scanner_.reset();
    ++segment_;
  }
  return false;
}

runtime::IoResult<void> Cleaner::map_batch() {
  const BatchView batch(scanner_->bytes().data());
  if (batch.last_offset() < job_.first_dirty_offset) return {};
  if (batch.is_control()) {
    static_cast<void>(transactions_.on_control_batch(scanner_->bytes()));
    return {};
  }
  if (transactions_.on_batch(batch)) return {};
  std::optional<std::int64_t> refused;
  const auto read = protocol::for_each_record(batch, decompressor_, [&](const protocol::Record& record) {
    if (refused || !record.key || record.offset < job_.first_dirty_offset) return;
    if (!map_.put(*record.key, record.offset)) refused = record.offset;
  });
  if (!read)
    return std::unexpected(
        bad(read.error().detail, path(job_.segments[segment_].base_offset, SegmentFile::log), place_->position));
  if (refused) {
    clean_end_ = *refused;
    segment_ = job_.segments.size();
  }
  return {};
}

// Neighbours that together are no larger than one segment may be become one.
void Cleaner::group_segments() {
  scanner_.reset();
  const auto end = std::ranges::lower_bound(job_.segments, clean_end_, {}, &CleanableSegment::base_offset);
  const auto count = static_cast<std::size_t>(end - job_.segments.begin());
  std::uint64_t size = 0;
  std::uint64_t index = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const CleanableSegment& segment = job_.segments[i];
    size += segment.size_bytes;
    index += segment.index_bytes;
    const bool fits = !groups_.empty() && size <= static_cast<std::uint64_t>(job_.config.segment_bytes) &&
                      index <= static_cast<std::uint64_t>(job_.config.segment_index_bytes) &&
                      segment.end_offset - job_.segments[groups_.back().first].base_offset <= INT32_MAX;
    if (fits) {
      ++groups_.back().count;
    } else {
      groups_.push_back({.first = i, .count = 1});
      size = segment.size_bytes;
      index = segment.index_bytes;
    }
  }
  state_ = groups_.empty() ? State::done : State::copying;
  transactions_ = CleanedTransactions(aborted_from(job_.aborted, job_.segments.front().base_offset));
}

runtime::IoResult<void> Cleaner::begin_output() {
  const Group& group = groups_[group_];
  segment_ = group.first;
  output_ = std::make_unique<Output>(job_.segments[group.first].base_offset);
  output_->changed = group.count > 1;
  const std::string name = path(output_->base_offset, SegmentFile::log) + std::string(kCleanedSuffix);
  ASSIGN_OR_RETURN(output_->file, files_.open(name, runtime::OpenMode::create));
  return output_->file->truncate(0);
}

bool Cleaner::is_last_of_producer(const BatchView& batch) const {
  if (!batch.has_producer_id()) return false;
  const auto known = job_.producers.find(batch.producer_id());
  if (known == job_.producers.end()) return false;
  if (known->second.last_offset) return batch.last_offset() == *known->second.last_offset;
  return batch.is_control() && batch.producer_epoch() == known->second.epoch;
}

// What becomes of the batch; `rewritten` where not all of it stays as it is.
runtime::IoResult<Cleaner::Fate> Cleaner::judge(const BatchView& batch, base::Bytes& rewritten) {
  const bool discardable =
      batch.is_control() ? transactions_.on_control_batch(scanner_->bytes()) : transactions_.on_batch(batch);
  const std::optional<std::int64_t> horizon = delete_horizon(batch);
  const bool discarded = discardable && (!batch.is_control() || (horizon && *horizon <= job_.now_ms));
  const bool ends_segment =
      batch.next_offset() >= job_.segments[groups_[group_].first + groups_[group_].count - 1].end_offset;
  const auto without_records = [&] {
    if (!is_last_of_producer(batch) && !ends_segment) return Fate::dropped;
    if (batch.record_count() == 0) return Fate::copied;
    protocol::BatchOptions options = options_of(batch, std::nullopt);
    rewritten = protocol::RecordBatchBuilder(options).build(compressor_);
    return Fate::emptied;
  };
  if (discarded) return without_records();

  const auto unreadable = [&](const protocol::Error& error) {
    return std::unexpected(
        bad(error.detail, path(job_.segments[segment_].base_offset, SegmentFile::log), place_->position));
  };
  const auto section = protocol::records_section(batch, decompressor_);
  if (!section) return unreadable(section.error());
  bool has_tombstones = false;
  std::int32_t kept = 0;
  std::int32_t count = 0;
  const auto stays = [&](const protocol::Record& record) {
    if (batch.is_control() || record.offset >= clean_end_) return true;
    if (!record.key) return false;
    if (const auto newest = map_.find(*record.key); newest && *newest > record.offset) return false;
    return record.value.has_value() || !horizon || job_.now_ms < *horizon;
  };
  const auto each = [&](const auto& visit) -> protocol::Result<void> {
    protocol::RecordReader reader(batch, *section);
    protocol::Record record;
    while (true) {
      ASSIGN_OR_RETURN(const bool more, reader.next(record));
      if (!more) return {};
      visit(record);
    }
  };
  const auto counted = each([&](const protocol::Record& record) {
    ++count;
    if (!stays(record)) return;
    ++kept;
    if (!record.value) has_tombstones = true;
  });
  if (!counted) return unreadable(counted.error());
  if (kept == 0) return without_records();
  const bool sets_horizon = !horizon && (has_tombstones || (batch.is_control() && discardable));
  if (kept == count && !sets_horizon) return Fate::copied;
  protocol::RecordBatchBuilder builder(
      options_of(batch, sets_horizon ? saturating_add(job_.now_ms, job_.config.delete_retention_ms) : horizon));
  const auto built = each([&](const protocol::Record& record) {
    if (stays(record)) builder.append(record);
  });
  if (!built) return unreadable(built.error());
  rewritten = builder.build(compressor_);
  return Fate::rewritten;
}

runtime::IoResult<void> Cleaner::copy_batch() {
  const BatchView batch(scanner_->bytes().data());
  base::Bytes rewritten;
  ASSIGN_OR_RETURN(const Fate fate, judge(batch, rewritten));
  if (fate != Fate::copied) output_->changed = true;
  for (AbortedTransaction& kept : transactions_.take_kept()) output_->aborted.push_back(kept);
  if (fate == Fate::dropped) return {};
  const std::span<const std::uint8_t> bytes = fate == Fate::copied ? scanner_->bytes() : rewritten.span();
  if (output_->size() + bytes.size() > INT32_MAX)
    return std::unexpected(runtime::IoError{EFBIG, "compaction of " + path(output_->base_offset, SegmentFile::log)});
  output_->append(bytes, job_.config.index_interval_bytes);
  if (output_->waiting.size() >= kWriteChunk) return output_->write();
  return {};
}

runtime::IoResult<void> Cleaner::finish_output(Progress& progress) {
  const Group& group = groups_[group_++];
  if (group_ == groups_.size()) state_ = State::done;
  if (!output_->changed) {
    discard_output();
    return {};
  }
  const std::uint64_t before = output_->in_file;
  TRY(output_->write());
  progress.bytes_written += output_->in_file - before;
  CleanedSegment cleaned;
  cleaned.base_offset = output_->base_offset;
  for (std::size_t i = group.first; i < group.first + group.count; ++i)
    cleaned.replaces.push_back(job_.segments[i].base_offset);
  cleaned.log_bytes = output_->in_file;

  const auto cleaned_path = [&](SegmentFile file) {
    return path(output_->base_offset, file) + std::string(kCleanedSuffix);
  };
  output_->time_index.maybe_append(output_->max_timestamp, output_->offset_of_max_timestamp);
  std::vector<SegmentFile> made = {SegmentFile::offset_index, SegmentFile::time_index};
  cleaned.offset_index_bytes = std::uint64_t{output_->offset_index.entries().count()} * OffsetIndexEntry::kSize;
  cleaned.time_index_bytes = std::uint64_t{output_->time_index.entries().count()} * TimeIndexEntry::kSize;
  TRY(output_->offset_index.entries().write(files_, cleaned_path(SegmentFile::offset_index)));
  TRY(output_->time_index.entries().write(files_, cleaned_path(SegmentFile::time_index)));
  if (!output_->aborted.empty()) {
    std::vector<std::uint8_t> entries(output_->aborted.size() * kTxnIndexEntrySize);
    for (std::size_t i = 0; i < output_->aborted.size(); ++i)
      encode_txn_index_entry(output_->aborted[i], entries.data() + i * kTxnIndexEntrySize);
    ASSIGN_OR_RETURN(const auto file,
                     files_.open(cleaned_path(SegmentFile::transaction_index), runtime::OpenMode::create));
    TRY(file->truncate(0));
    TRY(file->write_at(0, std::span<const std::uint8_t>(entries)));
    made.push_back(SegmentFile::transaction_index);
    cleaned.transaction_index_bytes = entries.size();
  }
  made.push_back(SegmentFile::log);
  for (const SegmentFile name : made) {
    ASSIGN_OR_RETURN(const auto file, files_.open(cleaned_path(name), runtime::OpenMode::read_write));
    TRY(file->sync());
  }
  // The `.log` file last: until it is there, a restart takes the others for leftovers.
  for (const SegmentFile name : made)
    TRY(files_.rename(cleaned_path(name), path(output_->base_offset, name) + std::string(kSwapSuffix)));
  TRY(files_.sync_directory(job_.folder));
  output_.reset();
  progress.ready = std::move(cleaned);
  return {};
}

// A file that cannot be removed now is removed by the next start.
void Cleaner::discard_output() {
  if (output_ == nullptr) return;
  for (const SegmentFile file :
       {SegmentFile::log, SegmentFile::offset_index, SegmentFile::time_index, SegmentFile::transaction_index})
    for (const std::string_view suffix : {kSwapSuffix, kCleanedSuffix})
      static_cast<void>(files_.remove(path(output_->base_offset, file) + std::string(suffix)).has_value());
  output_.reset();
}

}  // namespace thalweg::storage
