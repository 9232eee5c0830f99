// The volume that a folder is on: how large it is. For what people are shown; what the broker decides by, it asks the
// injected FileSystem.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/file.h"

namespace thalweg::runtime {

struct Volume {
  std::uint64_t total_bytes = 0;
  std::uint64_t usable_bytes = 0;  // for this process
};

// Of the machine; an error for a folder that only a simulation has. Blocks.
IoResult<Volume> volume_of(const std::string& directory);

}  // namespace thalweg::runtime
