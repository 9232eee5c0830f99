// LifeFiles: the simulated disk as one life of the broker sees it. When that life ends, by a kill or with the power,
// every call fails from then on, so what is left of the process can be cleared away without touching the disk.
//
// It also plants faults on purpose, for the tests of the simulation itself.
#pragma once

#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/file.h"
#include "runtime/random.h"
#include "runtime/simulated_file.h"

namespace thalweg::simulation {

// How a life ends without being asked.
enum class Death : std::uint8_t {
  killed,      // the process; what it wrote is still in the machine's memory
  power_lost,  // the machine; what was not synced may be gone
};

// What is broken on purpose.
enum class Plant : std::uint8_t {
  none,
  skipped_sync,      // now and then a sync of records does nothing
  early_ack,         // syncs of records are reported done a little before they are
  lost_index_entry,  // now and then the last entry of a write to an index is left out
};

class LifeFiles final : public runtime::FileSystem {
 public:
  LifeFiles(runtime::SimulatedFileSystem& disk, std::uint64_t seed, Plant plant)
      : disk_(disk), random_(seed), plant_(plant) {}

  // ---- what happens to it ----
  void die(Death how);
  // Dies within the call after `skip` more.
  void die_at_call(std::uint64_t skip, Death how) { death_ = {calls_ + skip, how}; }
  // The sync of a file after `skip` more fails.
  void fail_sync(std::uint64_t skip) { failing_sync_ = syncs_ + skip; }
  void on_death(std::function<void()> callback) { on_death_ = std::move(callback); }

  [[nodiscard]] bool dead() const { return dead_; }
  [[nodiscard]] bool power_lost() const { return power_lost_; }
  // Whether a call has failed for another reason than a full disk.
  [[nodiscard]] bool wounded() const { return wounded_; }
  [[nodiscard]] std::uint64_t calls() const { return calls_; }

  // ---- what the broker calls ----
  runtime::IoResult<std::shared_ptr<runtime::File>> open(const std::string& path, runtime::OpenMode mode) override;
  runtime::IoResult<std::vector<runtime::DirectoryEntry>> list(const std::string& directory) override;
  runtime::IoResult<bool> exists(const std::string& path) override;
  runtime::IoResult<void> create_directories(const std::string& directory) override;
  runtime::IoResult<void> rename(const std::string& from, const std::string& to) override;
  runtime::IoResult<void> remove(const std::string& path) override;
  runtime::IoResult<void> remove_all(const std::string& directory) override;
  runtime::IoResult<void> sync_directory(const std::string& directory) override;
  runtime::IoResult<void> sync_filesystem(const std::string& directory) override;
  runtime::IoResult<runtime::DirectoryLock> lock(const std::string& directory) override;
  runtime::IoResult<std::uint64_t> free_bytes(const std::string& directory) override;

 private:
  class LifeFile;
  struct LateSync {
    std::uint64_t at_call;
    std::shared_ptr<runtime::File> file;
  };

  // Counts a call; an error where this life is over, or ends with it.
  runtime::IoResult<void> enter(std::string_view operation, const std::string& path);
  runtime::IoResult<void> sync(const std::shared_ptr<runtime::File>& file);
  // Passes the result on and looks for errors.
  template <class T>
  runtime::IoResult<T> note(runtime::IoResult<T> result) {
    if (!result && !result.error().out_of_space() && result.error().error_number == EIO) wounded_ = true;
    return result;
  }

  runtime::SimulatedFileSystem& disk_;
  runtime::Random random_;
  const Plant plant_;
  std::function<void()> on_death_;
  bool dead_ = false;
  bool power_lost_ = false;
  bool wounded_ = false;
  std::uint64_t calls_ = 0;
  std::uint64_t syncs_ = 0;
  std::optional<std::pair<std::uint64_t, Death>> death_;
  std::optional<std::uint64_t> failing_sync_;
  std::vector<LateSync> late_syncs_;
};

}  // namespace thalweg::simulation
