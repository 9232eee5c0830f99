#include "storage/log_folder.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "storage/checkpoints.h"
#include "storage/segment_files.h"

namespace thalweg::storage {

namespace {

struct Entry {
  const runtime::DirectoryEntry* listed;
  SegmentFileName parsed;
};

// Offsets that a set of segments covers, [first, end).
struct Covered {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t end = std::numeric_limits<std::int64_t>::min();
};

runtime::IoResult<std::int64_t> offset_behind(runtime::FileSystem& files, const std::string& path,
                                              std::int64_t base_offset, std::uint64_t size) {
  ASSIGN_OR_RETURN(const std::shared_ptr<runtime::File> file, files.open(path, runtime::OpenMode::read));
  BatchScanner scanner(file, 0, static_cast<std::uint32_t>(size), BatchScanner::What::headers, Blocking::allowed);
  std::int64_t end = base_offset;
  while (true) {
    auto next = scanner.next();
    if (!next) return std::unexpected(as_io_error(std::move(next).error()));
    if (!*next) return end;
    end = (*next)->last_offset + 1;
  }
}

void note(LogFolder& folder, std::int64_t offset, SegmentFile file, std::uint64_t size) {
  if (file == SegmentFile::snapshot) {
    folder.snapshots.insert(offset);
    return;
  }
  SegmentListing& listing = folder.segments[offset];
  if (file == SegmentFile::log) listing.log = size;
  if (file == SegmentFile::offset_index) listing.offset_index = size;
  if (file == SegmentFile::time_index) listing.time_index = size;
  if (file == SegmentFile::transaction_index) listing.transaction_index = size;
}

}  // namespace

runtime::IoResult<LogFolder> list_log_folder(runtime::FileSystem& files, const std::string& folder) {
  LogFolder result;
  ASSIGN_OR_RETURN(const bool exists, files.exists(folder));
  if (!exists) {
    TRY(files.create_directories(folder));
    result.created = result.changed = true;
    return result;
  }
  ASSIGN_OR_RETURN(const std::vector<runtime::DirectoryEntry> listed, files.list(folder));
  const auto path_of = [&](const Entry& entry) { return folder + '/' + entry.listed->name; };
  const auto remove = [&](const Entry& entry) {
    result.changed = true;
    return files.remove(path_of(entry));
  };

  std::vector<Entry> entries;
  std::int64_t first_cleaned = std::numeric_limits<std::int64_t>::max();
  for (const runtime::DirectoryEntry& listed_entry : listed) {
    if (listed_entry.is_directory) continue;
    const auto parsed = parse_segment_file_name(listed_entry.name);
    if (!parsed) continue;
    entries.push_back({&listed_entry, *parsed});
    if (parsed->suffix == kCleanedSuffix) first_cleaned = std::min(first_cleaned, parsed->offset);
  }
  Covered swapped;
  for (const Entry& entry : entries) {
    const SegmentFileName& name = entry.parsed;
    if (name.suffix != kSwapSuffix || name.file != SegmentFile::log || name.offset >= first_cleaned) continue;
    ASSIGN_OR_RETURN(const std::int64_t end, offset_behind(files, path_of(entry), name.offset, entry.listed->size));
    swapped = {std::min(swapped.first, name.offset), std::max(swapped.end, end)};
  }
  for (const Entry& entry : entries) {
    const SegmentFileName& name = entry.parsed;
    if (name.suffix == kSwapSuffix) {
      if (name.offset >= first_cleaned) TRY(remove(entry));
    } else if (!name.suffix.empty() || (name.offset >= swapped.first && name.offset < swapped.end)) {
      TRY(remove(entry));
    } else {
      note(result, name.offset, name.file, entry.listed->size);
    }
  }
  for (const Entry& entry : entries) {
    const SegmentFileName& name = entry.parsed;
    if (name.suffix != kSwapSuffix || name.offset >= first_cleaned) continue;
    TRY(files.rename(path_of(entry), segment_file_path(folder, name.offset, name.file)));
    result.changed = true;
    note(result, name.offset, name.file, entry.listed->size);
  }
  for (auto it = result.segments.begin(); it != result.segments.end();) {
    const bool is_between = it != result.segments.begin() && std::next(it) != result.segments.end();
    if (it->second.log && (*it->second.log > 0 || !is_between)) {
      ++it;
      continue;
    }
    for (const SegmentFile file :
         {SegmentFile::log, SegmentFile::offset_index, SegmentFile::time_index, SegmentFile::transaction_index})
      TRY(files.remove(segment_file_path(folder, it->first, file)));
    result.changed = true;
    it = result.segments.erase(it);
  }
  return result;
}

runtime::IoResult<bool> is_log_folder_empty(runtime::FileSystem& files, const std::string& folder) {
  ASSIGN_OR_RETURN(const std::vector<runtime::DirectoryEntry> listed, files.list(folder));
  return std::ranges::all_of(listed, [](const runtime::DirectoryEntry& entry) {
    if (entry.is_directory) return false;
    if (entry.name.starts_with(kPartitionMetadataFileName)) return true;  // or its temporary file
    const auto parsed = parse_segment_file_name(entry.name);
    return parsed && (parsed->file != SegmentFile::log || entry.size == 0);
  });
}

}  // namespace thalweg::storage
