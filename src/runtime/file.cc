#include "runtime/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace thalweg::runtime {

namespace {

std::unexpected<IoError> io_error(int number, std::string_view operation, std::string_view path) {
  std::string what(operation);
  what += ' ';
  what += path;
  return std::unexpected(IoError{number, std::move(what)});
}
std::unexpected<IoError> io_error(std::string_view operation, std::string_view path) {
  return io_error(errno, operation, path);
}

class SystemFile final : public File {
 public:
  SystemFile(int descriptor, std::string path) : descriptor_(descriptor), path_(std::move(path)) {}
  ~SystemFile() override { ::close(descriptor_); }
  SystemFile(const SystemFile&) = delete;
  SystemFile& operator=(const SystemFile&) = delete;

  IoResult<void> write_at(std::uint64_t position, std::span<const std::span<const std::uint8_t>> pieces) override {
    constexpr std::size_t kMostPieces = 64;
    std::array<iovec, kMostPieces> vector;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled below
    while (!pieces.empty()) {
      const std::size_t count = std::min(pieces.size(), kMostPieces);
      std::size_t total = 0;
      for (std::size_t i = 0; i < count; ++i) {
        vector[i] = {const_cast<std::uint8_t*>(pieces[i].data()), pieces[i].size()};
        total += pieces[i].size();
      }
      pieces = pieces.subspan(count);
      iovec* next = vector.data();
      int left = static_cast<int>(count);
      while (total > 0) {
        const ssize_t n = ::pwritev(descriptor_, next, left, static_cast<off_t>(position));
        if (n < 0) {
          if (errno == EINTR) continue;
          return io_error("write", path_);
        }
        position += static_cast<std::uint64_t>(n);
        total -= static_cast<std::size_t>(n);
        auto done = static_cast<std::size_t>(n);
        while (left > 0 && done >= next->iov_len) {
          done -= next->iov_len;
          ++next;
          --left;
        }
        if (left > 0) {
          next->iov_base = static_cast<std::uint8_t*>(next->iov_base) + done;
          next->iov_len -= done;
        }
      }
    }
    return {};
  }

  IoResult<std::size_t> read_at(std::uint64_t position, std::span<std::uint8_t> into) override {
    std::size_t done = 0;
    while (done < into.size()) {
      const ssize_t n =
          ::pread(descriptor_, into.data() + done, into.size() - done, static_cast<off_t>(position + done));
      if (n < 0) {
        if (errno == EINTR) continue;
        return io_error("read", path_);
      }
      if (n == 0) break;
      done += static_cast<std::size_t>(n);
    }
    return done;
  }

  IoResult<ssize_t> read_cached_at(std::uint64_t position, std::span<std::uint8_t> into) override {
    std::size_t done = 0;
    while (done < into.size()) {
      const iovec piece{into.data() + done, into.size() - done};
      const ssize_t n = ::preadv2(descriptor_, &piece, 1, static_cast<off_t>(position + done), RWF_NOWAIT);
      if (n < 0) {
        if (errno == EINTR) continue;
        if (errno == EAGAIN) return -1;
        if (errno == EOPNOTSUPP) {
          // A file system without it (tmpfs on old kernels): it has no disk to wait for that we could tell.
          const auto whole = read_at(position, into);
          if (!whole) return std::unexpected(whole.error());
          return static_cast<ssize_t>(*whole);
        }
        return io_error("read", path_);
      }
      if (n == 0) break;
      done += static_cast<std::size_t>(n);
    }
    return static_cast<ssize_t>(done);
  }

  IoResult<std::uint64_t> size() override {
    struct stat status{};
    if (::fstat(descriptor_, &status) != 0) return io_error("stat", path_);
    return static_cast<std::uint64_t>(status.st_size);
  }

  IoResult<void> truncate(std::uint64_t size) override {
    if (::ftruncate(descriptor_, static_cast<off_t>(size)) != 0) return io_error("truncate", path_);
    return {};
  }

  IoResult<void> sync() override {
    if (::fdatasync(descriptor_) != 0) return io_error("fdatasync", path_);
    return {};
  }

  [[nodiscard]] int descriptor() const override { return descriptor_; }
  [[nodiscard]] const std::string& path() const override { return path_; }

 private:
  int descriptor_;
  std::string path_;
};

// Opens a folder for the length of a call.
class Directory {
 public:
  explicit Directory(const std::string& path) : descriptor_(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {}
  ~Directory() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  [[nodiscard]] int descriptor() const { return descriptor_; }

 private:
  int descriptor_;
};

class SystemFileSystem final : public FileSystem {
 public:
  IoResult<std::shared_ptr<File>> open(const std::string& path, OpenMode mode) override {
    int flags = O_CLOEXEC;
    if (mode == OpenMode::read) flags |= O_RDONLY;
    if (mode == OpenMode::read_write) flags |= O_RDWR;
    if (mode == OpenMode::create) flags |= O_RDWR | O_CREAT;
    const int descriptor = ::open(path.c_str(), flags, 0644);
    if (descriptor < 0) return io_error("open", path);
    return std::make_shared<SystemFile>(descriptor, path);
  }

  IoResult<std::vector<DirectoryEntry>> list(const std::string& directory) override {
    std::vector<DirectoryEntry> entries;
    std::error_code error;
    for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
      DirectoryEntry entry{.name = it->path().filename().string(), .is_directory = false, .size = 0};
      std::error_code gone;  // an entry may vanish between the listing and the look at it
      entry.is_directory = it->is_directory(gone);
      if (!entry.is_directory) entry.size = it->file_size(gone);
      if (!gone) entries.push_back(std::move(entry));
    }
    if (error) return io_error(error.value(), "list", directory);
    std::ranges::sort(entries, {}, &DirectoryEntry::name);
    return entries;
  }

  IoResult<bool> exists(const std::string& path) override {
    struct stat status{};
    if (::stat(path.c_str(), &status) == 0) return true;
    if (errno == ENOENT || errno == ENOTDIR) return false;
    return io_error("stat", path);
  }

  IoResult<void> create_directories(const std::string& directory) override {
    std::error_code error;
    std::filesystem::create_directories(directory, error);
    if (error) return io_error(error.value(), "create folder", directory);
    return {};
  }

  IoResult<void> rename(const std::string& from, const std::string& to) override {
    if (::rename(from.c_str(), to.c_str()) != 0) return io_error("rename", from);
    return {};
  }

  IoResult<void> remove(const std::string& path) override {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return io_error("remove", path);
    return {};
  }

  IoResult<void> remove_all(const std::string& directory) override {
    std::error_code error;
    std::filesystem::remove_all(directory, error);
    if (error) return io_error(error.value(), "remove", directory);
    return {};
  }

  IoResult<void> sync_directory(const std::string& directory) override {
    const Directory handle(directory);
    if (handle.descriptor() < 0) return io_error("open", directory);
    if (::fsync(handle.descriptor()) != 0) return io_error("fsync", directory);
    return {};
  }

  IoResult<void> sync_filesystem(const std::string& directory) override {
    const Directory handle(directory);
    if (handle.descriptor() < 0) return io_error("open", directory);
    if (::syncfs(handle.descriptor()) != 0) return io_error("syncfs", directory);
    return {};
  }

  IoResult<DirectoryLock> lock(const std::string& directory) override { return DirectoryLock::acquire(directory); }

  IoResult<std::uint64_t> free_bytes(const std::string& directory) override {
    struct statvfs status{};
    if (::statvfs(directory.c_str(), &status) != 0) return io_error("statvfs", directory);
    return static_cast<std::uint64_t>(status.f_bavail) * status.f_frsize;
  }
};

}  // namespace

bool IoError::out_of_space() const { return error_number == ENOSPC || error_number == EDQUOT; }

bool IoError::out_of_descriptors() const { return error_number == EMFILE || error_number == ENFILE; }

std::size_t descriptor_limit() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<std::size_t>(limit.rlim_cur) : 1024;
}

std::string IoError::message() const { return what + ": " + std::generic_category().message(error_number); }

IoResult<std::string> FileSystem::read_file(const std::string& path) {
  ASSIGN_OR_RETURN(const std::shared_ptr<File> file, open(path, OpenMode::read));
  ASSIGN_OR_RETURN(const std::uint64_t size, file->size());
  std::string contents(size, '\0');
  ASSIGN_OR_RETURN(const std::size_t read,
                   file->read_at(0, std::span(reinterpret_cast<std::uint8_t*>(contents.data()), contents.size())));
  contents.resize(read);
  return contents;
}

IoResult<void> FileSystem::replace_file(const std::string& path, std::string_view contents, bool durable) {
  const std::string temporary = path + ".tmp";
  {
    ASSIGN_OR_RETURN(const std::shared_ptr<File> file, open(temporary, OpenMode::create));
    TRY(file->truncate(0));
    TRY(file->write_at(0, std::span(reinterpret_cast<const std::uint8_t*>(contents.data()), contents.size())));
    if (durable) TRY(file->sync());
  }
  TRY(rename(temporary, path));
  if (!durable) return {};
  const std::size_t slash = path.rfind('/');
  return sync_directory(slash == std::string::npos ? "." : path.substr(0, slash));
}

std::unique_ptr<FileSystem> make_system_file_system() { return std::make_unique<SystemFileSystem>(); }

IoResult<DirectoryLock> DirectoryLock::acquire(const std::string& directory) {
  const std::string path = directory + "/.lock";
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) return io_error("open", path);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) {
    const int number = errno;
    ::close(descriptor);
    return io_error(number, "lock", path);
  }
  return DirectoryLock(descriptor);
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

DirectoryLock& DirectoryLock::operator=(DirectoryLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

DirectoryLock::~DirectoryLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace thalweg::runtime
