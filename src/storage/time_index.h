// TimeIndex: the `.timeindex` file of a segment, from timestamps to offsets.
//
//   0  largest timestamp of the segment up to here                                        int64
//   8  offset of the last record of the batch it is in, less the segment's base offset    int32
//
// Timestamps grow from entry to entry. The last entry of a segment that is no longer written to holds its largest
// timestamp.
#pragma once

#include <cstdint>

#include "base/endian.h"
#include "storage/index_entries.h"

namespace thalweg::storage {

struct TimeIndexEntry {
  static constexpr std::size_t kSize = 12;
  std::int64_t timestamp = -1;
  std::int32_t relative_offset = 0;

  void encode(std::uint8_t* out) const {
    base::store_be(out, timestamp);
    base::store_be(out + 8, relative_offset);
  }
  static TimeIndexEntry decode(const std::uint8_t* in) {
    return {base::load_be<std::int64_t>(in), base::load_be<std::int32_t>(in + 8)};
  }
};

class TimeIndex {
 public:
  explicit TimeIndex(std::int64_t base_offset) : base_offset_(base_offset) {}

  // Adds an entry where the timestamp is larger than that of the last one.
  void maybe_append(std::int64_t timestamp, std::int64_t offset);
  // Whether another entry, with the one that closes the segment, would make the file larger than `max_bytes`.
  [[nodiscard]] bool is_full(std::int32_t max_bytes) const {
    return count() + 1 >= static_cast<std::uint32_t>(max_bytes) / TimeIndexEntry::kSize;
  }
  [[nodiscard]] std::uint32_t count() const { return entries_.count(); }
  // The offset of the last entry whose timestamp is at most `timestamp`: no batch before its own is as new. The base
  // offset where there is no such entry.
  ReadOutcome<std::int64_t> lookup(LogContext& context, std::int64_t timestamp, Blocking blocking, const auto& path) {
    const auto at_or_before = [&](const TimeIndexEntry& entry) { return entry.timestamp <= timestamp; };
    ASSIGN_OR_RETURN(const std::uint32_t n, entries_.count_where(context, blocking, at_or_before, path));
    if (n == 0) return base_offset_;
    ASSIGN_OR_RETURN(const TimeIndexEntry entry, entries_.at(n - 1, context, blocking, path));
    return base_offset_ + entry.relative_offset;
  }
  [[nodiscard]] std::int64_t last_timestamp() const { return entries_.empty() ? -1 : entries_.last().timestamp; }
  [[nodiscard]] std::int64_t last_offset() const {
    return entries_.empty() ? base_offset_ : base_offset_ + entries_.last().relative_offset;
  }

  // See OffsetIndex::adopt.
  bool adopt(std::uint64_t size_bytes, const std::uint8_t* last_entry);
  IndexEntries<TimeIndexEntry>& entries() { return entries_; }
  [[nodiscard]] const IndexEntries<TimeIndexEntry>& entries() const { return entries_; }

 private:
  std::int64_t base_offset_;
  IndexEntries<TimeIndexEntry> entries_;
};

}  // namespace thalweg::storage
