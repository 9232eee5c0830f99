// Checks record batches where they stand in memory, as they were read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace thalweg::storage {

// A batch that is not as it was written.
struct UnsoundBatch {
  std::size_t position = 0;  // within the bytes
  std::int64_t base_offset = 0;
  std::string what;
};

// Looks at the batches in `bytes`, one behind the other from the first byte on: their headers and CRCs. What is cut off
// at the end is passed over.
//   returns  the first that is not sound; nothing where all are
std::optional<UnsoundBatch> find_unsound_batch(std::span<const std::uint8_t> bytes);

}  // namespace thalweg::storage
