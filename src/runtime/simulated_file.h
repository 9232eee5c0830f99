// SimulatedFileSystem: files in memory that misbehave as real ones may, by a seed, so that a test can ask what is left
// after a crash.
//
//   - crash() undoes what was not synced: writes and truncations of a file are lost, kept, torn or reordered in
//     pieces of 512 bytes; changes of a folder's entries are lost from some point on. What has been synced stays.
//   - the n-th call fails; a write that fails has written a part; a sync that fails has lost data for good, and
//     later ones of that file succeed without making anything durable, as on Linux. Where a sync of the whole disk
//     fails, every file with something unsynced is told once, by its own next sync.
//   - the disk has a size; a write beyond it writes a part and fails with ENOSPC until something is removed.
//   - bytes can be cold: read_cached_at() refuses them until read_at() has read the file.
//
// For one thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "runtime/file.h"

namespace thalweg::runtime {

namespace simulated {
struct Node;
class OpenFile;
}  // namespace simulated

class SimulatedFileSystem final : public FileSystem {
 public:
  explicit SimulatedFileSystem(std::uint64_t seed);
  ~SimulatedFileSystem() override;

  // The machine loses power and comes back: all open files are dead (EIO), unsynced changes are kept or lost by the
  // seed.
  void crash();
  // The call after `skip` more calls fails with `error_number` (EIO, ENOSPC, …). One call; then all is well again.
  void fail_call(std::uint64_t skip, int error_number);
  // Calls made so far, of those that can fail.
  [[nodiscard]] std::uint64_t calls() const { return calls_; }
  // Limits what all files together may hold; nothing: no limit.
  void set_capacity(std::optional<std::uint64_t> bytes) { capacity_ = bytes; }
  // Makes every byte cold.
  void chill();
  // Overwrites bytes of a file as a rotting disk would, synced or not.
  void damage(const std::string& path, std::uint64_t position, std::uint8_t mask);
  // How many times sync() of a file, and sync_filesystem(), have been called.
  [[nodiscard]] std::uint64_t syncs() const { return syncs_; }
  // Syncs from now on pretend: they succeed and do nothing. For testing the tests.
  void set_syncs_ignored(bool ignored) { syncs_ignored_ = ignored; }

  IoResult<std::shared_ptr<File>> open(const std::string& path, OpenMode mode) override;
  IoResult<std::vector<DirectoryEntry>> list(const std::string& directory) override;
  IoResult<bool> exists(const std::string& path) override;
  IoResult<void> create_directories(const std::string& directory) override;
  IoResult<void> rename(const std::string& from, const std::string& to) override;
  IoResult<void> remove(const std::string& path) override;
  IoResult<void> remove_all(const std::string& directory) override;
  IoResult<void> sync_directory(const std::string& directory) override;
  IoResult<void> sync_filesystem(const std::string& directory) override;
  IoResult<DirectoryLock> lock(const std::string& directory) override;
  IoResult<std::uint64_t> free_bytes(const std::string& directory) override;

 private:
  friend class simulated::OpenFile;
  using NodePtr = std::shared_ptr<simulated::Node>;

  // Counts the call; an error where it is the one to fail.
  IoResult<void> call(std::string_view operation, std::string_view path);
  NodePtr find(std::string_view path);
  // The folder that holds the last part of the path, and that part.
  std::pair<NodePtr, std::string> parent_of(std::string_view path);
  std::uint64_t random();
  // Uniform in [0, bound).
  std::uint64_t random(std::uint64_t bound);
  [[nodiscard]] std::uint64_t used_bytes() const;

  NodePtr root_;
  std::uint64_t random_state_;
  std::uint64_t calls_ = 0;
  std::uint64_t syncs_ = 0;
  std::uint64_t generation_ = 0;
  std::uint64_t used_ = 0;
  std::optional<std::uint64_t> capacity_;
  std::optional<std::pair<std::uint64_t, int>> failure_;  // call number, errno
  bool syncs_ignored_ = false;
};

}  // namespace thalweg::runtime
