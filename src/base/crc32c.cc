#include "base/crc32c.h"

#include <isa-l/crc.h>

#include <algorithm>

namespace thalweg::base {

std::uint32_t crc32c(std::span<const std::uint8_t> data, std::uint32_t seed) {
  // ISA-L takes an int length and leaves both inversions to the caller.
  std::uint32_t crc = ~seed;
  constexpr std::size_t kMost = 1U << 30;
  while (!data.empty()) {
    const std::size_t n = std::min(data.size(), kMost);
    crc = crc32_iscsi(const_cast<unsigned char*>(data.data()), static_cast<int>(n), crc);
    data = data.subspan(n);
  }
  return ~crc;
}

}  // namespace thalweg::base
