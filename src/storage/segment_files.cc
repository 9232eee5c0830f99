#include "storage/segment_files.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <utility>

namespace thalweg::storage {

namespace {

constexpr std::array<std::pair<std::string_view, SegmentFile>, 5> kExtensions = {{
    {".log", SegmentFile::log},
    {".index", SegmentFile::offset_index},
    {".timeindex", SegmentFile::time_index},
    {".txnindex", SegmentFile::transaction_index},
    {".snapshot", SegmentFile::snapshot},
}};

}  // namespace

std::string_view extension(SegmentFile file) { return kExtensions[static_cast<std::size_t>(file)].first; }

std::string segment_file_name(std::int64_t offset, SegmentFile file) {
  return fmt::format("{:020}{}", offset, extension(file));
}

std::string segment_file_path(std::string_view folder, std::int64_t offset, SegmentFile file) {
  return fmt::format("{}/{:020}{}", folder, offset, extension(file));
}

std::optional<SegmentFileName> parse_segment_file_name(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos || dot == 0) return std::nullopt;
  SegmentFileName parsed;
  const auto [end, error] = std::from_chars(name.data(), name.data() + dot, parsed.offset);
  if (error != std::errc{} || end != name.data() + dot || parsed.offset < 0) return std::nullopt;
  std::string_view rest = name.substr(dot);
  for (const std::string_view suffix : {kDeletedSuffix, kCleanedSuffix, kSwapSuffix}) {
    if (rest.ends_with(suffix)) {
      parsed.suffix = rest.substr(rest.size() - suffix.size());
      rest.remove_suffix(suffix.size());
      break;
    }
  }
  for (const auto& [text, file] : kExtensions) {
    if (rest == text) {
      parsed.file = file;
      return parsed;
    }
  }
  return std::nullopt;
}

}  // namespace thalweg::storage
