#include "storage/time_index.h"

#include "base/check.h"

namespace thalweg::storage {

void TimeIndex::maybe_append(std::int64_t timestamp, std::int64_t offset) {
  if (timestamp <= last_timestamp()) return;
  CHECK(offset >= last_offset() && offset - base_offset_ <= INT32_MAX, "the log appends in order");
  entries_.push_back({timestamp, static_cast<std::int32_t>(offset - base_offset_)});
}

bool TimeIndex::adopt(std::uint64_t size_bytes, const std::uint8_t* last_entry) {
  if (size_bytes % TimeIndexEntry::kSize != 0 || size_bytes > INT32_MAX) return false;
  if (size_bytes == 0) return true;
  const TimeIndexEntry last = TimeIndexEntry::decode(last_entry);
  if (last.timestamp < 0 || last.relative_offset < 0) return false;
  // A file that was preallocated and never cut ends in zeros; timestamp 0 is possible, but only as the sole entry.
  if (last.timestamp == 0 && size_bytes > TimeIndexEntry::kSize) return false;
  entries_.set_file(static_cast<std::uint32_t>(size_bytes / TimeIndexEntry::kSize), last);
  return true;
}

}  // namespace thalweg::storage
