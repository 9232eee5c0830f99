// A disk that is slow to read, for a process that is started with this library in LD_PRELOAD: reads of files that the
// page cache cannot answer take THALWEG_SLOW_READ_MS milliseconds longer (default 20). Reads that it can answer, and
// reads that say that they do not want to wait (RWF_NOWAIT), are left alone, as with a real disk. The kernel is told
// not to read such a file ahead, which would hide most of its reads.
//
// Covered are the calls by which brokers read logs: pread, preadv2 and sendfile. Pages that come in by a mapping are
// not.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <thread>

namespace {

template <class Function>
Function* next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

ssize_t real_preadv2(int descriptor, const iovec* pieces, int count, off_t position, int flags) {
  static auto* const call = next<ssize_t(int, const iovec*, int, off_t, int)>("preadv2");
  return call(descriptor, pieces, count, position, flags);
}

// Before any read, also one that does not wait: it would begin to read ahead and say that nothing is there yet.
void no_read_ahead(int descriptor) { ::posix_fadvise(descriptor, 0, 0, POSIX_FADV_RANDOM); }

// Whether `size` bytes from `position` on are in memory. The first page that is not tells; a range is looked at in
// steps of a page, one byte each.
bool in_memory(int descriptor, off_t position, std::size_t size) {
  constexpr std::size_t kPage = 4096;
  for (std::size_t at = 0; at < size; at += kPage) {
    char byte = 0;
    const iovec piece{&byte, 1};
    const ssize_t n = real_preadv2(descriptor, &piece, 1, position + static_cast<off_t>(at), RWF_NOWAIT);
    if (n < 0) return errno != EAGAIN;  // anything else is for the real call to say
    if (n == 0) return true;            // the end of the file
  }
  return true;
}

void wait_for_disk(int descriptor, off_t position, std::size_t size) {
  static const std::chrono::milliseconds delay{[] {
    const char* text = std::getenv("THALWEG_SLOW_READ_MS");
    return text == nullptr ? 20 : std::atoi(text);
  }()};
  const int saved = errno;
  no_read_ahead(descriptor);
  if (!in_memory(descriptor, position, size)) std::this_thread::sleep_for(delay);
  errno = saved;
}

}  // namespace

extern "C" {

ssize_t pread64(int descriptor, void* into, size_t size, off_t position) {
  static auto* const call = next<ssize_t(int, void*, size_t, off_t)>("pread64");
  wait_for_disk(descriptor, position, size);
  return call(descriptor, into, size, position);
}

ssize_t pread(int descriptor, void* into, size_t size, off_t position) {
  return pread64(descriptor, into, size, position);
}

ssize_t preadv64v2(int descriptor, const iovec* pieces, int count, off_t position, int flags) {
  if ((flags & RWF_NOWAIT) == 0 && position >= 0) {
    std::size_t size = 0;
    for (int i = 0; i < count; ++i) size += pieces[i].iov_len;
    wait_for_disk(descriptor, position, size);
  } else {
    no_read_ahead(descriptor);
  }
  return real_preadv2(descriptor, pieces, count, position, flags);
}

ssize_t preadv2(int descriptor, const iovec* pieces, int count, off_t position, int flags) {
  return preadv64v2(descriptor, pieces, count, position, flags);
}

ssize_t sendfile64(int to, int from, off_t* position, size_t size) {
  static auto* const call = next<ssize_t(int, int, off_t*, size_t)>("sendfile64");
  const off_t start = position != nullptr ? *position : ::lseek(from, 0, SEEK_CUR);
  if (start >= 0) wait_for_disk(from, start, size);
  return call(to, from, position, size);
}

ssize_t sendfile(int to, int from, off_t* position, size_t size) { return sendfile64(to, from, position, size); }

}  // extern "C"
