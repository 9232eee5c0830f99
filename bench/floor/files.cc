#include "floor/files.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace thalweg::floor {

Files::Files(const std::string& folder) : files_(kPartitions) {
  for (Entry& file : files_) {
    file.descriptor = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file.descriptor < 0) throw std::system_error(errno, std::generic_category(), "a file in " + folder);
  }
}

Files::~Files() {
  for (const Entry& file : files_) ::close(file.descriptor);
}

void Files::append(int partition, Frame bytes) {
  Entry& file = files_[static_cast<std::size_t>(partition)];
  while (!bytes.empty()) {
    const ssize_t written = ::pwrite(file.descriptor, bytes.data(), bytes.size(), static_cast<off_t>(file.size));
    if (written < 0) {
      if (errno == EINTR) continue;
      throw std::system_error(errno, std::generic_category(), "pwrite");
    }
    file.size += static_cast<std::uint64_t>(written);
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
  file.dirty = true;
}

void Files::sync() {
  for (Entry& file : files_) {
    if (!file.dirty) continue;
    if (::fdatasync(file.descriptor) != 0) throw std::system_error(errno, std::generic_category(), "fdatasync");
    file.dirty = false;
  }
}

}  // namespace thalweg::floor
