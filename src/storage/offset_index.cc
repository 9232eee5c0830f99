#include "storage/offset_index.h"

#include "base/check.h"

namespace thalweg::storage {

void OffsetIndex::append(std::int64_t offset, std::uint32_t position) {
  CHECK(can_hold(offset), "a segment rolls before its offsets grow too large");
  const auto relative = static_cast<std::int32_t>(offset - base_offset_);
  CHECK(entries_.empty() || (relative > entries_.last().relative_offset && position > entries_.last().position),
        "the log appends in order");
  entries_.push_back({relative, position});
}

bool OffsetIndex::adopt(std::uint64_t size_bytes, const std::uint8_t* last_entry, std::uint32_t log_size) {
  if (size_bytes % OffsetIndexEntry::kSize != 0 || size_bytes > INT32_MAX) return false;
  if (size_bytes == 0) return true;
  const OffsetIndexEntry last = OffsetIndexEntry::decode(last_entry);
  // A file that was preallocated and never cut ends in zeros. Only the first batch is at position 0, and has no entry.
  if (last.relative_offset < 0 || last.position == 0 || last.position >= log_size) return false;
  entries_.set_file(static_cast<std::uint32_t>(size_bytes / OffsetIndexEntry::kSize), last);
  return true;
}

}  // namespace thalweg::storage
