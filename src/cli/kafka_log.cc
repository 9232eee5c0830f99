#include "cli/kafka_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "inspect/log_scanner.h"
#include "storage/segment_files.h"

namespace thalweg::cli {

namespace {

enum class End : std::uint8_t { whole, may_be_torn };

base::Result<void, std::string> read_file(runtime::FileSystem& files, const std::string& path, End end,
                                          const KafkaBatchVisitor& visit) {
  auto file = files.open(path, runtime::OpenMode::read);
  if (!file) return std::unexpected(file.error().message());
  const auto size = (*file)->size();
  if (!size) return std::unexpected(size.error().message());
  inspect::LogScanner scanner(std::move(*file), {.begin = 0, .end = *size, .next_offset = 0});
  while (true) {
    auto next = scanner.next();
    if (!next) return std::unexpected(next.error().message());
    if (!*next) return {};
    const inspect::LogItem& item = **next;
    const bool is_batch = item.kind == inspect::LogItem::Kind::batch && item.sound;
    if (!is_batch && end == End::may_be_torn && item.position + item.size >= *size) return {};
    if (!is_batch) return std::unexpected(fmt::format("{}: position {}: {}", path, item.position, item.fault));
    if (!visit(protocol::BatchView(item.bytes.data())))
      return std::unexpected(
          fmt::format("{}: position {}: a record that this release does not understand", path, item.position));
  }
}

}  // namespace

base::Result<void, std::string> read_kafka_log(runtime::FileSystem& files, const std::string& folder,
                                               const KafkaBatchVisitor& visit) {
  const auto entries = files.list(folder);
  if (!entries) return std::unexpected(entries.error().message());
  std::vector<std::int64_t> segments;
  for (const runtime::DirectoryEntry& entry : *entries)
    if (const auto name = storage::parse_segment_file_name(entry.name);
        name && name->file == storage::SegmentFile::log && name->suffix.empty())
      segments.push_back(name->offset);
  std::ranges::sort(segments);
  for (const std::int64_t segment : segments)
    TRY(read_file(files, storage::segment_file_path(folder, segment, storage::SegmentFile::log),
                  segment == segments.back() ? End::may_be_torn : End::whole, visit));
  return {};
}

base::Result<void, std::string> read_kafka_batches(runtime::FileSystem& files, const std::string& path,
                                                   const KafkaBatchVisitor& visit) {
  return read_file(files, path, End::whole, visit);
}

}  // namespace thalweg::cli
