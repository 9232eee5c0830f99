// Copies of files and folders, for backups, repairs and imports. Nothing of them is synced. Every call blocks.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/file.h"

namespace thalweg::storage {

// Copies `size` bytes of `from` at `position` into `to` at `target_position`.
//   errors   EIO where `from` ends before them
runtime::IoResult<void> copy_range(runtime::File& from, std::uint64_t position, std::uint64_t size, runtime::File& to,
                                   std::uint64_t target_position);

// Copies the first `size` bytes of a file. `to` is made where it is missing.
runtime::IoResult<void> copy_file(runtime::FileSystem& files, const std::string& from, const std::string& to,
                                  std::uint64_t size);
// Copies a file as far as it goes now.
//   returns  its bytes
runtime::IoResult<std::uint64_t> copy_file(runtime::FileSystem& files, const std::string& from, const std::string& to);

// Copies a folder with all that is in it. `to` is made where it is missing.
//   returns  the bytes of its files
runtime::IoResult<std::uint64_t> copy_folder(runtime::FileSystem& files, const std::string& from,
                                             const std::string& to);

// Whether nothing is there: no folder, or an empty one.
runtime::IoResult<bool> is_free(runtime::FileSystem& files, const std::string& folder);

}  // namespace thalweg::storage
