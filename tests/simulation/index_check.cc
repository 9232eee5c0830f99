#include "simulation/index_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "protocol/batch_view.h"
#include "simulation/ledger.h"
#include "storage/offset_index.h"
#include "storage/segment_files.h"
#include "storage/time_index.h"

namespace thalweg::simulation {

namespace {

using storage::OffsetIndexEntry;
using storage::SegmentFile;
using storage::TimeIndexEntry;

// What the batches of a segment say that its indexes hold.
struct Facts {
  std::map<std::uint32_t, std::int64_t> last_offsets;  // by position
  std::map<std::int64_t, std::int64_t> newest_up_to;   // largest timestamp, by the last offset of a batch
  std::int64_t newest = -1;
  std::size_t entries = 0;
};

Facts facts_of(const std::string& log, std::int32_t interval) {
  Facts facts;
  std::uint32_t since = 0;
  for (std::uint32_t at = 0; at + protocol::kBatchHeaderSize <= log.size();) {
    const protocol::BatchView batch(reinterpret_cast<const std::uint8_t*>(log.data()) + at);
    if (since > static_cast<std::uint32_t>(interval)) {
      ++facts.entries;
      since = 0;
    }
    facts.last_offsets[at] = batch.last_offset();
    facts.newest = std::max(facts.newest, batch.max_timestamp());
    facts.newest_up_to[batch.last_offset()] = facts.newest;
    since += static_cast<std::uint32_t>(batch.size_bytes());
    at += static_cast<std::uint32_t>(batch.size_bytes());
  }
  return facts;
}

template <class Entry>
std::vector<Entry> read_entries(runtime::FileSystem& files, const std::string& path) {
  const auto text = files.read_file(path);
  if (!text) throw Violation(text.error().message());
  if (text->size() % Entry::kSize != 0) throw Violation(path + ": ends within an entry");
  std::vector<Entry> entries;
  for (std::size_t at = 0; at < text->size(); at += Entry::kSize)
    entries.push_back(Entry::decode(reinterpret_cast<const std::uint8_t*>(text->data()) + at));
  return entries;
}

void check_segment(runtime::FileSystem& files, const IndexExpectation& expected, std::int64_t base_offset) {
  const auto path = [&](SegmentFile file) { return storage::segment_file_path(expected.folder, base_offset, file); };
  const auto log = files.read_file(path(SegmentFile::log));
  if (!log) throw Violation(log.error().message());
  if (log->empty()) return;  // may be left from a roll that failed, without indexes
  const Facts facts = facts_of(*log, expected.index_interval_bytes);

  const std::string offsets_path = path(SegmentFile::offset_index);
  const auto offsets = read_entries<OffsetIndexEntry>(files, offsets_path);
  std::uint32_t last_position = 0;
  for (const OffsetIndexEntry& entry : offsets) {
    const auto batch = facts.last_offsets.find(entry.position);
    if (entry.position <= last_position || batch == facts.last_offsets.end() ||
        batch->second != base_offset + entry.relative_offset)
      throw Violation(fmt::format("{}: the entry {} at position {} is of no batch, or out of order", offsets_path,
                                  base_offset + entry.relative_offset, entry.position));
    last_position = entry.position;
  }
  if (offsets.size() > facts.entries || offsets.size() + expected.clean_restarts < facts.entries)
    throw Violation(fmt::format("{}: {} entries, {} are due", offsets_path, offsets.size(), facts.entries));

  const std::string times_path = path(SegmentFile::time_index);
  const auto times = read_entries<TimeIndexEntry>(files, times_path);
  std::int64_t last_timestamp = -1;
  for (const TimeIndexEntry& entry : times) {
    const auto newest = facts.newest_up_to.find(base_offset + entry.relative_offset);
    if (entry.timestamp <= last_timestamp || newest == facts.newest_up_to.end() || newest->second != entry.timestamp)
      throw Violation(fmt::format("{}: the entry {} for offset {} is wrong, or out of order", times_path,
                                  entry.timestamp, base_offset + entry.relative_offset));
    last_timestamp = entry.timestamp;
  }
  if (last_timestamp != facts.newest)
    throw Violation(
        fmt::format("{}: the last entry has {}, the newest record {}", times_path, last_timestamp, facts.newest));
}

}  // namespace

void check_indexes(runtime::FileSystem& files, const IndexExpectation& expected) {
  const auto listed = files.list(expected.folder);
  if (!listed) throw Violation(listed.error().message());
  for (const auto& entry : *listed) {
    const auto name = storage::parse_segment_file_name(entry.name);
    if (name && name->file == SegmentFile::log && name->suffix.empty()) check_segment(files, expected, name->offset);
  }
}

}  // namespace thalweg::simulation
