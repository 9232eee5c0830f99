// A disk without room, for a process that is started with this library in LD_PRELOAD: while the file that
// THALWEG_FULL_DISK names exists, a write to a regular file that needs new room fails with ENOSPC. What such a write
// could still have put down is written first and told, as file systems do: a call that wants much comes back short, the
// next one fails. Writes over what a file has already go through, and so does everything once the file is gone.
#include <dlfcn.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <vector>

namespace {

constexpr std::size_t kBlock = 4096;

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

bool full() {
  static const char* const path = std::getenv("THALWEG_FULL_DISK");
  const int saved = errno;
  const bool there = path != nullptr && ::access(path, F_OK) == 0;
  errno = saved;
  return there;
}

// How many of `size` bytes at `position` find room; all of them on a disk that is not full and in what is no file.
//   descriptor   a negative position stands for where the descriptor is, which is taken to be the end
std::size_t room_for(int descriptor, off_t position, std::size_t size) {
  struct stat info{};
  if (size == 0 || !full() || ::fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode)) return size;
  // The rest of the last block is the file's own. A file with holes has less than its size says.
  const auto held = std::min<std::size_t>((info.st_size + kBlock - 1) / kBlock * kBlock, info.st_blocks * 512);
  const auto start = static_cast<std::size_t>(position < 0 ? info.st_size : position);
  return start >= held ? 0 : std::min(size, held - start);
}

ssize_t no_room() {
  errno = ENOSPC;
  return -1;
}

}  // namespace

extern "C" {

ssize_t pwritev64(int descriptor, const iovec* pieces, int count, off_t position) {
  static auto* const call = next<ssize_t(int, const iovec*, int, off_t)>("pwritev64");
  std::size_t size = 0;
  for (int i = 0; i < count; ++i) size += pieces[i].iov_len;
  std::size_t room = room_for(descriptor, position, size);
  if (room == size) return call(descriptor, pieces, count, position);
  if (room == 0) return no_room();
  std::vector<iovec> fitting;
  for (int i = 0; i < count && room > 0; ++i) {
    fitting.push_back({pieces[i].iov_base, std::min(room, pieces[i].iov_len)});
    room -= fitting.back().iov_len;
  }
  return call(descriptor, fitting.data(), static_cast<int>(fitting.size()), position);
}

ssize_t pwritev(int descriptor, const iovec* pieces, int count, off_t position) {
  return pwritev64(descriptor, pieces, count, position);
}

ssize_t pwrite64(int descriptor, const void* from, size_t size, off_t position) {
  static auto* const call = next<ssize_t(int, const void*, size_t, off_t)>("pwrite64");
  const std::size_t room = room_for(descriptor, position, size);
  return room == 0 && size > 0 ? no_room() : call(descriptor, from, room, position);
}

ssize_t pwrite(int descriptor, const void* from, size_t size, off_t position) {
  return pwrite64(descriptor, from, size, position);
}

ssize_t write(int descriptor, const void* from, size_t size) {
  static auto* const call = next<ssize_t(int, const void*, size_t)>("write");
  const std::size_t room = room_for(descriptor, -1, size);
  return room == 0 && size > 0 ? no_room() : call(descriptor, from, room);
}

int fallocate64(int descriptor, int mode, off_t position, off_t size) {
  static auto* const call = next<int(int, int, off_t, off_t)>("fallocate64");
  const auto wanted = static_cast<std::size_t>(size);
  if (mode == 0 && room_for(descriptor, position, wanted) < wanted) return static_cast<int>(no_room());
  return call(descriptor, mode, position, size);
}

int fallocate(int descriptor, int mode, off_t position, off_t size) {
  return fallocate64(descriptor, mode, position, size);
}

}  // extern "C"
