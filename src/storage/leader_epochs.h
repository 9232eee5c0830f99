// LeaderEpochs: which leader epoch begins at which offset of a log, and the `leader-epoch-checkpoint` file that keeps
// it.
//
//   0                    version
//   2                    count of lines to come
//   0 0                  epoch, start offset
//   3 1742
//
// Epochs and start offsets both grow from line to line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::storage {

struct EpochEntry {
  std::int32_t epoch = 0;
  std::int64_t start_offset = 0;

  friend bool operator==(const EpochEntry&, const EpochEntry&) = default;
};

// Answer to OffsetForLeaderEpoch; both -1 where the epoch is not known.
struct EpochEndOffset {
  std::int32_t epoch = -1;
  std::int64_t end_offset = -1;

  friend bool operator==(const EpochEndOffset&, const EpochEndOffset&) = default;
};

inline constexpr std::string_view kLeaderEpochsFileName = "leader-epoch-checkpoint";

class LeaderEpochs {
 public:
  // Notes that `epoch` begins at `start_offset`. Entries that contradict it (a later epoch, or a start at or behind it)
  // go. Nothing changes where it is the latest epoch already.
  void assign(std::int32_t epoch, std::int64_t start_offset);
  // Drops epochs that begin at or after `end_offset`.
  void truncate_from_end(std::int64_t end_offset);
  // Drops epochs that end at or before `start_offset`; the one that holds it begins there from now on.
  void truncate_from_start(std::int64_t start_offset);
  void clear();

  [[nodiscard]] std::optional<std::int32_t> latest() const {
    return entries_.empty() ? std::nullopt : std::optional(entries_.back().epoch);
  }
  [[nodiscard]] const std::vector<EpochEntry>& entries() const { return entries_; }
  // The epoch that the record at `offset` was written in; nothing where it is before the first.
  [[nodiscard]] std::optional<std::int32_t> epoch_of(std::int64_t offset) const;
  // The largest epoch not above `epoch`, and where the next one begins; the log end for the latest. Where `epoch` is
  // before the first one known: itself, and where that begins.
  [[nodiscard]] EpochEndOffset end_offset_of(std::int32_t epoch, std::int64_t log_end_offset) const;

  // Counts the changes; for deciding whether the file is behind.
  [[nodiscard]] std::uint32_t version() const { return version_; }
  // The contents of the checkpoint file.
  [[nodiscard]] std::string text() const;
  // Nothing where the text breaks the format.
  static std::optional<LeaderEpochs> parse(std::string_view text);

 private:
  std::vector<EpochEntry> entries_;
  std::uint32_t version_ = 0;
};

}  // namespace thalweg::storage
