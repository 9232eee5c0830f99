#include "storage/read_fault.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

namespace thalweg::storage {

runtime::IoError as_io_error(ReadFault fault) {
  if (fault.kind == ReadFault::Kind::corrupt) fault.io.error_number = EBADMSG;
  return std::move(fault.io);
}

runtime::IoResult<void> warm(const FileRange& range) {
  constexpr std::uint64_t kChunk = std::uint64_t{256} << 10;
  std::vector<std::uint8_t> scratch(std::min(range.size, kChunk));
  for (std::uint64_t done = 0; done < range.size;) {
    const std::uint64_t size = std::min(range.size - done, kChunk);
    ASSIGN_OR_RETURN(const std::size_t got, range.file->read_at(range.position + done, std::span(scratch).first(size)));
    if (got == 0) break;
    done += got;
  }
  return {};
}

bool seems_cached(const FileRange& range) {
  constexpr std::uint64_t kStep = std::uint64_t{128} << 10;
  if (range.size == 0) return true;
  std::array<std::uint8_t, 1> byte;
  const auto cached = [&](std::uint64_t at) {
    const auto got = range.file->read_cached_at(range.position + at, byte);
    return got.has_value() && *got >= 0;
  };
  for (std::uint64_t at = 0; at < range.size; at += kStep)
    if (!cached(at)) return false;
  return cached(range.size - 1);
}

}  // namespace thalweg::storage
