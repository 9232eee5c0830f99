#include "inspect/log_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/endian.h"
#include "inspect/log_scanner.h"
#include "protocol/record_batch.h"
#include "storage/checkpoints.h"
#include "storage/leader_epochs.h"
#include "storage/offset_index.h"
#include "storage/producer_snapshot.h"
#include "storage/segment_files.h"
#include "storage/time_index.h"
#include "storage/txn_index.h"

namespace thalweg::inspect {

using protocol::BatchView;
using runtime::IoResult;
using storage::OffsetIndexEntry;
using storage::SegmentFile;
using storage::TimeIndexEntry;

namespace {

struct SegmentFiles {
  std::optional<std::uint64_t> log, offset_index, time_index, transaction_index;  // sizes, where the files are there
};

struct Listing {
  std::map<std::int64_t, SegmentFiles> segments;  // with a `.log` file
  std::set<std::int64_t> snapshots;
};

Listing read_listing(const std::vector<runtime::DirectoryEntry>& entries) {
  Listing listing;
  for (const runtime::DirectoryEntry& entry : entries) {
    if (entry.is_directory) continue;
    const auto name = storage::parse_segment_file_name(entry.name);
    // What a deletion or a compaction has marked is cleared away by the next start.
    if (!name || !name->suffix.empty()) continue;
    switch (name->file) {
      case SegmentFile::log:
        listing.segments[name->offset].log = entry.size;
        break;
      case SegmentFile::offset_index:
        listing.segments[name->offset].offset_index = entry.size;
        break;
      case SegmentFile::time_index:
        listing.segments[name->offset].time_index = entry.size;
        break;
      case SegmentFile::transaction_index:
        listing.segments[name->offset].transaction_index = entry.size;
        break;
      case SegmentFile::snapshot:
        listing.snapshots.insert(name->offset);
        break;
    }
  }
  // Indexes without a log are leftovers of a deletion: a start removes them.
  std::erase_if(listing.segments, [](const auto& segment) { return !segment.second.log; });
  return listing;
}

// The entries of an index file, all in memory: an index is small beside its log.
template <class Entry>
class IndexReader {
 public:
  IndexReader(std::string bytes, bool has_room) : bytes_(std::move(bytes)) {
    count_ = bytes_.size() / Entry::kSize;
    // Kafka sets room aside behind the entries of the index that it writes to.
    if (!has_room) return;
    const auto is_zero = [&](std::size_t i) {
      return std::string_view(bytes_).substr(i * Entry::kSize, Entry::kSize).find_first_not_of('\0') ==
             std::string_view::npos;
    };
    while (count_ > 0 && is_zero(count_ - 1)) --count_;
    whole_ = true;
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  // Whether the file ends with a whole entry.
  [[nodiscard]] bool whole() const { return whole_ || bytes_.size() % Entry::kSize == 0; }
  [[nodiscard]] Entry at(std::size_t i) const {
    return Entry::decode(reinterpret_cast<const std::uint8_t*>(bytes_.data()) + i * Entry::kSize);
  }
  [[nodiscard]] static std::uint64_t position_of(std::size_t i) { return i * Entry::kSize; }

 private:
  std::string bytes_;
  std::size_t count_ = 0;
  bool whole_ = false;
};

// What a walk keeps of one sound batch.
struct SoundBatch {
  std::uint64_t position = 0;
  std::uint64_t size = 0;
  std::int64_t base_offset = 0;
  std::int64_t next_offset = 0;
};

}  // namespace

std::string finding_line(const Finding& finding) {
  std::string line = finding.file + ": ";
  if (finding.position) line += fmt::format("position {}", *finding.position);
  if (finding.offset) line += fmt::format("{}offset {}", finding.position ? ", " : "", *finding.offset);
  if (finding.position || finding.offset) line += ": ";
  return line + finding.what;
}

// The check of one folder.
class LogCheck::Folder {
 public:
  Folder(LogCheck& check, std::string folder, const Options& options)
      : check_(check), folder_(std::move(folder)), options_(options) {}

  IoResult<LogCheckReport> run();

 private:
  struct Segment {
    std::int64_t base_offset = 0;
    std::string path;
    SegmentFiles files;
    std::optional<std::int64_t> next_base;  // of the next segment; nothing: this is the last
    std::vector<storage::SoundRange> sound;
    std::optional<SoundBatch> last;
    std::int64_t end_before_last = 0;  // behind the batch before the last one
    std::int64_t next_offset = 0;
    std::int64_t max_timestamp = -1;
    bool damaged = false;
    bool unreadable_format = false;
    std::optional<IndexReader<OffsetIndexEntry>> offsets;
    std::optional<IndexReader<TimeIndexEntry>> times;
    std::size_t offsets_seen = 0;
    std::size_t times_seen = 0;
    bool epochs_told = false;
    // Aborted transactions that the batches tell of.
    std::vector<storage::AbortedTransaction> aborted;
  };

  void find(std::string file, std::optional<std::uint64_t> position, std::optional<std::int64_t> offset,
            std::string what) {
    ++report_.findings;
    check_.sink_({.file = std::move(file), .position = position, .offset = offset, .what = std::move(what)});
  }
  [[nodiscard]] std::string path_of(std::int64_t offset, SegmentFile file) const {
    return storage::segment_file_path(folder_, offset, file);
  }
  // To be made anew.
  void discard(std::int64_t offset, SegmentFile file) {
    report_.plan.bad_files.push_back(storage::segment_file_name(offset, file));
  }

  IoResult<void> check_segment(Segment& segment);
  IoResult<void> open_indexes(Segment& segment);
  IoResult<void> walk(Segment& segment);
  // Whether the batch can stand where it does; says why not.
  bool fits(Segment& segment, const LogItem& item, BatchView batch);
  void keep(Segment& segment, const SoundBatch& batch);
  void check_records(Segment& segment, const LogItem& item, BatchView batch);
  void check_epoch(Segment& segment, const LogItem& item, BatchView batch);
  void follow_transaction(Segment& segment, BatchView batch);
  void match_indexes(Segment& segment, BatchView batch, const LogItem& item);
  void finish_indexes(Segment& segment);
  IoResult<void> check_transactions(const Segment& segment);
  IoResult<void> check_snapshots(const std::set<std::int64_t>& snapshots);
  IoResult<void> read_epochs();
  IoResult<void> read_topic_id();
  void bad_offset_index(Segment& segment, std::size_t entry, std::string what);
  void bad_time_index(Segment& segment, std::size_t entry, std::string what);

  LogCheck& check_;
  const std::string folder_;
  const Options& options_;
  LogCheckReport report_;
  std::optional<storage::LeaderEpochs> epochs_;
  std::int32_t running_epoch_ = -1;
  bool producers_known_ = true;                          // no batch before was damaged
  std::unordered_map<std::int64_t, std::int64_t> open_;  // producer id → first offset of its open transaction
};

IoResult<LogCheckReport> LogCheck::Folder::run() {
  ASSIGN_OR_RETURN(const std::vector<runtime::DirectoryEntry> entries, check_.files_.list(folder_));
  const Listing listing = read_listing(entries);
  TRY(read_topic_id());
  TRY(read_epochs());
  std::int64_t next_offset = -1;
  for (auto it = listing.segments.begin(); it != listing.segments.end(); ++it) {
    Segment segment;
    segment.base_offset = segment.next_offset = segment.end_before_last = it->first;
    segment.path = path_of(it->first, SegmentFile::log);
    segment.files = it->second;
    if (const auto next = std::next(it); next != listing.segments.end()) segment.next_base = next->first;
    if (next_offset < 0) report_.first_offset = segment.base_offset;
    if (next_offset >= 0 && segment.base_offset > next_offset && !options_.gaps_allowed &&
        segment.base_offset > options_.log_start_offset)
      find(segment.path, 0, next_offset,
           fmt::format("the segment before ends at offset {}, this one begins at {}: {} offsets are missing",
                       next_offset, segment.base_offset, segment.base_offset - next_offset));
    TRY(check_segment(segment));
    next_offset = segment.next_offset;
    report_.log_end_offset = next_offset;
    ++report_.segments;
    report_.bytes += *segment.files.log;
    if (segment.damaged && !segment.unreadable_format)
      report_.plan.segments.push_back({.base_offset = segment.base_offset,
                                       .size_bytes = *segment.files.log,
                                       .sound = std::move(segment.sound),
                                       .next_offset = segment.next_offset,
                                       .end = segment.next_base});
  }
  report_.open_transactions = open_.size();
  TRY(check_snapshots(listing.snapshots));
  if (epochs_ && !epochs_->entries().empty()) {
    const storage::EpochEntry& last = epochs_->entries().back();
    report_.latest_epoch = std::max(report_.latest_epoch, last.epoch);
    if (last.start_offset > report_.log_end_offset)
      find(storage::in_directory(folder_, storage::kLeaderEpochsFileName), std::nullopt, last.start_offset,
           fmt::format("epoch {} begins behind the end of the log, which is {}", last.epoch, report_.log_end_offset));
  }
  return std::move(report_);
}

IoResult<void> LogCheck::Folder::read_topic_id() {
  const std::string path = storage::in_directory(folder_, storage::kPartitionMetadataFileName);
  const auto id = storage::read_partition_metadata(check_.files_, folder_);
  if (!id) {
    if (id.error().error_number != EBADMSG) return std::unexpected(id.error());
    find(path, std::nullopt, std::nullopt, "not in the format of partition.metadata");
    return {};
  }
  report_.topic_id = *id;
  return {};
}

IoResult<void> LogCheck::Folder::read_epochs() {
  const std::string path = storage::in_directory(folder_, storage::kLeaderEpochsFileName);
  ASSIGN_OR_RETURN(const bool there, check_.files_.exists(path));
  if (!there) return {};
  ASSIGN_OR_RETURN(const std::string text, check_.files_.read_file(path));
  epochs_ = storage::LeaderEpochs::parse(text);
  if (epochs_) return {};
  find(path, std::nullopt, std::nullopt, "not in the format of a checkpoint of leader epochs");
  report_.plan.remake = true;
  return {};
}

IoResult<void> LogCheck::Folder::check_segment(Segment& segment) {
  if (*segment.files.log > static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())) {
    find(segment.path, std::nullopt, segment.base_offset,
         fmt::format("{} bytes, where a segment has at most 2147483647", *segment.files.log));
    segment.unreadable_format = true;
  }
  TRY(open_indexes(segment));
  TRY(walk(segment));
  finish_indexes(segment);
  return check_transactions(segment);
}

IoResult<void> LogCheck::Folder::open_indexes(Segment& segment) {
  // An index of a log without a batch may be missing; so may those of the last segment, whose entries wait in memory
  // while it is written to: a start after an unclean stop makes them anew.
  const auto read = [&](SegmentFile file, bool there, auto& into) -> IoResult<void> {
    const std::string path = path_of(segment.base_offset, file);
    if (!there) {
      if (*segment.files.log == 0 || !segment.next_base) return {};
      find(path, std::nullopt, segment.base_offset, "missing beside its log");
      report_.plan.remake = true;
      return {};
    }
    ASSIGN_OR_RETURN(std::string bytes, check_.files_.read_file(path));
    into.emplace(std::move(bytes), !segment.next_base.has_value());
    return {};
  };
  TRY(read(SegmentFile::offset_index, segment.files.offset_index.has_value(), segment.offsets));
  TRY(read(SegmentFile::time_index, segment.files.time_index.has_value(), segment.times));
  const auto half = [](std::size_t size) { return fmt::format("{} bytes, which ends within an entry", size); };
  if (segment.offsets && !segment.offsets->whole())
    bad_offset_index(segment, segment.offsets->count(), half(*segment.files.offset_index));
  if (segment.times && !segment.times->whole())
    bad_time_index(segment, segment.times->count(), half(*segment.files.time_index));
  return {};
}

void LogCheck::Folder::bad_offset_index(Segment& segment, std::size_t entry, std::string what) {
  find(path_of(segment.base_offset, SegmentFile::offset_index), IndexReader<OffsetIndexEntry>::position_of(entry),
       std::nullopt, std::move(what));
  discard(segment.base_offset, SegmentFile::offset_index);
  segment.offsets.reset();
}

void LogCheck::Folder::bad_time_index(Segment& segment, std::size_t entry, std::string what) {
  find(path_of(segment.base_offset, SegmentFile::time_index), IndexReader<TimeIndexEntry>::position_of(entry),
       std::nullopt, std::move(what));
  discard(segment.base_offset, SegmentFile::time_index);
  segment.times.reset();
}

IoResult<void> LogCheck::Folder::walk(Segment& segment) {
  ASSIGN_OR_RETURN(std::shared_ptr<runtime::File> file, check_.files_.open(segment.path, runtime::OpenMode::read));
  LogScanner scanner(std::move(file), {.begin = 0, .end = *segment.files.log, .next_offset = segment.base_offset});
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<LogItem> item, scanner.next());
    if (!item) return {};
    if (item->kind == LogItem::Kind::message) {
      find(segment.path, item->position, std::nullopt,
           "a message of an older format than v2, which this broker does not read");
      segment.unreadable_format = segment.damaged = true;
      return {};
    }
    if (item->kind == LogItem::Kind::damage || !item->sound) {
      std::string what = item->fault;
      if (item->kind == LogItem::Kind::damage) what += fmt::format(" ({} bytes that are no batch)", item->size);
      find(segment.path, item->position, segment.next_offset, std::move(what));
      segment.damaged = true;
      producers_known_ = false;
      continue;
    }
    const BatchView batch(item->bytes.data());
    if (!fits(segment, *item, batch)) continue;
    keep(segment, {.position = item->position,
                   .size = item->size,
                   .base_offset = batch.base_offset(),
                   .next_offset = batch.next_offset()});
    check_records(segment, *item, batch);
    check_epoch(segment, *item, batch);
    follow_transaction(segment, batch);
    segment.max_timestamp = std::max(segment.max_timestamp, batch.max_timestamp());
    match_indexes(segment, batch, *item);
    ++report_.batches;
    report_.records += static_cast<std::uint64_t>(batch.record_count());
  }
}

// The CRC does not cover the base offset, so a batch that is sound in itself may stand at a wrong one.
bool LogCheck::Folder::fits(Segment& segment, const LogItem& item, BatchView batch) {
  const auto misplaced = [&](std::string what) {
    find(segment.path, item.position, batch.base_offset(), std::move(what));
    segment.damaged = true;
    producers_known_ = false;
    return false;
  };
  if (segment.next_base && batch.next_offset() > *segment.next_base)
    return misplaced(fmt::format("the batch ends at offset {}, but the next segment begins at {}", batch.last_offset(),
                                 *segment.next_base));
  if (batch.last_offset() - segment.base_offset > std::numeric_limits<std::int32_t>::max())
    return misplaced(
        fmt::format("offset {} is too far from the segment's first, {}", batch.last_offset(), segment.base_offset));
  if (batch.base_offset() >= segment.next_offset) return true;
  // One of the two is wrong: the one before it, where this one follows what was before that.
  if (!segment.last || batch.base_offset() < segment.end_before_last)
    return misplaced(fmt::format("offset {} where {} or more is expected", batch.base_offset(), segment.next_offset));
  find(segment.path, segment.last->position, segment.last->base_offset,
       fmt::format("offset {}, but the batch behind it begins at {}", segment.last->base_offset, batch.base_offset()));
  segment.damaged = true;
  producers_known_ = false;
  storage::SoundRange& range = segment.sound.back();
  range.size -= segment.last->size;
  if (range.size == 0) segment.sound.pop_back();
  --report_.batches;
  return true;
}

void LogCheck::Folder::keep(Segment& segment, const SoundBatch& batch) {
  if (segment.last && batch.base_offset >= segment.last->next_offset)
    segment.end_before_last = segment.last->next_offset;
  segment.last = batch;
  segment.next_offset = batch.next_offset;
  if (!segment.sound.empty() && segment.sound.back().position + segment.sound.back().size == batch.position) {
    segment.sound.back().size += batch.size;
  } else {
    segment.sound.push_back({.position = batch.position, .size = batch.size});
  }
}

void LogCheck::Folder::check_records(Segment& segment, const LogItem& item, BatchView batch) {
  // What compaction has emptied has no section to decompress.
  if (batch.record_count() == 0) return;
  const auto walked = protocol::for_each_record(batch, check_.decompressor_, [](const protocol::Record&) {});
  if (!walked)
    find(segment.path, item.position, batch.base_offset(),
         fmt::format("the CRC is right, but its records are not: {}", walked.error().detail));
}

void LogCheck::Folder::check_epoch(Segment& segment, const LogItem& item, BatchView batch) {
  const std::int32_t epoch = batch.leader_epoch();
  if (epoch < 0) return;
  report_.latest_epoch = std::max(report_.latest_epoch, epoch);
  const std::int32_t before = std::exchange(running_epoch_, std::max(running_epoch_, epoch));
  if (segment.epochs_told) return;
  if (epoch < before) {
    segment.epochs_told = true;
    find(segment.path, item.position, batch.base_offset(), fmt::format("leader epoch {} behind {}", epoch, before));
    return;
  }
  if (!epochs_) return;
  const auto due = epochs_->epoch_of(batch.base_offset());
  // Before the first line nothing is known: a log start in the middle of a batch.
  if (!due || *due == epoch) return;
  segment.epochs_told = true;
  find(segment.path, item.position, batch.base_offset(),
       fmt::format("leader epoch {}, but {} says {}", epoch, storage::kLeaderEpochsFileName, *due));
}

void LogCheck::Folder::follow_transaction(Segment& segment, BatchView batch) {
  const std::int64_t producer = batch.producer_id();
  if (producer < 0) return;
  report_.largest_producer_id = std::max(report_.largest_producer_id, producer);
  if (!batch.is_transactional()) return;
  if (!batch.is_control()) {
    open_.emplace(producer, batch.base_offset());
    return;
  }
  if (batch.record_count() == 0) return;
  std::optional<std::int16_t> type;
  const auto walked = protocol::for_each_record(batch, check_.decompressor_, [&](const protocol::Record& record) {
    if (const auto found = protocol::control_type(record)) type = *found;
  });
  const auto open = open_.find(producer);
  if (!walked || !type || open == open_.end()) return;
  if (*type == static_cast<std::int16_t>(protocol::ControlType::abort))
    segment.aborted.push_back({.producer_id = producer,
                               .first_offset = open->second,
                               .last_offset = batch.base_offset(),
                               .last_stable_offset = -1});
  open_.erase(open);
}

void LogCheck::Folder::match_indexes(Segment& segment, BatchView batch, const LogItem& item) {
  if (segment.offsets && segment.offsets_seen < segment.offsets->count()) {
    const std::size_t i = segment.offsets_seen;
    const OffsetIndexEntry entry = segment.offsets->at(i);
    const std::int64_t offset = segment.base_offset + entry.relative_offset;
    const OffsetIndexEntry before = i == 0 ? OffsetIndexEntry{.relative_offset = -1} : segment.offsets->at(i - 1);
    if (entry.position < item.position) {
      bad_offset_index(segment, i,
                       fmt::format("offset {} at position {}, where no batch begins", offset, entry.position));
    } else if (entry.position == item.position) {
      ++segment.offsets_seen;
      const std::int64_t least = batch.base_offset();
      if (offset < least || segment.base_offset + before.relative_offset >= least)
        bad_offset_index(
            segment, i,
            fmt::format("offset {}, behind {}, for the batch at position {}, which holds {} to {}", offset,
                        segment.base_offset + before.relative_offset, item.position, least, batch.last_offset()));
    }
  }
  while (segment.times && segment.times_seen < segment.times->count()) {
    const std::size_t i = segment.times_seen;
    const TimeIndexEntry entry = segment.times->at(i);
    const std::int64_t offset = segment.base_offset + entry.relative_offset;
    if (offset > batch.last_offset()) break;
    ++segment.times_seen;
    const bool grows = i == 0 || entry.timestamp > segment.times->at(i - 1).timestamp;
    if (offset < batch.base_offset() || entry.timestamp != segment.max_timestamp || !grows)
      bad_time_index(segment, i,
                     fmt::format("timestamp {} for offset {}, where the largest up to there is {}", entry.timestamp,
                                 offset, segment.max_timestamp));
  }
}

void LogCheck::Folder::finish_indexes(Segment& segment) {
  // Of a damaged segment all are made anew.
  if (segment.damaged) return;
  if (segment.offsets && segment.offsets_seen < segment.offsets->count()) {
    const OffsetIndexEntry entry = segment.offsets->at(segment.offsets_seen);
    bad_offset_index(
        segment, segment.offsets_seen,
        fmt::format("position {}, where the log has {} bytes and no batch begins", entry.position, *segment.files.log));
  } else if (segment.offsets && segment.offsets->count() > 0) {
    const std::size_t i = segment.offsets->count() - 1;
    const std::int64_t offset = segment.base_offset + segment.offsets->at(i).relative_offset;
    if (offset >= segment.next_offset)
      bad_offset_index(segment, i, fmt::format("offset {}, where the segment ends at {}", offset, segment.next_offset));
  }
  if (!segment.times) return;
  if (segment.times_seen < segment.times->count()) {
    const std::int64_t offset = segment.base_offset + segment.times->at(segment.times_seen).relative_offset;
    bad_time_index(segment, segment.times_seen,
                   fmt::format("offset {}, where the segment ends at {}", offset, segment.next_offset));
    return;
  }
  // The last entry of a segment that is no longer written to is what searches by time go by.
  if (!segment.next_base || segment.max_timestamp < 0) return;
  const std::size_t count = segment.times->count();
  const std::int64_t told = count == 0 ? -1 : segment.times->at(count - 1).timestamp;
  if (told != segment.max_timestamp)
    bad_time_index(segment, count,
                   fmt::format("the last timestamp is {}, the largest of the segment {}", told, segment.max_timestamp));
}

IoResult<void> LogCheck::Folder::check_transactions(const Segment& segment) {
  const std::string path = path_of(segment.base_offset, SegmentFile::transaction_index);
  std::vector<storage::AbortedTransaction> told;
  const auto bad = [&](std::size_t entry, std::optional<std::int64_t> offset, std::string what) {
    find(path, entry * storage::kTxnIndexEntrySize, offset, std::move(what));
    if (segment.files.transaction_index) discard(segment.base_offset, SegmentFile::transaction_index);
    // Only with its indexes a segment is read anew.
    if (segment.files.offset_index) discard(segment.base_offset, SegmentFile::offset_index);
    report_.plan.remake = true;
    return IoResult<void>{};
  };
  if (segment.files.transaction_index) {
    ASSIGN_OR_RETURN(const std::string bytes, check_.files_.read_file(path));
    const std::size_t count = bytes.size() / storage::kTxnIndexEntrySize;
    for (std::size_t i = 0; i < count; ++i) {
      const auto entry = storage::decode_txn_index_entry(reinterpret_cast<const std::uint8_t*>(bytes.data()) +
                                                         i * storage::kTxnIndexEntrySize);
      if (!entry) return bad(i, std::nullopt, "an entry of an unknown version");
      if (entry->first_offset > entry->last_offset || entry->last_offset < segment.base_offset ||
          (!segment.damaged && entry->last_offset >= segment.next_offset))
        return bad(i, entry->last_offset,
                   fmt::format("a transaction from {} to {}, where the segment holds {} to {}", entry->first_offset,
                               entry->last_offset, segment.base_offset, segment.next_offset - 1));
      told.push_back(*entry);
    }
    if (bytes.size() % storage::kTxnIndexEntrySize != 0)
      return bad(count, std::nullopt, fmt::format("{} bytes, which ends within an entry", bytes.size()));
  }
  if (!producers_known_) return {};
  for (const storage::AbortedTransaction& aborted : segment.aborted) {
    const bool listed = std::ranges::any_of(told, [&](const storage::AbortedTransaction& entry) {
      return entry.producer_id == aborted.producer_id && entry.last_offset == aborted.last_offset &&
             entry.first_offset <= aborted.first_offset;
    });
    if (!listed)
      return bad(told.size(), aborted.last_offset,
                 fmt::format("no entry for the transaction of producer {} from offset {}, which is aborted here",
                             aborted.producer_id, aborted.first_offset));
  }
  return {};
}

IoResult<void> LogCheck::Folder::check_snapshots(const std::set<std::int64_t>& snapshots) {
  for (const std::int64_t at : snapshots) {
    const std::string path = path_of(at, SegmentFile::snapshot);
    ASSIGN_OR_RETURN(const std::string bytes, check_.files_.read_file(path));
    const auto producers =
        storage::decode_producer_snapshot(std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
    const auto bad = [&](std::string what) {
      find(path, std::nullopt, at, std::move(what));
      discard(at, SegmentFile::snapshot);
    };
    if (!producers) {
      bad("the CRC or the format of the snapshot is wrong");
      continue;
    }
    for (const storage::ProducerEntry& producer : *producers) {
      report_.largest_producer_id = std::max(report_.largest_producer_id, producer.producer_id);
      if (producer.last_offset() < at && producer.current_txn_first_offset < at) continue;
      bad(fmt::format("producer {} is at offset {}, behind the snapshot", producer.producer_id,
                      std::max(producer.last_offset(), producer.current_txn_first_offset)));
      break;
    }
  }
  return {};
}

IoResult<LogCheckReport> LogCheck::run(const std::string& folder, const Options& options) {
  return Folder(*this, folder, options).run();
}

}  // namespace thalweg::inspect
