// OffsetIndex: the `.index` file of a segment, from offsets to positions in the `.log` file; sparse, one entry about
// every index.interval.bytes.
//
//   0  offset of the last record of the batch, less the segment's base offset   int32
//   4  position of the batch in the .log file (bytes)                            int32
//
// Offsets grow from entry to entry. An entry's position is where a search for any offset at or after it may begin.
#pragma once

#include <cstdint>
#include <optional>

#include "base/endian.h"
#include "storage/index_entries.h"

namespace thalweg::storage {

struct OffsetIndexEntry {
  static constexpr std::size_t kSize = 8;
  std::int32_t relative_offset = 0;
  std::uint32_t position = 0;

  void encode(std::uint8_t* out) const {
    base::store_be(out, relative_offset);
    base::store_be(out + 4, position);
  }
  static OffsetIndexEntry decode(const std::uint8_t* in) {
    return {base::load_be<std::int32_t>(in), base::load_be<std::uint32_t>(in + 4)};
  }
};

class OffsetIndex {
 public:
  explicit OffsetIndex(std::int64_t base_offset) : base_offset_(base_offset) {}

  // Adds an entry; offset and position must both lie behind those of the last entry.
  void append(std::int64_t offset, std::uint32_t position);
  // Whether another entry would make the file larger than `max_bytes` (segment.index.bytes).
  [[nodiscard]] bool is_full(std::int32_t max_bytes) const {
    return count() >= static_cast<std::uint32_t>(max_bytes) / OffsetIndexEntry::kSize;
  }
  // Whether the offset fits an entry.
  [[nodiscard]] bool can_hold(std::int64_t offset) const {
    return offset >= base_offset_ && offset - base_offset_ <= INT32_MAX;
  }
  [[nodiscard]] std::uint32_t count() const { return entries_.count(); }
  // Where a search for `offset` begins, 0 where no entry is at or before it. `path` makes the file's path.
  ReadOutcome<std::uint32_t> lookup(LogContext& context, std::int64_t offset, Blocking blocking, const auto& path) {
    const auto at_or_before = [&](const OffsetIndexEntry& entry) {
      return base_offset_ + entry.relative_offset <= offset;
    };
    ASSIGN_OR_RETURN(const std::uint32_t n, entries_.count_where(context, blocking, at_or_before, path));
    if (n == 0) return 0;
    ASSIGN_OR_RETURN(const OffsetIndexEntry entry, entries_.at(n - 1, context, blocking, path));
    return entry.position;
  }
  // The offset of the first entry whose position is at or after `position`; nothing where there is none.
  ReadOutcome<std::optional<std::int64_t>> offset_at_or_after(LogContext& context, std::uint64_t position,
                                                              Blocking blocking, const auto& path) {
    const auto before = [&](const OffsetIndexEntry& entry) { return entry.position < position; };
    ASSIGN_OR_RETURN(const std::uint32_t n, entries_.count_where(context, blocking, before, path));
    if (n == count()) return std::nullopt;
    ASSIGN_OR_RETURN(const OffsetIndexEntry entry, entries_.at(n, context, blocking, path));
    return base_offset_ + entry.relative_offset;
  }
  // Position of the last entry, 0 where there is none.
  [[nodiscard]] std::uint32_t last_position() const { return entries_.empty() ? 0 : entries_.last().position; }

  // What can be told from a file of `size_bytes` with these last bytes: takes it over, or false where it breaks the
  // format or says what cannot be of a `.log` file of `log_size` bytes.
  bool adopt(std::uint64_t size_bytes, const std::uint8_t* last_entry, std::uint32_t log_size);
  IndexEntries<OffsetIndexEntry>& entries() { return entries_; }
  [[nodiscard]] const IndexEntries<OffsetIndexEntry>& entries() const { return entries_; }

 private:
  std::int64_t base_offset_;
  IndexEntries<OffsetIndexEntry> entries_;
};

}  // namespace thalweg::storage
