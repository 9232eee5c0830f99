// The files of the floor: one for each partition, without a name, so that nothing is left behind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "floor/frames.h"

namespace thalweg::floor {

// Append-only files that belong to this process alone. Errors throw std::system_error.
class Files {
 public:
  explicit Files(const std::string& folder);
  ~Files();
  Files(const Files&) = delete;
  Files& operator=(const Files&) = delete;

  // Appends to a partition's file.
  void append(int partition, Frame bytes);
  // Makes durable what was appended since the last call (fdatasync).
  void sync();
  [[nodiscard]] int descriptor(int partition) const { return files_[static_cast<std::size_t>(partition)].descriptor; }
  [[nodiscard]] std::uint64_t size(int partition) const { return files_[static_cast<std::size_t>(partition)].size; }

 private:
  struct Entry {
    int descriptor = -1;
    std::uint64_t size = 0;
    bool dirty = false;
  };
  std::vector<Entry> files_;
};

}  // namespace thalweg::floor
