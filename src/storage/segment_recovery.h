// SegmentRecovery: fills a Segment from its files: by what the directory's listing and the ends of the indexes say, or
// by walking every batch. Opens files by itself and leaves the caches of the core alone, so it may run on a pool.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "storage/segment.h"

namespace thalweg::storage {

// The files of one segment, as listed: their sizes in bytes, nothing where a file is missing.
struct SegmentListing {
  std::optional<std::uint64_t> log;
  std::optional<std::uint64_t> offset_index;
  std::optional<std::uint64_t> time_index;
  std::optional<std::uint64_t> transaction_index;
};

class SegmentRecovery {
 public:
  explicit SegmentRecovery(Segment& segment) : segment_(segment) {}

  // Takes over what the files say, without reading the log. False where an index is missing or cannot be of this log:
  // then rebuild().
  runtime::IoResult<bool> adopt(const SegmentListing& listing);

  // Looks at a sound batch; the bytes are whole.
  using Visitor = std::function<runtime::IoResult<void>(const BatchPlace&, std::span<const std::uint8_t>)>;
  struct RebuildOptions {
    std::uint32_t size = 0;          // of the `.log` file; what is behind is cut off
    std::int64_t next_offset = 0;    // no batch may begin before it
    std::int32_t leader_epoch = -1;  // nor be of an earlier epoch
    std::int64_t now_ms = 0;
    bool may_cut = false;  // else a batch that is not sound is an error, and no index is left behind
  };
  struct Rebuilt {
    std::int64_t next_offset = 0;
    std::int32_t leader_epoch = -1;
    std::uint64_t bytes_cut = 0;
    std::string why_cut;
  };
  // Walks the batches from the start, checks each and shows it to the visitor; cuts the file before the first that is
  // not sound. Writes both indexes anew, the last entry of the time index included; the transaction index is emptied,
  // to be filled by the visitor.
  runtime::IoResult<Rebuilt> rebuild(const RebuildOptions& options, const Visitor& visit);

  // Walks the headers of [from, end of the segment). For control batches the bytes are whole.
  runtime::IoResult<void> walk_headers(std::uint32_t from, const Visitor& visit);
  // Where a batch begins, as many index entries before the end; 0 where the index has no more than that. Reads the
  // index file, not the index cache, which belongs to the segment's core.
  runtime::IoResult<std::uint32_t> position_near_end(std::uint64_t entries);
  // Finds the offset behind the last batch and the timestamp of the first, without walking more than the index leaves
  // open. Nothing where the batches there are not sound.
  runtime::IoResult<std::optional<std::int64_t>> read_ends();

 private:
  Segment& segment_;
};

}  // namespace thalweg::storage
