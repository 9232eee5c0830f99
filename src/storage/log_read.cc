// The lookups of Log: by offset, by timestamp, and the aborted transactions of a range.

#include <algorithm>
#include <utility>

#include "storage/log.h"

namespace thalweg::storage {

namespace {

void set_fault(ReadResult& result, ReadFault fault) {
  if (fault.kind == ReadFault::Kind::cold) {
    result.status = ReadResult::Status::cold;
    result.range = std::move(fault.cold);
    return;
  }
  result.status = ReadResult::Status::failed;
  result.corrupt = fault.kind == ReadFault::Kind::corrupt;
  result.detail = result.corrupt ? std::move(fault.io.what) : fault.io.message();
}

}  // namespace

ReadResult Log::read(std::int64_t offset, const ReadOptions& options) {
  ReadResult result;
  result.log_start_offset = log_start_offset_;
  result.log_end_offset = log_end_offset_;
  if (offset < log_start_offset_ || offset > log_end_offset_) {
    result.status = ReadResult::Status::offset_out_of_range;
    return result;
  }
  const std::int64_t upper = std::min(options.upper_bound_offset, log_end_offset_);
  if (offset >= upper) return result;
  if (auto found = find_range(offset, upper, options, result); !found) set_fault(result, std::move(found).error());
  return result;
}

// Where the batch begins that holds the offset or is the next one behind it; nothing at the end of the segment.
// `recent` is set where it is one of the last appended.
ReadOutcome<std::optional<RecentBatches::Place>> Log::find_batch(std::size_t segment, std::int64_t offset,
                                                                 Blocking blocking, bool* recent) {
  Segment& in = *segments_[segment];
  if (segment + 1 == segments_.size() && offset < log_end_offset_) {
    if (const auto place = recent_.find(offset, in.size_bytes())) {
      *recent = true;
      return place;
    }
  }
  *recent = false;
  ASSIGN_OR_RETURN(const std::optional<BatchPlace> place, in.find_batch(offset, blocking));
  if (!place) return std::nullopt;
  return RecentBatches::Place{.base_offset = place->base_offset, .position = place->position, .size = place->size};
}

ReadOutcome<void> Log::find_range(std::int64_t offset, std::int64_t upper, const ReadOptions& options,
                                  ReadResult& result) {
  for (std::size_t i = segment_of(offset); i < segments_.size() && segments_[i]->base_offset() < upper; ++i) {
    Segment& segment = *segments_[i];
    bool recent = false;
    ASSIGN_OR_RETURN(const auto first, find_batch(i, offset, options.blocking, &recent));
    if (!first) continue;  // a gap up to the next segment
    std::uint64_t end = segment.size_bytes();
    if (upper < end_offset_of(i)) {
      bool ignored = false;
      ASSIGN_OR_RETURN(const auto bound, find_batch(i, upper, options.blocking, &ignored));
      if (bound) end = bound->position;
    }
    if (end <= first->position) return {};
    std::int64_t size = std::max<std::int64_t>(options.max_bytes, 0);
    if (options.at_least_one) size = std::max<std::int64_t>(size, first->size);
    auto file = segment.file();
    if (!file) return std::unexpected(ReadFault::of(std::move(file).error()));
    result.range = {.file = std::move(*file),
                    .position = first->position,
                    .size = std::min<std::uint64_t>(static_cast<std::uint64_t>(size), end - first->position)};
    result.first_batch_offset = first->base_offset;
    result.first_batch_size = first->size;
    result.recent = recent;
    return {};
  }
  return {};
}

ReadOutcome<base::Bytes> Log::read_bytes(const FileRange& range, Blocking blocking) {
  if (range.size == 0) return base::Bytes();
  base::Buffer buffer(range.size);
  TRY(read_exactly(range.file, range.position, std::span(buffer.data(), range.size), blocking));
  return std::move(buffer).freeze(range.size);
}

std::int64_t Log::bytes_between(std::int64_t from_offset, std::int64_t to_offset) const {
  to_offset = std::min(to_offset, log_end_offset_);
  if (from_offset >= to_offset) return 0;
  // Position of the offset, counted from the begin of its segment; without the disk, so the segment's begin where it is
  // not one of the recent batches.
  const auto position = [&](std::size_t segment, std::int64_t offset) -> std::int64_t {
    if (offset >= end_offset_of(segment)) return segments_[segment]->size_bytes();
    if (segment + 1 < segments_.size()) return 0;
    const auto place = recent_.find(offset, active().size_bytes());
    return place ? place->position : 0;
  };
  const std::size_t first = segment_of(from_offset);
  const std::size_t last = segment_of(to_offset);
  std::int64_t bytes = position(last, to_offset) - position(first, from_offset);
  for (std::size_t i = first; i < last; ++i) bytes += segments_[i]->size_bytes();
  return std::max<std::int64_t>(bytes, 0);
}

ReadOutcome<std::optional<TimestampedOffset>> Log::search_segment(Segment& segment, std::int64_t timestamp,
                                                                  const RecordFinder& find, Blocking blocking) {
  ASSIGN_OR_RETURN(BatchScanner scanner, segment.scan_for_timestamp(timestamp, log_start_offset_, blocking));
  while (true) {
    ASSIGN_OR_RETURN(const std::optional<BatchPlace> place, scanner.next());
    if (!place) return std::nullopt;
    if (place->max_timestamp < timestamp || place->last_offset < log_start_offset_) continue;
    ASSIGN_OR_RETURN(const std::vector<std::uint8_t> batch, scanner.read_whole(*place));
    if (!home_.context.validate(batch))
      return std::unexpected(
          ReadFault::corrupt("the checksum is wrong at offset " + std::to_string(place->base_offset) + ", position " +
                             std::to_string(place->position) + " of " + segment.path(SegmentFile::log)));
    if (auto found = find(batch, timestamp, log_start_offset_)) {
      found->leader_epoch = place->leader_epoch;
      return found;
    }
  }
}

ReadOutcome<std::optional<TimestampedOffset>> Log::offset_for_time(std::int64_t timestamp, const RecordFinder& find,
                                                                   Blocking blocking) {
  for (const auto& segment : segments_) {
    if (segment->empty() || segment->max_timestamp() < timestamp) continue;
    ASSIGN_OR_RETURN(const auto found, search_segment(*segment, timestamp, find, blocking));
    if (found) return found;
  }
  return std::nullopt;
}

ReadOutcome<std::optional<TimestampedOffset>> Log::max_timestamp(const RecordFinder& find, Blocking blocking) {
  Segment* newest = nullptr;
  for (const auto& segment : segments_)
    if (!segment->empty() && (newest == nullptr || segment->max_timestamp() > newest->max_timestamp()))
      newest = segment.get();
  if (newest == nullptr || newest->max_timestamp() < 0) return std::nullopt;
  return search_segment(*newest, newest->max_timestamp(), find, blocking);
}

ReadOutcome<std::vector<AbortedTransaction>> Log::aborted_transactions(std::int64_t offset,
                                                                       std::int64_t upper_bound_offset,
                                                                       Blocking blocking) {
  std::vector<AbortedTransaction> aborted;
  for (std::size_t i = segment_of(offset); i < segments_.size(); ++i) {
    ASSIGN_OR_RETURN(const bool complete, segments_[i]->collect_aborted(offset, upper_bound_offset, blocking, aborted));
    if (complete) break;
  }
  return aborted;
}

ReadOutcome<std::int64_t> Log::upper_bound_of(const ReadResult& result, Blocking blocking) {
  if (result.first_batch_offset < 0) return log_end_offset_;
  const std::size_t i = segment_of(result.first_batch_offset);
  ASSIGN_OR_RETURN(const std::optional<std::int64_t> behind,
                   segments_[i]->offset_behind(result.range.position + result.range.size, blocking));
  return behind.value_or(end_offset_of(i));
}

}  // namespace thalweg::storage
