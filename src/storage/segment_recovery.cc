#include "storage/segment_recovery.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <limits>

#include "base/endian.h"

namespace thalweg::storage {

namespace {

// Reads the last entry of an index file.
template <class Entry>
runtime::IoResult<std::array<std::uint8_t, Entry::kSize>> last_entry(runtime::FileSystem& files,
                                                                     const std::string& path, std::uint64_t size) {
  std::array<std::uint8_t, Entry::kSize> bytes{};
  if (size < Entry::kSize) return bytes;
  ASSIGN_OR_RETURN(const std::shared_ptr<runtime::File> file, files.open(path, runtime::OpenMode::read));
  TRY(file->read_at(size - Entry::kSize, bytes));
  return bytes;
}

// Message formats v0 and v1 are not read. A log that begins with them is left alone instead of being cut to nothing.
runtime::IoResult<void> refuse_old_format(runtime::File& file, std::uint32_t position) {
  constexpr std::int32_t kLeastOldMessage = 14;
  std::array<std::uint8_t, protocol::kMagicPosition + 1> head{};
  if (position > 0) return {};
  ASSIGN_OR_RETURN(const std::size_t got, file.read_at(0, head));
  if (got < head.size()) return {};
  const auto size = base::load_be<std::int32_t>(head.data() + 8);
  if (head.back() > 1 || size < kLeastOldMessage) return {};
  return std::unexpected(
      runtime::IoError{EPROTONOSUPPORT, fmt::format("message format v{} in {}", int{head.back()}, file.path())});
}

// Why the batch cannot stand there; empty where it can.
std::string fault_of(const BatchPlace& place, std::span<const std::uint8_t> bytes, std::int64_t next_offset,
                     std::int32_t leader_epoch, BatchValidator validate) {
  if (place.base_offset < next_offset)
    return fmt::format("offset {} where {} or more is expected", place.base_offset, next_offset);
  if (place.leader_epoch >= 0 && place.leader_epoch < leader_epoch)
    return fmt::format("leader epoch {} behind {}", place.leader_epoch, leader_epoch);
  if (!validate(bytes)) return "the checksum is wrong";
  return {};
}

}  // namespace

runtime::IoResult<bool> SegmentRecovery::adopt(const SegmentListing& listing) {
  Segment& s = segment_;
  runtime::FileSystem& files = s.home_->context.files;
  const std::uint64_t size = listing.log.value_or(0);
  if (size > std::numeric_limits<std::int32_t>::max())
    return std::unexpected(runtime::IoError{EFBIG, "open " + s.path(SegmentFile::log)});
  s.size_bytes_ = static_cast<std::uint32_t>(size);
  if (!listing.offset_index || !listing.time_index) return size == 0;

  const std::string offset_path = s.path(SegmentFile::offset_index);
  ASSIGN_OR_RETURN(const auto last_position, last_entry<OffsetIndexEntry>(files, offset_path, *listing.offset_index));
  if (!s.offset_index_.adopt(*listing.offset_index, last_position.data(), s.size_bytes_)) return false;
  const std::string time_path = s.path(SegmentFile::time_index);
  ASSIGN_OR_RETURN(const auto last_timestamp, last_entry<TimeIndexEntry>(files, time_path, *listing.time_index));
  if (!s.time_index_.adopt(*listing.time_index, last_timestamp.data())) return false;
  s.max_timestamp_ = s.time_index_.last_timestamp();
  s.offset_of_max_timestamp_ = s.time_index_.last_offset();
  const std::uint64_t aborted = listing.transaction_index.value_or(0);
  if (aborted % kTxnIndexEntrySize != 0) return false;
  s.aborted_count_ = static_cast<std::uint32_t>(aborted / kTxnIndexEntrySize);
  return true;
}

runtime::IoResult<SegmentRecovery::Rebuilt> SegmentRecovery::rebuild(const RebuildOptions& options,
                                                                     const Visitor& visit) {
  Segment& s = segment_;
  LogContext& context = s.home_->context;
  const std::string log_path = s.path(SegmentFile::log);
  ASSIGN_OR_RETURN(const std::shared_ptr<runtime::File> file,
                   context.files.open(log_path, runtime::OpenMode::read_write));
  ASSIGN_OR_RETURN(const std::uint64_t file_size, file->size());
  TRY(context.files.remove(s.path(SegmentFile::transaction_index)));
  s.offset_index_ = OffsetIndex(s.base_offset_);
  s.time_index_ = TimeIndex(s.base_offset_);
  s.size_bytes_ = s.bytes_since_index_entry_ = s.aborted_count_ = 0;
  s.first_timestamp_ = s.max_timestamp_ = -1;
  s.offset_of_max_timestamp_ = s.base_offset_;

  Rebuilt rebuilt{
      .next_offset = options.next_offset, .leader_epoch = options.leader_epoch, .bytes_cut = 0, .why_cut = {}};
  BatchScanner scanner(file, 0, options.size, BatchScanner::What::whole, Blocking::allowed);
  while (true) {
    auto next = scanner.next();
    if (!next) {
      if (next.error().kind == ReadFault::Kind::io) return std::unexpected(as_io_error(std::move(next).error()));
      TRY(refuse_old_format(*file, scanner.position()));
      rebuilt.why_cut = std::move(next.error().io.what);
      break;
    }
    if (!*next) break;
    const BatchPlace& place = **next;
    rebuilt.why_cut = fault_of(place, scanner.bytes(), rebuilt.next_offset, rebuilt.leader_epoch, context.validate);
    if (!rebuilt.why_cut.empty()) break;
    // Kafka would split such a segment; what we wrote has none. Cutting it would lose sound records.
    if (!s.offset_index_.can_hold(place.last_offset))
      return std::unexpected(runtime::IoError{EOVERFLOW, "offset too far from the base offset in " + log_path});
    TRY(visit(place, scanner.bytes()));
    s.note(protocol::BatchView(scanner.bytes().data()), options.now_ms);
    s.write_full_indexes();
    rebuilt.next_offset = place.last_offset + 1;
    if (place.leader_epoch >= 0) rebuilt.leader_epoch = place.leader_epoch;
  }
  rebuilt.bytes_cut = file_size - s.size_bytes_;
  if (rebuilt.bytes_cut > 0 && !options.may_cut) {
    for (const SegmentFile index : {SegmentFile::offset_index, SegmentFile::time_index, SegmentFile::transaction_index})
      TRY(context.files.remove(s.path(index)));
    return std::unexpected(runtime::IoError{EBADMSG, rebuilt.why_cut + ", which had been synced, in " + log_path});
  }
  if (rebuilt.bytes_cut > 0) TRY(file->truncate(s.size_bytes_));
  TRY(s.finish_indexes());
  return rebuilt;
}

runtime::IoResult<void> SegmentRecovery::walk_headers(std::uint32_t from, const Visitor& visit) {
  if (segment_.empty()) return {};
  ASSIGN_OR_RETURN(const std::shared_ptr<runtime::File> file,
                   segment_.home_->context.files.open(segment_.path(SegmentFile::log), runtime::OpenMode::read));
  BatchScanner scanner(file, from, segment_.size_bytes_, BatchScanner::What::headers, Blocking::allowed);
  while (true) {
    auto next = scanner.next();
    if (!next) return std::unexpected(as_io_error(std::move(next).error()));
    if (!*next) return {};
    if (protocol::BatchView(scanner.bytes().data()).is_control()) {
      auto whole = scanner.read_whole(**next);
      if (!whole) return std::unexpected(as_io_error(std::move(whole).error()));
      TRY(visit(**next, *whole));
    } else {
      TRY(visit(**next, scanner.bytes()));
    }
  }
}

runtime::IoResult<std::uint32_t> SegmentRecovery::position_near_end(std::uint64_t entries) {
  constexpr std::uint64_t kEntryBytes = 8;  // relative offset, position
  Segment& s = segment_;
  runtime::FileSystem& files = s.home_->context.files;
  const std::string path = s.path(SegmentFile::offset_index);
  ASSIGN_OR_RETURN(const bool there, files.exists(path));
  if (!there) return 0;
  ASSIGN_OR_RETURN(const std::shared_ptr<runtime::File> file, files.open(path, runtime::OpenMode::read));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  const std::uint64_t count = size / kEntryBytes;
  if (count <= entries) return 0;
  std::array<std::uint8_t, kEntryBytes> entry{};
  ASSIGN_OR_RETURN(const std::size_t read, file->read_at((count - entries) * kEntryBytes, entry));
  const auto position = base::load_be<std::uint32_t>(entry.data() + 4);
  return read == entry.size() && position < s.size_bytes_ ? position : 0;
}

runtime::IoResult<std::optional<std::int64_t>> SegmentRecovery::read_ends() {
  Segment& s = segment_;
  if (s.empty()) return s.base_offset_;
  ASSIGN_OR_RETURN(const std::shared_ptr<runtime::File> file,
                   s.home_->context.files.open(s.path(SegmentFile::log), runtime::OpenMode::read));
  const auto scan = [&](std::uint32_t from) {
    return BatchScanner(file, from, s.size_bytes_, BatchScanner::What::headers, Blocking::allowed);
  };
  std::int64_t next_offset = s.base_offset_;
  BatchScanner tail = scan(s.offset_index_.last_position());
  while (true) {
    auto next = tail.next();
    if (!next) {
      if (next.error().kind == ReadFault::Kind::io) return std::unexpected(as_io_error(std::move(next).error()));
      return std::nullopt;
    }
    if (!*next) break;
    if ((*next)->base_offset < next_offset) return std::nullopt;
    next_offset = (*next)->last_offset + 1;
    if ((*next)->position == 0) s.first_timestamp_ = (*next)->max_timestamp;
    if ((*next)->max_timestamp > s.max_timestamp_) {
      s.max_timestamp_ = (*next)->max_timestamp;
      s.offset_of_max_timestamp_ = (*next)->last_offset;
    }
  }
  if (s.offset_index_.last_position() > 0) {
    BatchScanner head = scan(0);
    auto first = head.next();
    if (!first && first.error().kind == ReadFault::Kind::io)
      return std::unexpected(as_io_error(std::move(first).error()));
    // Without it the segment rolls by the clock. Damage there is for those who read it to meet.
    if (first && *first) s.first_timestamp_ = (*first)->max_timestamp;
  }
  return next_offset;
}

}  // namespace thalweg::storage
