#include "storage/batch_scanner.h"

#include <algorithm>
#include <string>

namespace thalweg::storage {

namespace {

constexpr std::size_t kLargeChunk = std::size_t{1} << 20;
// What a scan that meets bytes on disk asks to be read ahead.
constexpr std::uint64_t kReadAhead = std::uint64_t{128} << 10;

std::string at(const runtime::File& file, std::uint64_t position) {
  return file.path() + " at " + std::to_string(position);
}

}  // namespace

ReadOutcome<std::optional<BatchPlace>> BatchScanner::next() {
  if (next_ >= end_) return std::nullopt;
  ASSIGN_OR_RETURN(std::span<const std::uint8_t> there, fill(protocol::kBatchHeaderSize));
  if (there.size() < protocol::kBatchHeaderSize)
    return std::unexpected(ReadFault::corrupt("batch header cut off in " + at(*file_, next_)));
  const protocol::BatchView header(there.data());
  if (header.batch_length() < kLeastBatchLength)
    return std::unexpected(
        ReadFault::corrupt("batch length " + std::to_string(header.batch_length()) + " in " + at(*file_, next_)));
  if (header.magic() != 2)
    return std::unexpected(ReadFault::corrupt("magic " + std::to_string(header.magic()) + " in " + at(*file_, next_)));
  if (header.size_bytes() > end_ - next_)
    return std::unexpected(ReadFault::corrupt("batch cut off in " + at(*file_, next_)));
  if (header.last_offset_delta() < 0 || header.base_offset() < 0 ||
      header.base_offset() > INT64_MAX - header.last_offset_delta() - 1)
    return std::unexpected(ReadFault::corrupt("offsets of a batch in " + at(*file_, next_)));
  const BatchPlace place{.position = next_,
                         .size = static_cast<std::uint32_t>(header.size_bytes()),
                         .base_offset = header.base_offset(),
                         .last_offset = header.last_offset(),
                         .max_timestamp = header.max_timestamp(),
                         .leader_epoch = header.leader_epoch()};
  if (what_ == What::whole) {
    ASSIGN_OR_RETURN(there, fill(place.size));
    if (there.size() < place.size) return std::unexpected(ReadFault::corrupt("batch cut off in " + at(*file_, next_)));
    bytes_ = there.first(place.size);
  } else {
    bytes_ = there.first(protocol::kBatchHeaderSize);
  }
  next_ += place.size;
  return place;
}

ReadOutcome<std::vector<std::uint8_t>> BatchScanner::read_whole(const BatchPlace& place) {
  std::vector<std::uint8_t> batch(place.size);
  TRY(read_exactly(file_, place.position, batch, blocking_));
  return batch;
}

ReadOutcome<std::span<const std::uint8_t>> BatchScanner::fill(std::size_t size) {
  std::uint8_t* chunk = what_ == What::whole ? large_.data() : small_.data();
  if (next_ < chunk_position_ || next_ + size > chunk_position_ + chunk_size_) {
    std::size_t wanted = small_.size();
    if (what_ == What::whole) {
      wanted = std::max(kLargeChunk, size);
      if (large_.size() < std::min<std::size_t>(wanted, end_ - next_))
        large_.resize(std::min<std::size_t>(wanted, end_ - next_));
      chunk = large_.data();
    }
    wanted = std::min<std::size_t>(wanted, end_ - next_);
    chunk_size_ = 0;
    ASSIGN_OR_RETURN(const std::size_t got, read(next_, std::span(chunk, wanted)));
    chunk_position_ = next_;
    chunk_size_ = static_cast<std::uint32_t>(got);
  }
  const std::size_t skip = next_ - chunk_position_;
  return std::span<const std::uint8_t>(chunk + skip, std::min(size, chunk_size_ - skip));
}

ReadOutcome<std::size_t> BatchScanner::read(std::uint64_t position, std::span<std::uint8_t> into) {
  if (blocking_ == Blocking::never) {
    const auto cached = file_->read_cached_at(position, into);
    if (!cached) return std::unexpected(ReadFault::of(cached.error()));
    if (*cached < 0) {
      const std::uint64_t size = std::min<std::uint64_t>(kReadAhead, end_ - position);
      return std::unexpected(ReadFault::wait_for({.file = file_, .position = position, .size = size}));
    }
    return static_cast<std::size_t>(*cached);
  }
  auto got = file_->read_at(position, into);
  if (!got) return std::unexpected(ReadFault::of(std::move(got).error()));
  return *got;
}

ReadOutcome<void> read_exactly(const std::shared_ptr<runtime::File>& file, std::uint64_t position,
                               std::span<std::uint8_t> into, Blocking blocking) {
  std::size_t got = 0;
  if (blocking == Blocking::never) {
    const auto cached = file->read_cached_at(position, into);
    if (!cached) return std::unexpected(ReadFault::of(cached.error()));
    if (*cached < 0)
      return std::unexpected(ReadFault::wait_for({.file = file, .position = position, .size = into.size()}));
    got = static_cast<std::size_t>(*cached);
  } else {
    auto read = file->read_at(position, into);
    if (!read) return std::unexpected(ReadFault::of(std::move(read).error()));
    got = *read;
  }
  if (got < into.size()) return std::unexpected(ReadFault::corrupt("file cut off: " + at(*file, position + got)));
  return {};
}

}  // namespace thalweg::storage
