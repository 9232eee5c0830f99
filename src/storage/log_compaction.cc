// What a compaction asks of a Log: which segments there are, and to take what it has made of them.

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/check.h"
#include "storage/log.h"
#include "storage/segment_recovery.h"

namespace thalweg::storage {

std::vector<CleanableSegment> Log::cleanable_segments() const {
  std::vector<CleanableSegment> cleanable;
  for (std::size_t i = 0; i + 1 < segments_.size() && end_offset_of(i) <= closed_durable_; ++i) {
    const Segment& segment = *segments_[i];
    cleanable.push_back({.base_offset = segment.base_offset(),
                         .end_offset = end_offset_of(i),
                         .size_bytes = segment.size_bytes(),
                         .index_bytes = segment.index_bytes(),
                         .aborted_count = segment.aborted_count(),
                         .largest_timestamp = segment.largest_timestamp(),
                         .earliest_timestamp = segment.first_timestamp()});
  }
  return cleanable;
}

runtime::IoResult<DeletedSegments> Log::replace_segments(const CleanedSegment& cleaned) {
  const std::size_t first = segment_of(cleaned.base_offset);
  const std::size_t count = cleaned.replaces.size();
  CHECK(count > 0 && first + count < segments_.size(), "closed segments are replaced");
  for (std::size_t i = 0; i < count; ++i)
    CHECK(segments_[first + i]->base_offset() == cleaned.replaces[i], "they have stood still meanwhile");

  DeletedSegments deleted;
  for (std::size_t i = first; i < first + count; ++i) {
    // The state of the producers before the new segment is what it was before the first of the old ones.
    deleted.bytes += segments_[i]->size_bytes();
    TRY(retire_segment(*segments_[i], deleted, i == first ? Snapshot::stays : Snapshot::goes));
    ++deleted.segments;
  }
  ++entries_version_;
  auto segment = std::make_unique<Segment>(home_, cleaned.base_offset, segments_[first]->created_ms());
  // The `.log` file first: as long as that is not in its place, a restart takes the indexes of this name for old ones.
  for (const SegmentFile file :
       {SegmentFile::log, SegmentFile::offset_index, SegmentFile::time_index, SegmentFile::transaction_index}) {
    if (file == SegmentFile::transaction_index && cleaned.transaction_index_bytes == 0) continue;
    const std::string path = segment->path(file);
    TRY(home_.context.files.rename(path + std::string(kSwapSuffix), path));
  }
  const std::int64_t modified_ms = segments_[first + count - 1]->modified_ms();
  ASSIGN_OR_RETURN(const bool sound,
                   SegmentRecovery(*segment).adopt({.log = cleaned.log_bytes,
                                                    .offset_index = cleaned.offset_index_bytes,
                                                    .time_index = cleaned.time_index_bytes,
                                                    .transaction_index = cleaned.transaction_index_bytes}));
  if (!sound) return std::unexpected(runtime::IoError{EBADMSG, "the indexes of " + segment->path(SegmentFile::log)});
  segment->set_modified_ms(modified_ms);
  segments_[first] = std::move(segment);
  segments_.erase(segments_.begin() + static_cast<std::ptrdiff_t>(first) + 1,
                  segments_.begin() + static_cast<std::ptrdiff_t>(first + count));
  return deleted;
}

}  // namespace thalweg::storage
