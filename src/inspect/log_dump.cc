#include "inspect/log_dump.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "inspect/log_open.h"
#include "inspect/log_print.h"
#include "inspect/log_records.h"
#include "inspect/log_scanner.h"
#include "inspect/log_small_files.h"
#include "inspect/log_stats.h"
#include "inspect/value_text.h"
#include "protocol/batch_view.h"
#include "protocol/legacy_message_set.h"
#include "storage/offset_index.h"
#include "storage/segment_files.h"
#include "storage/time_index.h"

namespace thalweg::inspect {

using protocol::BatchView;
using protocol::LegacyMessageView;
using runtime::IoResult;

namespace {

// Finds the last entry of an index for which `before(entry)`, of entries that it holds for up to some place. Nothing
// where there is none, or no index. What the index says is a hint: the caller must see whether it is true.
template <class Entry, class Before>
std::optional<Entry> last_where(runtime::FileSystem& files, const std::string& path, const Before& before) {
  const auto file = files.open(path, runtime::OpenMode::read);
  if (!file) return std::nullopt;
  const auto size = (*file)->size();
  if (!size) return std::nullopt;
  std::optional<Entry> found;
  std::uint64_t low = 0;
  std::uint64_t high = *size / Entry::kSize;
  while (low < high) {
    const std::uint64_t middle = low + (high - low) / 2;
    std::uint8_t bytes[Entry::kSize];
    const auto got = (*file)->read_at(middle * Entry::kSize, bytes);
    if (!got || *got < Entry::kSize) return std::nullopt;
    // Zeros stand behind the entries of a segment that is still written to.
    const bool unused = middle > 0 && std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
    const Entry entry = Entry::decode(bytes);
    if (!unused && before(entry)) {
      found = entry;
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return found;
}

class Dump {
 public:
  Dump(runtime::FileSystem& files, const Catalog& catalog, const LogDumpOptions& options, LogSink& sink)
      : files_(files), catalog_(catalog), options_(options), sink_(sink) {}

  base::Result<LogDumpReport, std::string> run(const LogTree& tree);

 private:
  base::Result<void, std::string> folder(const LogFolder& folder);
  base::Result<void, std::string> file(const LogFile& file);
  // Where to begin in the file, by its indexes.
  [[nodiscard]] std::uint64_t start_of(const LogFile& file);
  [[nodiscard]] std::string index_path(const LogFile& file, storage::SegmentFile kind) const;
  // One thing in the file. False: there is nothing more to be seen in the partition.
  bool item(const LogFile& file, const LogItem& item);
  void damaged(const LogFile& file, const LogItem& item);
  void show(const LogFile& file, const LogItem& item);
  [[nodiscard]] bool wanted(const protocol::Record& record, bool control, std::string_view topic) const;
  void write(std::string_view lines) {
    if (!report_.closed && !lines.empty()) report_.closed = !sink_.write(lines);
  }
  // The head of the file in front of its first batch.
  void head(const LogFile& file) {
    if (!head_written_ && !options_.json) write(file_head(file));
    head_written_ = true;
  }

  runtime::FileSystem& files_;
  const Catalog& catalog_;
  const LogDumpOptions& options_;
  LogSink& sink_;
  LogDumpReport report_;
  protocol::Decompressor decompressor_;
  LogStats stats_;  // of the partition at hand
  std::uint64_t total_bytes_ = 0;
  std::uint64_t bytes_before_ = 0;  // in the files before the one at hand
  std::int64_t next_offset_ = 0;
  bool time_reached_ = false;
  bool skips_older_ = false;  // in the batch in which the time is reached
  bool head_written_ = false;
};

std::string Dump::index_path(const LogFile& file, storage::SegmentFile kind) const {
  const std::size_t slash = file.path.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : file.path.substr(0, slash);
  return storage::segment_file_path(folder, file.base_offset, kind);
}

std::uint64_t Dump::start_of(const LogFile& file) {
  // A file by another name has no indexes of its own.
  if (!file.path.ends_with(storage::segment_file_name(file.base_offset, storage::SegmentFile::log))) return 0;
  std::int64_t offset = options_.first_offset.value_or(-1);
  if (options_.from_time_ms && !time_reached_) {
    const auto entry = last_where<storage::TimeIndexEntry>(
        files_, index_path(file, storage::SegmentFile::time_index),
        [&](const storage::TimeIndexEntry& e) { return e.timestamp < *options_.from_time_ms; });
    // No batch up to that offset is as new.
    if (entry && entry->relative_offset >= 0) offset = std::max(offset, file.base_offset + entry->relative_offset);
  }
  if (offset <= file.base_offset) return 0;
  const auto entry = last_where<storage::OffsetIndexEntry>(
      files_, index_path(file, storage::SegmentFile::offset_index),
      [&](const storage::OffsetIndexEntry& e) { return file.base_offset + e.relative_offset <= offset; });
  if (!entry || entry->position >= file.size_bytes) return 0;
  // Only where a sound batch begins there that is not behind what is looked for.
  const auto opened = files_.open(file.path, runtime::OpenMode::read);
  if (!opened) return 0;
  LogScanner scanner(*opened, {.begin = entry->position, .end = file.size_bytes, .next_offset = file.base_offset});
  const auto first = scanner.next();
  if (!first || !*first || (*first)->kind != LogItem::Kind::batch || !(*first)->sound) return 0;
  return BatchView((*first)->bytes.data()).base_offset() <= offset ? entry->position : 0;
}

bool Dump::wanted(const protocol::Record& record, bool control, std::string_view topic) const {
  if (options_.first_offset && (record.offset < *options_.first_offset || record.offset > options_.last_offset))
    return false;
  if (!options_.key) return true;
  if (control || !record.key) return false;
  const std::string_view key(reinterpret_cast<const char*>(record.key->data()), record.key->size());
  if (key == *options_.key) return true;
  const OpenedRecord opened = open_record(catalog_, topic, false, record);
  return opened.key && holds_text(*opened.key, *options_.key);
}

void Dump::damaged(const LogFile& file, const LogItem& item) {
  ++report_.damages;
  stats_.add_damage(item);
  head(file);
  if (item.kind == LogItem::Kind::damage) {
    write(options_.json ? damage_object(file, item) : damage_line(item));
  } else {
    write(options_.json ? batch_object(file, item) : batch_line(item));
  }
}

void Dump::show(const LogFile& file, const LogItem& item) {
  const bool control = item.kind == LogItem::Kind::batch && BatchView(item.bytes.data()).is_control();
  const std::string_view topic = file.partition.topic;
  const auto line_of = [&](const protocol::Record& record) {
    return options_.json ? record_object(catalog_, file, item, record)
                         : record_line(catalog_, record,
                                       {.topic = topic, .control = control, .show_secrets = options_.show_secrets});
  };
  bool batch_written = false;
  const auto write_batch = [&] {
    if (!std::exchange(batch_written, true)) {
      ++report_.batches;
      head(file);
      write(options_.json ? batch_object(file, item) : batch_line(item));
    }
  };
  // With a key a batch is shown for its records only, or for what is wrong with it.
  if (!options_.key || !item.fault.empty()) write_batch();
  if (!options_.key && !options_.records && !options_.first_offset) return;
  std::string fault;
  if (auto reader = LogRecords::open(item, decompressor_); reader) {
    protocol::Record record;
    while (!report_.closed) {
      const auto more = reader->next(record);
      if (!more) fault = more.error();
      if (!more || !*more) break;
      if (skips_older_ && record.timestamp < *options_.from_time_ms) continue;
      skips_older_ = false;
      if (!wanted(record, control, topic)) continue;
      write_batch();
      write(line_of(record));
    }
  } else {
    fault = reader.error();
  }
  skips_older_ = false;
  if (fault.empty()) return;
  LogItem damage{.kind = LogItem::Kind::damage, .position = item.position, .size = item.size, .bytes = {}, .fault = {}};
  damage.fault = "its records cannot be read: " + fault;
  damaged(file, damage);
}

bool Dump::item(const LogFile& file, const LogItem& item) {
  if (!item.sound) {
    damaged(file, item);
    return true;
  }
  const bool old = item.kind == LogItem::Kind::message;
  const BatchView batch(item.bytes.data());
  const std::int64_t last_offset = old ? batch.base_offset() : batch.last_offset();
  if (options_.first_offset) {
    if (last_offset < *options_.first_offset) return true;
    // The first offset inside an old message that wraps others cannot be known from here.
    const bool wraps = old && LegacyMessageView(item.bytes.data()).is_wrapper();
    if (!wraps && batch.base_offset() > options_.last_offset) return false;
  }
  if (options_.from_time_ms && !time_reached_) {
    const std::int64_t newest = old ? LegacyMessageView(item.bytes.data()).timestamp() : batch.max_timestamp();
    if (newest < *options_.from_time_ms) return true;
    time_reached_ = true;
    skips_older_ = true;
  }
  if (!item.fault.empty()) {
    ++report_.damages;
    ++stats_.damages;
  }
  if (!options_.stats) {
    show(file, item);
    return true;
  }
  ++report_.batches;
  if (!item.fault.empty()) {
    head(file);
    write(options_.json ? batch_object(file, item) : batch_line(item));
  }
  if (const auto added = stats_.add(item, file.label, decompressor_); !added) {
    LogItem damage{
        .kind = LogItem::Kind::damage, .position = item.position, .size = item.size, .bytes = {}, .fault = {}};
    damage.fault = "its records cannot be read: " + added.error();
    damaged(file, damage);
  }
  return true;
}

base::Result<void, std::string> Dump::file(const LogFile& file) {
  const auto opened = files_.open(file.path, runtime::OpenMode::read);
  if (!opened) return std::unexpected(opened.error().message());
  const auto size = (*opened)->size();
  if (!size) return std::unexpected(size.error().message());
  head_written_ = false;
  if (!options_.stats && !options_.selects()) head(file);
  ++stats_.files;
  stats_.file_bytes += *size;
  LogScanner scanner(*opened,
                     {.begin = start_of(file), .end = *size, .next_offset = std::max(file.base_offset, next_offset_)});
  bool more = true;
  while (more && !report_.closed) {
    auto next = scanner.next();
    if (!next) return std::unexpected(next.error().message());
    if (!next->has_value()) break;
    sink_.progress(bytes_before_ + scanner.position(), total_bytes_);
    more = item(file, **next);
  }
  next_offset_ = scanner.next_offset();
  bytes_before_ += file.size_bytes;
  return {};
}

base::Result<void, std::string> Dump::folder(const LogFolder& folder) {
  next_offset_ = 0;
  time_reached_ = false;
  skips_older_ = false;
  stats_ = {};
  for (std::size_t i = 0; i < folder.files.size() && !report_.closed; ++i) {
    const LogFile& one = folder.files[i];
    // Records of a segment are below the base offset of the next.
    const bool before = options_.first_offset && i + 1 < folder.files.size() &&
                        folder.files[i + 1].base_offset <= *options_.first_offset;
    const bool behind = options_.first_offset && one.base_offset > options_.last_offset;
    if (before || behind) {
      bytes_before_ += one.size_bytes;
      continue;
    }
    TRY(file(one));
  }
  return {};
}

base::Result<LogDumpReport, std::string> Dump::run(const LogTree& tree) {
  for (const LogFolder& folder : tree.folders)
    for (const LogFile& file : folder.files) total_bytes_ += file.size_bytes;
  if (tree.single_file && tree.folders.front().files.front().kind != LogFileKind::log) {
    const LogFile& only = tree.folders.front().files.front();
    if (options_.stats || options_.selects())
      return std::unexpected(fmt::format("{} holds no records to select or to sum up", only.label));
    ASSIGN_OR_RETURN(const SmallFileReport small, print_small_file(files_, only, options_.json, sink_));
    return LogDumpReport{.damages = small.damages, .batches = 0, .closed = small.closed};
  }
  LogStats sum;
  for (const LogFolder& one : tree.folders) {
    if (report_.closed) break;
    TRY(folder(one));
    if (!options_.stats) continue;
    write(options_.json ? stats_object(one.label, stats_) : stats_text(one.label, stats_));
    sum.merge(stats_);
  }
  if (options_.stats && tree.folders.size() > 1)
    write(options_.json ? stats_object("all", sum)
                        : stats_text(fmt::format("all {} partitions", tree.folders.size()), sum));
  return report_;
}

}  // namespace

base::Result<LogDumpReport, std::string> dump_logs(runtime::FileSystem& files, const Catalog& catalog,
                                                   const LogTree& tree, const LogDumpOptions& options, LogSink& sink) {
  return Dump(files, catalog, options, sink).run(tree);
}

}  // namespace thalweg::inspect
