#include "storage/batch_check.h"

#include <fmt/format.h>

#include "base/crc32c.h"
#include "protocol/batch_view.h"
#include "storage/batch_scanner.h"

namespace thalweg::storage {

std::optional<UnsoundBatch> find_unsound_batch(std::span<const std::uint8_t> bytes) {
  for (std::size_t at = 0; bytes.size() - at >= protocol::kBatchHeaderSize;) {
    const protocol::BatchView batch(bytes.data() + at);
    const auto unsound = [&](std::string what) {
      return UnsoundBatch{.position = at, .base_offset = batch.base_offset(), .what = std::move(what)};
    };
    if (batch.magic() != 2) return unsound(fmt::format("magic {}", int{batch.magic()}));
    if (batch.batch_length() < kLeastBatchLength) return unsound(fmt::format("batch length {}", batch.batch_length()));
    if (batch.size_bytes() > bytes.size() - at) return std::nullopt;
    const std::uint32_t crc = base::crc32c(
        bytes.subspan(at + protocol::kAttributesPosition, batch.size_bytes() - protocol::kAttributesPosition));
    if (crc != batch.crc())
      return unsound(fmt::format("CRC {:08x} is stored, the bytes give {:08x}", batch.crc(), crc));
    at += batch.size_bytes();
  }
  return std::nullopt;
}

}  // namespace thalweg::storage
