// CRC32C (Castagnoli), as record batches and files use it.
#pragma once

#include <cstdint>
#include <span>

namespace thalweg::base {

// The CRC32C of `data`; `seed` is the CRC of what came before, to go on from there (0 at the start).
std::uint32_t crc32c(std::span<const std::uint8_t> data, std::uint32_t seed = 0);

}  // namespace thalweg::base
