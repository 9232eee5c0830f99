#include "cli/copy_files.h"

#include <span>
#include <vector>

#include "base/result.h"
#include "storage/checkpoints.h"

namespace thalweg::cli {

namespace {

constexpr std::size_t kCopyBytes = std::size_t{1} << 20;

}  // namespace

runtime::IoResult<std::uint64_t> copy_file(runtime::FileSystem& files, const std::string& from, const std::string& to) {
  ASSIGN_OR_RETURN(const auto source, files.open(from, runtime::OpenMode::read));
  ASSIGN_OR_RETURN(const auto copy, files.open(to, runtime::OpenMode::create));
  std::vector<std::uint8_t> buffer(kCopyBytes);
  for (std::uint64_t done = 0;;) {
    ASSIGN_OR_RETURN(const std::size_t got, source->read_at(done, buffer));
    if (got == 0) return done;
    TRY(copy->write_at(done, std::span<const std::uint8_t>(std::span(buffer).first(got))));
    done += got;
  }
}

runtime::IoResult<std::uint64_t> copy_folder(runtime::FileSystem& files, const std::string& from,
                                             const std::string& to) {
  TRY(files.create_directories(to));
  ASSIGN_OR_RETURN(const std::vector<runtime::DirectoryEntry> entries, files.list(from));
  std::uint64_t bytes = 0;
  for (const runtime::DirectoryEntry& entry : entries) {
    const std::string path = storage::in_directory(from, entry.name);
    const std::string copy = storage::in_directory(to, entry.name);
    ASSIGN_OR_RETURN(const std::uint64_t copied,
                     entry.is_directory ? copy_folder(files, path, copy) : copy_file(files, path, copy));
    bytes += copied;
  }
  return bytes;
}

runtime::IoResult<bool> is_free(runtime::FileSystem& files, const std::string& folder) {
  ASSIGN_OR_RETURN(const bool there, files.exists(folder));
  if (!there) return true;
  ASSIGN_OR_RETURN(const auto entries, files.list(folder));
  return entries.empty();
}

}  // namespace thalweg::cli
