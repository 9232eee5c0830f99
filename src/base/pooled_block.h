// The size of the blocks that base::Buffer keeps for the next who wants one: what is read from sockets comes in such.
#pragma once

#include <cstddef>

namespace thalweg::base {

inline constexpr std::size_t kPooledBlockBytes = 64 * 1024;

}  // namespace thalweg::base
