// RecentBatches: where the last batches of the active segment begin, so that consumers at the tail need neither the
// index nor the disk. Takes no memory until the first append; then grows to 64 entries of eight bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace thalweg::storage {

class RecentBatches {
 public:
  static constexpr std::size_t kMost = 64;

  struct Place {
    std::int64_t base_offset = 0;
    std::uint32_t position = 0;  // bytes
    std::uint32_t size = 0;      // bytes
  };

  // Forgets everything; what follows is of the segment with this base offset.
  void reset(std::int64_t segment_base_offset) {
    entries_ = {};
    oldest_ = 0;
    segment_base_offset_ = segment_base_offset;
  }
  // Notes the batch that was appended at `position`, behind all others.
  void add(std::int64_t base_offset, std::uint32_t position) {
    const Entry entry{static_cast<std::uint32_t>(base_offset - segment_base_offset_), position};
    if (entries_.size() < kMost) {
      entries_.push_back(entry);
      return;
    }
    entries_[oldest_] = entry;
    oldest_ = (oldest_ + 1) % kMost;
  }
  // The batch that holds `offset`, which is below the log end; nothing where it is older than what is kept. The end of
  // the newest batch is the segment's size.
  [[nodiscard]] std::optional<Place> find(std::int64_t offset, std::uint32_t segment_size) const {
    if (entries_.empty() || offset < segment_base_offset_ + at(0).relative_offset) return std::nullopt;
    std::size_t low = 0;  // at(low) begins at or before the offset
    for (std::size_t high = entries_.size(); high - low > 1;) {
      const std::size_t middle = low + (high - low) / 2;
      (segment_base_offset_ + at(middle).relative_offset <= offset ? low : high) = middle;
    }
    const std::uint32_t end = low + 1 < entries_.size() ? at(low + 1).position : segment_size;
    return Place{segment_base_offset_ + at(low).relative_offset, at(low).position, end - at(low).position};
  }

 private:
  struct Entry {
    std::uint32_t relative_offset;
    std::uint32_t position;
  };
  [[nodiscard]] const Entry& at(std::size_t n) const { return entries_[(oldest_ + n) % entries_.size()]; }

  std::vector<Entry> entries_;  // a ring once it is full
  std::size_t oldest_ = 0;
  std::int64_t segment_base_offset_ = 0;
};

}  // namespace thalweg::storage
