// The names of a segment's files: twenty digits of base offset, then what the file is.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace thalweg::storage {

enum class SegmentFile : std::uint8_t { log, offset_index, time_index, transaction_index, snapshot };

inline constexpr std::string_view kDeletedSuffix = ".deleted";  // waits for its removal
inline constexpr std::string_view kCleanedSuffix = ".cleaned";  // a compaction writes it; worthless after a crash
inline constexpr std::string_view kSwapSuffix = ".swap";  // compacted, about to take the place of what it replaces

// ".log", ".index", ".timeindex", ".txnindex", ".snapshot".
std::string_view extension(SegmentFile file);
// "00000000000000000042.log"
std::string segment_file_name(std::int64_t offset, SegmentFile file);
// FOLDER/00000000000000000042.log
std::string segment_file_path(std::string_view folder, std::int64_t offset, SegmentFile file);

struct SegmentFileName {
  std::int64_t offset = 0;
  SegmentFile file = SegmentFile::log;
  std::string_view suffix;  // empty, or one of the three above
};
// Takes the name apart; nothing where it is not one of a segment's.
std::optional<SegmentFileName> parse_segment_file_name(std::string_view name);

}  // namespace thalweg::storage
