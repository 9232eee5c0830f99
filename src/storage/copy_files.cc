#include "storage/copy_files.h"

#include <algorithm>
#include <cerrno>
#include <span>
#include <vector>

#include "base/result.h"
#include "storage/checkpoints.h"

namespace thalweg::storage {

using runtime::IoResult;

IoResult<void> copy_range(runtime::File& from, std::uint64_t position, std::uint64_t size, runtime::File& to,
                          std::uint64_t target_position) {
  constexpr std::uint64_t kPieceBytes = std::uint64_t{1} << 20;
  std::vector<std::uint8_t> buffer(std::min(kPieceBytes, size));
  for (std::uint64_t done = 0; done < size;) {
    const std::span<std::uint8_t> piece(buffer.data(), std::min<std::uint64_t>(buffer.size(), size - done));
    ASSIGN_OR_RETURN(const std::size_t got, from.read_at(position + done, piece));
    if (got == 0)
      return std::unexpected(runtime::IoError{EIO, "read " + from.path() + ", which is shorter than it was"});
    TRY(to.write_at(target_position + done, std::span<const std::uint8_t>(piece.first(got))));
    done += got;
  }
  return {};
}

IoResult<void> copy_file(runtime::FileSystem& files, const std::string& from, const std::string& to,
                         std::uint64_t size) {
  ASSIGN_OR_RETURN(const auto source, files.open(from, runtime::OpenMode::read));
  ASSIGN_OR_RETURN(const auto copy, files.open(to, runtime::OpenMode::create));
  return copy_range(*source, 0, size, *copy, 0);
}

IoResult<std::uint64_t> copy_file(runtime::FileSystem& files, const std::string& from, const std::string& to) {
  ASSIGN_OR_RETURN(const auto source, files.open(from, runtime::OpenMode::read));
  ASSIGN_OR_RETURN(const auto copy, files.open(to, runtime::OpenMode::create));
  ASSIGN_OR_RETURN(const std::uint64_t size, source->size());
  TRY(copy_range(*source, 0, size, *copy, 0));
  return size;
}

IoResult<std::uint64_t> copy_folder(runtime::FileSystem& files, const std::string& from, const std::string& to) {
  TRY(files.create_directories(to));
  ASSIGN_OR_RETURN(const std::vector<runtime::DirectoryEntry> entries, files.list(from));
  std::uint64_t bytes = 0;
  for (const runtime::DirectoryEntry& entry : entries) {
    const std::string path = in_directory(from, entry.name);
    const std::string copy = in_directory(to, entry.name);
    ASSIGN_OR_RETURN(const std::uint64_t copied,
                     entry.is_directory ? copy_folder(files, path, copy) : copy_file(files, path, copy));
    bytes += copied;
  }
  return bytes;
}

IoResult<bool> is_free(runtime::FileSystem& files, const std::string& folder) {
  ASSIGN_OR_RETURN(const bool there, files.exists(folder));
  if (!there) return true;
  ASSIGN_OR_RETURN(const auto entries, files.list(folder));
  return entries.empty();
}

}  // namespace thalweg::storage
