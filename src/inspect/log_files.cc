#include "inspect/log_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <tuple>
#include <utility>

#include "base/endian.h"
#include "storage/checkpoints.h"
#include "storage/leader_epochs.h"
#include "storage/segment_files.h"

namespace thalweg::inspect {

using runtime::DirectoryEntry;
using storage::SegmentFile;

namespace {

constexpr std::string_view kMetadataSnapshot = ".checkpoint";
constexpr std::string_view kLog = ".log";

struct NamedFile {
  LogFileKind kind = LogFileKind::log;
  std::int64_t base_offset = 0;
  bool in_use = true;
};

std::string_view last_part(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path.substr(path.rfind('/') + 1);
}

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view{} : path.substr(0, slash);
}

LogFileKind kind_of(SegmentFile file) {
  switch (file) {
    case SegmentFile::log:
      return LogFileKind::log;
    case SegmentFile::offset_index:
      return LogFileKind::offset_index;
    case SegmentFile::time_index:
      return LogFileKind::time_index;
    case SegmentFile::transaction_index:
      return LogFileKind::transaction_index;
    case SegmentFile::snapshot:
      return LogFileKind::snapshot;
  }
  return LogFileKind::log;
}

std::optional<NamedFile> read_name(std::string_view name) {
  if (const auto segment = storage::parse_segment_file_name(name))
    return NamedFile{.kind = kind_of(segment->file), .base_offset = segment->offset, .in_use = segment->suffix.empty()};
  if (name == storage::kLeaderEpochsFileName) return NamedFile{.kind = LogFileKind::leader_epochs};
  if (name == storage::kRecoveryPointsFileName || name == storage::kLogStartOffsetsFileName ||
      name == storage::kHighWatermarksFileName || name == "cleaner-offset-checkpoint")
    return NamedFile{.kind = LogFileKind::offsets};
  if (name == storage::kPartitionMetadataFileName) return NamedFile{.kind = LogFileKind::partition_metadata};
  if (name == storage::kMetaPropertiesFileName) return NamedFile{.kind = LogFileKind::meta_properties};
  // A copy of a segment, whatever it is called.
  if (name.ends_with(kLog)) return NamedFile{.kind = LogFileKind::log, .in_use = false};
  // 00000000000000000042-0000000003.checkpoint: end offset and epoch of a snapshot of the metadata log.
  if (name.ends_with(kMetadataSnapshot)) {
    std::int64_t offset = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), offset);
    if (error == std::errc{} && *end == '-') return NamedFile{.kind = LogFileKind::log, .in_use = false};
  }
  return std::nullopt;
}

LogFile make_file(const NamedFile& named, std::string path, std::string label, const storage::TopicPartition& partition,
                  std::uint64_t size) {
  return {.path = std::move(path),
          .label = std::move(label),
          .kind = named.kind,
          .base_offset = named.base_offset,
          .partition = partition,
          .size_bytes = size};
}

LogFolder make_folder(const std::string& path, const std::string& label, const std::vector<DirectoryEntry>& entries) {
  LogFolder folder{.label = label,
                   .partition = storage::parse_folder_name(last_part(path)).value_or(storage::TopicPartition{}),
                   .files = {}};
  for (const DirectoryEntry& entry : entries) {
    if (entry.is_directory) continue;
    const auto named = read_name(entry.name);
    if (!named || named->kind != LogFileKind::log || !named->in_use) continue;
    folder.files.push_back(
        make_file(*named, path + "/" + entry.name, label + "/" + entry.name, folder.partition, entry.size));
  }
  std::ranges::sort(folder.files, {}, &LogFile::base_offset);
  return folder;
}

}  // namespace

bool is_log_file_name(std::string_view path) {
  const std::string_view name = last_part(path);
  return read_name(name).has_value() && (!name.ends_with(kLog) || storage::parse_segment_file_name(name).has_value());
}

bool is_copied_log(runtime::FileSystem& files, const std::string& path) {
  if (!path.ends_with(kLog)) return false;
  // Offset, length, and behind the epoch of the leader, or a checksum, the magic.
  constexpr std::size_t kFront = 17;
  constexpr std::uint8_t kNewestMagic = 2;
  std::array<std::uint8_t, kFront> front{};
  const auto file = files.open(path, runtime::OpenMode::read);
  if (!file) return false;
  const auto read = (*file)->read_at(0, front);
  if (!read || *read < kFront) return false;
  constexpr std::int32_t kLeast = 14;  // of a message without key and value
  return base::load_be<std::int64_t>(front.data()) >= 0 && base::load_be<std::int32_t>(front.data() + 8) >= kLeast &&
         front[kFront - 1] <= kNewestMagic;
}

base::Result<LogTree, std::string> find_logs(runtime::FileSystem& files, const std::string& path) {
  std::string clean = path;
  while (clean.size() > 1 && clean.ends_with('/')) clean.pop_back();
  LogTree tree;
  const auto entries = files.list(clean);
  if (!entries) {
    const auto file = files.open(clean, runtime::OpenMode::read);
    if (!file) return std::unexpected(file.error().message());
    const auto size = (*file)->size();
    if (!size) return std::unexpected(size.error().message());
    const auto named = read_name(last_part(clean));
    if (!named) return std::unexpected(fmt::format("{} is no file of a log by its name", clean));
    const auto partition = storage::parse_folder_name(last_part(folder_of(clean))).value_or(storage::TopicPartition{});
    tree.single_file = true;
    tree.folders.push_back({.label = clean, .partition = partition, .files = {}});
    tree.folders.back().files.push_back(make_file(*named, clean, clean, partition, *size));
    return tree;
  }
  LogFolder own = make_folder(clean, std::string(last_part(clean)), *entries);
  if (!own.files.empty()) {
    tree.folders.push_back(std::move(own));
    return tree;
  }
  for (const DirectoryEntry& entry : *entries) {
    // Also what a deleted topic has left: whoever looks may be looking for that.
    if (!entry.is_directory) continue;
    const std::string inside = clean + "/" + entry.name;
    const auto listed = files.list(inside);
    if (!listed) return std::unexpected(listed.error().message());
    LogFolder folder = make_folder(inside, entry.name, *listed);
    if (!folder.files.empty()) tree.folders.push_back(std::move(folder));
  }
  if (tree.folders.empty()) return std::unexpected(fmt::format("{} holds no .log files, nor folders of them", clean));
  std::ranges::sort(tree.folders, {}, [](const LogFolder& folder) {
    return std::tie(folder.partition.topic, folder.partition.partition, folder.label);
  });
  return tree;
}

}  // namespace thalweg::inspect
