#include "runtime/volume.h"

#include <sys/statvfs.h>

#include <cerrno>

namespace thalweg::runtime {

IoResult<Volume> volume_of(const std::string& directory) {
  struct statvfs status{};
  if (::statvfs(directory.c_str(), &status) != 0) return std::unexpected(IoError{errno, "statvfs " + directory});
  return Volume{.total_bytes = static_cast<std::uint64_t>(status.f_blocks) * status.f_frsize,
                .usable_bytes = static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize};
}

}  // namespace thalweg::runtime
