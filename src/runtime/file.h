// Files, injected: the storage code names paths and bytes, and a FileSystem decides what becomes of them. The real one
// is the machine's; the simulated one loses, tears and reorders what was not synced, and fails the n-th call.
//
// Calls are synchronous. Writes go to the page cache and are made where the caller runs; whatever may wait for a disk
// (sync, cold reads, opening and recovering logs) the caller puts on a BlockingPool.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace thalweg::runtime {

struct IoError {
  int error_number = 0;  // errno
  std::string what;      // operation and path, for the log

  [[nodiscard]] bool out_of_space() const;
  // The process or the machine has no descriptor left: no fault of the file.
  [[nodiscard]] bool out_of_descriptors() const;
  // "write data/t-0/00000000000000000000.log: No space left on device"
  [[nodiscard]] std::string message() const;
};

template <class T>
using IoResult = base::Result<T, IoError>;

// An open file. Ref-counted, so that a response that still sends a range of it keeps it open.
class File : public base::ExternalSource {
 public:
  // Writes all the pieces, one behind the other, at `position` (bytes). After an error the bytes from `position` on are
  // undefined.
  virtual IoResult<void> write_at(std::uint64_t position, std::span<const std::span<const std::uint8_t>> pieces) = 0;
  IoResult<void> write_at(std::uint64_t position, std::span<const std::uint8_t> bytes) {
    const std::span<const std::uint8_t> pieces[] = {bytes};
    return write_at(position, pieces);
  }
  // Reads up to into.size() bytes at `position`; fewer only at the end of the file. Returns how many.
  virtual IoResult<std::size_t> read_at(std::uint64_t position, std::span<std::uint8_t> into) = 0;
  // The same, but only what is in memory: nullopt-like result -1 where the disk would have to be waited for.
  virtual IoResult<ssize_t> read_cached_at(std::uint64_t position, std::span<std::uint8_t> into) = 0;
  virtual IoResult<std::uint64_t> size() = 0;
  virtual IoResult<void> truncate(std::uint64_t size) = 0;
  // Makes the data durable (fdatasync). A failure is final: what was written may be gone, so never try again.
  virtual IoResult<void> sync() = 0;
  // The descriptor for sendfile, or -1 where there is none (simulation).
  [[nodiscard]] virtual int descriptor() const = 0;
  [[nodiscard]] virtual const std::string& path() const = 0;
};

enum class OpenMode {
  read,        // must exist
  read_write,  // must exist
  create,      // made where it is missing, kept where it exists
};

struct DirectoryEntry {
  std::string name;
  bool is_directory = false;
  std::uint64_t size = 0;  // files only, bytes
};

// Holds an exclusive lock on DIRECTORY/.lock while it lives; an error where another process holds it.
class DirectoryLock {
 public:
  // A lock that holds nothing, for files that no other process can see.
  DirectoryLock() = default;
  static IoResult<DirectoryLock> acquire(const std::string& directory);
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&& other) noexcept;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;
  virtual IoResult<std::shared_ptr<File>> open(const std::string& path, OpenMode mode) = 0;
  virtual IoResult<std::vector<DirectoryEntry>> list(const std::string& directory) = 0;
  virtual IoResult<bool> exists(const std::string& path) = 0;
  virtual IoResult<void> create_directories(const std::string& directory) = 0;
  virtual IoResult<void> rename(const std::string& from, const std::string& to) = 0;
  // A missing file is no error.
  virtual IoResult<void> remove(const std::string& path) = 0;
  virtual IoResult<void> remove_all(const std::string& directory) = 0;
  // Makes creations, renames and removals in `directory` durable.
  virtual IoResult<void> sync_directory(const std::string& directory) = 0;
  // Makes everything written to the file system that holds `directory` durable (syncfs).
  virtual IoResult<void> sync_filesystem(const std::string& directory) = 0;
  // Keeps other processes from the folder while the lock lives.
  virtual IoResult<DirectoryLock> lock(const std::string& directory) = 0;
  // Bytes that may still be written under `directory`.
  virtual IoResult<std::uint64_t> free_bytes(const std::string& directory) = 0;

  // Whole-file helpers on top of the calls above.
  IoResult<std::string> read_file(const std::string& path);
  // Writes a temporary file, syncs it, renames it over `path` and syncs the folder: the old or the new, never a
  // mixture. Without `durable` nothing is synced, and a crash may leave an empty file.
  IoResult<void> replace_file(const std::string& path, std::string_view contents, bool durable = true);
};

// Descriptors that this process may have open at once.
std::size_t descriptor_limit();

// The machine's file system.
std::unique_ptr<FileSystem> make_system_file_system();

}  // namespace thalweg::runtime
