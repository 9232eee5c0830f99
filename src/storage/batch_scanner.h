// BatchScanner: walks the record batches of a `.log` file by their headers, without the records, or with them.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "protocol/batch_view.h"
#include "storage/read_fault.h"

namespace thalweg::storage {

// A batch and where it is.
struct BatchPlace {
  std::uint32_t position = 0;  // bytes
  std::uint32_t size = 0;      // bytes
  std::int64_t base_offset = 0;
  std::int64_t last_offset = 0;
  std::int64_t max_timestamp = -1;
  std::int32_t leader_epoch = -1;
};

// The smallest value of a header's batch length: a batch without records.
inline constexpr std::int32_t kLeastBatchLength =
    static_cast<std::int32_t>(protocol::kBatchHeaderSize - protocol::kLogOverhead);

class BatchScanner {
 public:
  enum class What : std::uint8_t {
    headers,  // bytes() are the header; reads 4 KiB at a time and skips over the records
    whole,    // bytes() are the whole batch; reads the file from front to back, 1 MiB at a time
  };
  // Walks [position, end) of the file. `position` is where a batch begins.
  BatchScanner(std::shared_ptr<runtime::File> file, std::uint32_t position, std::uint32_t end, What what,
               Blocking blocking)
      : file_(std::move(file)), next_(position), end_(end), what_(what), blocking_(blocking) {}

  // The next batch, or nothing at the end. Corrupt where what follows is no batch of format v2, or is cut off.
  ReadOutcome<std::optional<BatchPlace>> next();
  // Of the batch that next() has given last; valid until it is called again.
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return bytes_; }
  // Reads the batch that next() has given last with its records, where the scanner walks headers.
  ReadOutcome<std::vector<std::uint8_t>> read_whole(const BatchPlace& place);
  // Where the batch after that begins: everything before it is sound.
  [[nodiscard]] std::uint32_t position() const { return next_; }

 private:
  // Makes [next_, next_ + size) available in memory; the span is shorter only at the end of the file.
  ReadOutcome<std::span<const std::uint8_t>> fill(std::size_t size);
  ReadOutcome<std::size_t> read(std::uint64_t position, std::span<std::uint8_t> into);

  std::shared_ptr<runtime::File> file_;
  std::uint32_t next_;
  std::uint32_t end_;
  What what_;
  Blocking blocking_;
  std::span<const std::uint8_t> bytes_;
  std::uint32_t chunk_position_ = 0;  // what small_ or large_ holds
  std::uint32_t chunk_size_ = 0;
  std::array<std::uint8_t, 4096> small_;
  std::vector<std::uint8_t> large_;
};

// Reads a range of a file: all of it, or a fault. The bytes asked for must be within the file.
ReadOutcome<void> read_exactly(const std::shared_ptr<runtime::File>& file, std::uint64_t position,
                               std::span<std::uint8_t> into, Blocking blocking);

}  // namespace thalweg::storage
