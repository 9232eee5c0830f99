#include "cli/data_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "metadata/sqlite_store.h"

namespace thalweg::cli {

namespace {

constexpr std::string_view kLockFileName = ".lock";
constexpr std::string_view kKafkaBootstrapFileName = "bootstrap.checkpoint";

// Kafka locks the same file as we do, but in another way.
bool locked_by_kafka(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return false;
  struct flock wanted{};
  wanted.l_type = F_WRLCK;
  wanted.l_whence = SEEK_SET;
  const bool locked = ::fcntl(descriptor, F_GETLK, &wanted) == 0 && wanted.l_type != F_UNLCK;
  ::close(descriptor);
  return locked;
}

base::Result<DataFolder, std::string> open_one(runtime::FileSystem& files, const std::string& path) {
  DataFolder folder{.path = path};
  while (folder.path.size() > 1 && folder.path.ends_with('/')) folder.path.pop_back();
  const auto entries = files.list(folder.path);
  if (!entries) return std::unexpected(entries.error().message());
  bool has_lock = false;
  for (const runtime::DirectoryEntry& entry : *entries) {
    if (entry.is_directory) {
      if (auto partition = storage::parse_folder_name(entry.name)) {
        folder.of_kafka = folder.of_kafka || partition->topic == kKafkaMetadataTopic;
        folder.partitions.push_back(std::move(*partition));
      }
      continue;
    }
    has_lock = has_lock || entry.name == kLockFileName;
    folder.has_store = folder.has_store || entry.name == metadata::kSqliteFileName;
    folder.of_kafka = folder.of_kafka || entry.name == kKafkaBootstrapFileName;
  }
  std::ranges::sort(folder.partitions);
  // Where no broker ever was none is, and nothing is made in a folder that is only looked at.
  if (has_lock) {
    auto lock = files.lock(folder.path);
    if (!lock || locked_by_kafka(folder.in(kLockFileName)))
      return std::unexpected(fmt::format("{} is in use by a broker; stop it first", folder.path));
    folder.lock = std::move(*lock);
  }
  auto properties = storage::read_meta_properties(files, folder.path);
  if (properties) {
    folder.properties = std::move(*properties);
  } else {
    folder.properties_fault = properties.error().message();
  }
  return folder;
}

}  // namespace

base::Result<std::vector<DataFolder>, std::string> open_data_folders(runtime::FileSystem& files,
                                                                     const std::vector<std::string>& paths) {
  std::vector<DataFolder> folders;
  for (const std::string& path : paths) {
    ASSIGN_OR_RETURN(DataFolder folder, open_one(files, path));
    folders.push_back(std::move(folder));
  }
  return folders;
}

}  // namespace thalweg::cli
