#include "inspect/log_small_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "inspect/json_text.h"
#include "inspect/value_text.h"
#include "storage/checkpoints.h"
#include "storage/leader_epochs.h"
#include "storage/offset_index.h"
#include "storage/producer_snapshot.h"
#include "storage/time_index.h"
#include "storage/txn_index.h"

namespace thalweg::inspect {

namespace {

// An index has ten megabytes at most by default; so many of its entries are read at once.
constexpr std::size_t kEntriesAtOnce = 4096;

std::string json_text(std::string_view text) {
  std::string json;
  append_json_string(json, text);
  return json;
}

class SmallFile {
 public:
  SmallFile(runtime::FileSystem& files, const LogFile& file, bool json, LogSink& sink)
      : files_(files), file_(file), json_(json), sink_(sink) {}

  base::Result<SmallFileReport, std::string> print() {
    line(fmt::format("{}  {}\n", file_.label, counted(file_.size_bytes, "byte")), {});
    switch (file_.kind) {
      case LogFileKind::log:
        break;
      case LogFileKind::offset_index:
      case LogFileKind::time_index:
      case LogFileKind::transaction_index:
        TRY(entries());
        break;
      case LogFileKind::snapshot:
      case LogFileKind::leader_epochs:
      case LogFileKind::offsets:
      case LogFileKind::partition_metadata:
      case LogFileKind::meta_properties:
        TRY(whole());
        break;
    }
    return report_;
  }

 private:
  // `json` has the fields behind type and file; empty where only text says it.
  void line(const std::string& text, const std::string& json, std::string_view type = {}) {
    if (report_.closed || (json_ && type.empty())) return;
    const std::string object =
        json_ ? fmt::format("{{\"type\":\"{}\",\"file\":{},{}}}\n", type, json_text(file_.label), json) : std::string();
    report_.closed = !sink_.write(json_ ? object : text);
  }
  void damaged(const std::string& what) {
    ++report_.damages;
    line(fmt::format("  damaged: {}\n", what), fmt::format("\"fault\":{}", json_text(what)), "damage");
  }

  base::Result<void, std::string> entries();
  // One entry; false: the rest of the file is of no use.
  bool entry(std::span<const std::uint8_t> bytes, std::uint64_t position);
  void offset_entry(const storage::OffsetIndexEntry& entry, std::uint64_t position);
  void time_entry(const storage::TimeIndexEntry& entry, std::uint64_t position);
  base::Result<void, std::string> whole();
  void producers(std::string_view contents);
  void epochs(std::string_view contents);
  void offsets(std::string_view contents);
  void properties(std::string_view contents);

  runtime::FileSystem& files_;
  const LogFile& file_;
  bool json_;
  LogSink& sink_;
  SmallFileReport report_;
  // Of the entry before, to see that they grow.
  std::optional<std::int64_t> last_;
};

base::Result<void, std::string> SmallFile::entries() {
  const std::size_t size = file_.kind == LogFileKind::offset_index ? storage::OffsetIndexEntry::kSize
                           : file_.kind == LogFileKind::time_index ? storage::TimeIndexEntry::kSize
                                                                   : storage::kTxnIndexEntrySize;
  const auto opened = files_.open(file_.path, runtime::OpenMode::read);
  if (!opened) return std::unexpected(opened.error().message());
  std::vector<std::uint8_t> buffer(size * kEntriesAtOnce);
  // A segment that is written to has an index of full size, with zeros behind its entries.
  std::uint64_t unused = 0;
  for (std::uint64_t position = 0; !report_.closed;) {
    const auto got = (*opened)->read_at(position, buffer);
    if (!got) return std::unexpected(got.error().message());
    const std::span<const std::uint8_t> bytes = std::span(buffer).first(*got);
    std::size_t at = 0;
    for (; at + size <= bytes.size() && !report_.closed; at += size) {
      const auto one = bytes.subspan(at, size);
      const bool zero = std::ranges::all_of(one, [](std::uint8_t byte) { return byte == 0; });
      if (zero && file_.kind != LogFileKind::transaction_index) {
        ++unused;
        continue;
      }
      if (unused > 0) damaged(fmt::format("an entry at {} behind {} of zeros", position + at, unused));
      unused = 0;
      if (!entry(one, position + at)) return {};
    }
    if (bytes.size() < buffer.size()) {
      if (at < bytes.size())
        damaged(fmt::format("{} at the end, too few for an entry", counted(bytes.size() - at, "byte")));
      break;
    }
    position += bytes.size();
  }
  if (unused > 0)
    line(fmt::format("  {} unused\n", unused == 1 ? "1 entry" : fmt::format("{} entries", unused)),
         fmt::format("\"entries\":{}", unused), "unused");
  return {};
}

void SmallFile::offset_entry(const storage::OffsetIndexEntry& entry, std::uint64_t position) {
  const std::int64_t offset = file_.base_offset + entry.relative_offset;
  if (entry.relative_offset < 0 || (last_ && offset <= *last_))
    damaged(fmt::format("the entry at {} has an offset that is not behind the one before", position));
  last_ = offset;
  line(fmt::format("  offset {:>12}  position {:>11}\n", offset, entry.position),
       fmt::format("\"offset\":{},\"position\":{}", offset, entry.position), "offsetIndexEntry");
}

void SmallFile::time_entry(const storage::TimeIndexEntry& entry, std::uint64_t position) {
  const std::int64_t offset = file_.base_offset + entry.relative_offset;
  if (entry.relative_offset < 0 || (last_ && entry.timestamp < *last_))
    damaged(fmt::format("the entry at {} has a time before that of the one before", position));
  last_ = entry.timestamp;
  const std::string time = time_text(entry.timestamp);
  line(fmt::format("  time {:<24}  offset {:>12}\n", time.empty() ? fmt::format("{}", entry.timestamp) : time, offset),
       fmt::format("\"timestamp\":{},\"offset\":{}", entry.timestamp, offset), "timeIndexEntry");
}

bool SmallFile::entry(std::span<const std::uint8_t> bytes, std::uint64_t position) {
  if (file_.kind == LogFileKind::offset_index) {
    offset_entry(storage::OffsetIndexEntry::decode(bytes.data()), position);
    return true;
  }
  if (file_.kind == LogFileKind::time_index) {
    time_entry(storage::TimeIndexEntry::decode(bytes.data()), position);
    return true;
  }
  const auto aborted = storage::decode_txn_index_entry(bytes.data());
  if (!aborted) {
    damaged(fmt::format("the entry at {} is of an unknown version", position));
    return false;
  }
  line(fmt::format("  aborted: producer {}  offsets {}-{}  last stable offset {}\n", aborted->producer_id,
                   aborted->first_offset, aborted->last_offset, aborted->last_stable_offset),
       fmt::format("\"producerId\":{},\"firstOffset\":{},\"lastOffset\":{},\"lastStableOffset\":{}",
                   aborted->producer_id, aborted->first_offset, aborted->last_offset, aborted->last_stable_offset),
       "abortedTransaction");
  return true;
}

base::Result<void, std::string> SmallFile::whole() {
  const auto contents = files_.read_file(file_.path);
  if (!contents) return std::unexpected(contents.error().message());
  switch (file_.kind) {
    case LogFileKind::snapshot:
      producers(*contents);
      break;
    case LogFileKind::leader_epochs:
      epochs(*contents);
      break;
    case LogFileKind::offsets:
      offsets(*contents);
      break;
    default:
      properties(*contents);
  }
  return {};
}

void SmallFile::producers(std::string_view contents) {
  const auto entries =
      storage::decode_producer_snapshot({reinterpret_cast<const std::uint8_t*>(contents.data()), contents.size()});
  if (!entries) return damaged("no producer snapshot of a known version with a right CRC");
  for (const storage::ProducerEntry& e : *entries) {
    const std::string open = e.current_txn_first_offset < 0
                                 ? std::string()
                                 : fmt::format("  open transaction from {}", e.current_txn_first_offset);
    const std::string time = time_text(e.last_timestamp);
    line(
        fmt::format("  producer {}:{}  last sequence {}  last offset {}  last time {}  coordinator epoch {}{}\n",
                    e.producer_id, e.epoch, e.last_sequence(), e.last_offset(), time.empty() ? "-" : time,
                    e.coordinator_epoch, open),
        fmt::format("\"producerId\":{},\"producerEpoch\":{},\"lastSequence\":{},\"lastOffset\":{},\"lastTimestamp\":{},"
                    "\"coordinatorEpoch\":{},\"currentTxnFirstOffset\":{}",
                    e.producer_id, e.epoch, e.last_sequence(), e.last_offset(), e.last_timestamp, e.coordinator_epoch,
                    e.current_txn_first_offset),
        "producer");
  }
}

void SmallFile::epochs(std::string_view contents) {
  const auto epochs = storage::LeaderEpochs::parse(contents);
  if (!epochs) return damaged("no leader epoch checkpoint");
  for (const storage::EpochEntry& e : epochs->entries())
    line(fmt::format("  epoch {} from offset {}\n", e.epoch, e.start_offset),
         fmt::format("\"epoch\":{},\"startOffset\":{}", e.epoch, e.start_offset), "leaderEpoch");
}

void SmallFile::offsets(std::string_view contents) {
  constexpr std::size_t kFields = 3;
  const auto lines = storage::parse_checkpoint_lines(contents, kFields);
  if (!lines) return damaged("no offset checkpoint");
  for (const std::vector<std::string_view>& fields : *lines) {
    const auto partition = storage::parse_number<std::int32_t>(fields[1]);
    const auto offset = storage::parse_number<std::int64_t>(fields[2]);
    if (!partition || !offset) {
      damaged(fmt::format("a line of {} with what is no number", fields[0]));
      continue;
    }
    line(fmt::format("  {}-{}  offset {}\n", fields[0], *partition, *offset),
         fmt::format("\"topic\":{},\"partition\":{},\"offset\":{}", json_text(fields[0]), *partition, *offset),
         "checkpoint");
  }
}

void SmallFile::properties(std::string_view contents) {
  // Both kinds are lines of a name and a value, with a colon or an equals sign between.
  const char* separators = file_.kind == LogFileKind::partition_metadata ? ":" : "=";
  while (!contents.empty()) {
    const std::string_view text = contents.substr(0, contents.find('\n'));
    contents.remove_prefix(std::min(contents.size(), text.size() + 1));
    if (text.empty() || text.starts_with('#')) continue;
    const std::size_t at = text.find(separators);
    if (at == std::string_view::npos) {
      damaged(fmt::format("a line without {}: {}", separators, quoted(text, 80)));
      continue;
    }
    std::string_view value = text.substr(at + 1);
    while (value.starts_with(' ')) value.remove_prefix(1);
    line(fmt::format("  {} = {}\n", text.substr(0, at), value),
         fmt::format("\"key\":{},\"value\":{}", json_text(text.substr(0, at)), json_text(value)), "property");
  }
}

}  // namespace

base::Result<SmallFileReport, std::string> print_small_file(runtime::FileSystem& files, const LogFile& file, bool json,
                                                            LogSink& sink) {
  return SmallFile(files, file, json, sink).print();
}

}  // namespace thalweg::inspect
