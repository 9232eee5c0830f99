// Copies files and folders, for the commands that make one data folder of
// another.
#pragma once

#include <cstdint>
#include <string>

#include "runtime/file.h"

namespace thalweg::cli {

// Copies a file; nothing is synced.
//   returns  its bytes
runtime::IoResult<std::uint64_t> copy_file(runtime::FileSystem& files, const std::string& from, const std::string& to);

// Copies a folder with all that is in it to `to`, which is made where it is
// missing; nothing is synced.
//   returns  the bytes of its files
runtime::IoResult<std::uint64_t> copy_folder(runtime::FileSystem& files, const std::string& from,
                                             const std::string& to);

// Whether nothing is there: no folder, or an empty one.
runtime::IoResult<bool> is_free(runtime::FileSystem& files, const std::string& folder);

}  // namespace thalweg::cli
