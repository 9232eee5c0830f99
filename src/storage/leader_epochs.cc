#include "storage/leader_epochs.h"

#include <fmt/format.h>

#include <algorithm>

#include "storage/checkpoints.h"

namespace thalweg::storage {

void LeaderEpochs::assign(std::int32_t epoch, std::int64_t start_offset) {
  if (epoch < 0 || start_offset < 0) return;
  if (!entries_.empty() && entries_.back().epoch == epoch && start_offset >= entries_.back().start_offset) return;
  while (!entries_.empty() && (entries_.back().epoch >= epoch || entries_.back().start_offset >= start_offset))
    entries_.pop_back();
  entries_.push_back({epoch, start_offset});
  ++version_;
}

void LeaderEpochs::truncate_from_end(std::int64_t end_offset) {
  if (entries_.empty() || entries_.back().start_offset < end_offset) return;
  while (!entries_.empty() && entries_.back().start_offset >= end_offset) entries_.pop_back();
  ++version_;
}

void LeaderEpochs::truncate_from_start(std::int64_t start_offset) {
  const auto after =
      std::ranges::find_if(entries_, [&](const auto& entry) { return entry.start_offset > start_offset; });
  if (after == entries_.begin()) return;
  const EpochEntry first{std::prev(after)->epoch, start_offset};
  if (std::prev(after) == entries_.begin() && *std::prev(after) == first) return;
  entries_.erase(entries_.begin(), std::prev(after));
  entries_.front() = first;
  ++version_;
}

void LeaderEpochs::clear() {
  entries_.clear();
  ++version_;
}

std::optional<std::int32_t> LeaderEpochs::epoch_of(std::int64_t offset) const {
  const auto after = std::ranges::find_if(entries_, [&](const auto& entry) { return entry.start_offset > offset; });
  if (after == entries_.begin()) return std::nullopt;
  return std::prev(after)->epoch;
}

EpochEndOffset LeaderEpochs::end_offset_of(std::int32_t epoch, std::int64_t log_end_offset) const {
  if (epoch == -1 || entries_.empty()) return {};
  if (entries_.back().epoch == epoch) return {epoch, log_end_offset};
  const auto higher = std::ranges::find_if(entries_, [&](const auto& entry) { return entry.epoch > epoch; });
  if (higher == entries_.end()) return {};
  if (higher == entries_.begin()) return {epoch, higher->start_offset};
  return {std::prev(higher)->epoch, higher->start_offset};
}

std::string LeaderEpochs::text() const {
  std::string text = fmt::format("0\n{}\n", entries_.size());
  for (const EpochEntry& entry : entries_) text += fmt::format("{} {}\n", entry.epoch, entry.start_offset);
  return text;
}

std::optional<LeaderEpochs> LeaderEpochs::parse(std::string_view text) {
  const auto lines = parse_checkpoint_lines(text, 2);
  if (!lines) return std::nullopt;
  LeaderEpochs epochs;
  for (const auto& fields : *lines) {
    const auto epoch = parse_number<std::int32_t>(fields[0]);
    const auto start_offset = parse_number<std::int64_t>(fields[1]);
    if (!epoch || !start_offset || *epoch < 0 || *start_offset < 0) return std::nullopt;
    epochs.assign(*epoch, *start_offset);
  }
  epochs.version_ = 0;
  return epochs;
}

}  // namespace thalweg::storage
