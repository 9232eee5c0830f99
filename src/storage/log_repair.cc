#include "storage/log_repair.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/crc32c.h"
#include "base/endian.h"
#include "protocol/batch_view.h"
#include "storage/checkpoints.h"
#include "storage/copy_files.h"
#include "storage/handle_cache.h"
#include "storage/index_cache.h"
#include "storage/leader_epochs.h"
#include "storage/log.h"
#include "storage/segment_files.h"

namespace thalweg::storage {

using protocol::kBatchHeaderSize;
using runtime::IoResult;

namespace {

constexpr const char* kRepairedSuffix = ".repaired";

// A batch without records that covers [first, last].
std::array<std::uint8_t, kBatchHeaderSize> empty_batch(std::int64_t first, std::int64_t last) {
  std::array<std::uint8_t, kBatchHeaderSize> batch{};
  std::uint8_t* const p = batch.data();
  base::store_be(p, first);
  base::store_be(p + 8, static_cast<std::int32_t>(kBatchHeaderSize - protocol::kLogOverhead));
  base::store_be(p + 12, std::int32_t{-1});  // leader epoch: not known
  p[protocol::kMagicPosition] = 2;
  base::store_be(p + 23, static_cast<std::int32_t>(last - first));
  base::store_be(p + 27, protocol::kNoTimestamp);
  base::store_be(p + 35, protocol::kNoTimestamp);
  base::store_be(p + 43, std::int64_t{-1});
  base::store_be(p + 51, protocol::kNoProducerEpoch);
  base::store_be(p + 53, protocol::kNoSequence);
  base::store_be(p + protocol::kCrcPosition, base::crc32c(std::span(batch).subspan(protocol::kAttributesPosition)));
  return batch;
}

IoResult<std::string> free_name(runtime::FileSystem& files, const std::string& folder, const std::string& name) {
  for (int number = 1;; ++number) {
    std::string aside = name + kDamagedSuffix + (number == 1 ? std::string() : fmt::format(".{}", number));
    ASSIGN_OR_RETURN(const bool taken, files.exists(in_directory(folder, aside)));
    if (!taken) return aside;
  }
}

class Repair {
 public:
  Repair(runtime::FileSystem& files, const std::string& folder) : files_(files), folder_(folder) {}

  IoResult<void> cut_end(const SegmentRepair& segment) {
    const std::uint64_t keep = segment.sound.empty() ? 0 : segment.sound.front().size;
    const std::string name = segment_file_name(segment.base_offset, SegmentFile::log);
    ASSIGN_OR_RETURN(const std::string aside, free_name(files_, folder_, name + ".tail"));
    ASSIGN_OR_RETURN(const auto log, files_.open(in_directory(folder_, name), runtime::OpenMode::read_write));
    ASSIGN_OR_RETURN(const auto tail, files_.open(in_directory(folder_, aside), runtime::OpenMode::create));
    TRY(copy_range(*log, keep, segment.size_bytes - keep, *tail, 0));
    TRY(tail->sync());
    TRY(files_.sync_directory(folder_));
    TRY(log->truncate(keep));
    TRY(log->sync());
    say("{} is cut at position {}, offset {}; the {} bytes behind it are in {}", name, keep, segment.next_offset,
        segment.size_bytes - keep, aside);
    return {};
  }

  IoResult<void> write_anew(const SegmentRepair& segment) {
    const std::string name = segment_file_name(segment.base_offset, SegmentFile::log);
    const std::string path = in_directory(folder_, name);
    ASSIGN_OR_RETURN(const auto damaged, files_.open(path, runtime::OpenMode::read));
    ASSIGN_OR_RETURN(const auto repaired, files_.open(path + kRepairedSuffix, runtime::OpenMode::create));
    TRY(repaired->truncate(0));
    std::uint64_t size = 0;
    for (const SoundRange& range : segment.sound) {
      TRY(copy_range(*damaged, range.position, range.size, *repaired, size));
      size += range.size;
    }
    for (std::int64_t from = segment.next_offset; segment.end && from < *segment.end;) {
      const std::int64_t last = std::min(*segment.end - 1, from + (INT32_MAX - 1));
      const auto batch = empty_batch(from, last);
      TRY(repaired->write_at(size, std::span<const std::uint8_t>(batch)));
      size += batch.size();
      from = last + 1;
    }
    TRY(repaired->sync());
    ASSIGN_OR_RETURN(const std::string aside, set_aside(files_, folder_, name));
    TRY(files_.rename(path + kRepairedSuffix, path));
    TRY(files_.sync_directory(folder_));
    say("{} is written anew from its sound batches, {} of {} bytes; as it was it is {}", name, size, segment.size_bytes,
        aside);
    return {};
  }

  IoResult<void> put_away(const std::string& name) {
    ASSIGN_OR_RETURN(const bool there, files_.exists(in_directory(folder_, name)));
    if (!there) return {};
    ASSIGN_OR_RETURN(const std::string aside, set_aside(files_, folder_, name));
    say("{} is made anew; as it was it is {}", name, aside);
    return {};
  }

  // Opens the log as after an unclean stop that lost nothing, which makes what is missing, and closes it in order.
  IoResult<std::int64_t> remake(const TopicPartition& partition, const RepairOptions& options) {
    TRY(copy_broken_epochs());
    HandleCache handles(files_, 16);
    IndexCache indexes(std::size_t{1} << 20);
    LogContext context{.files = files_, .handles = handles, .indexes = indexes};
    ASSIGN_OR_RETURN(const std::unique_ptr<Log> log,
                     Log::open(context, folder_, partition, std::make_shared<const LogConfig>(),
                               {.clean_shutdown = false,
                                .recovery_point = options.log_end_offset,
                                .log_start_offset = std::min(options.log_start_offset, options.log_end_offset),
                                .now_ms = options.now_ms}));
    const std::int64_t end = log->log_end_offset();
    TRY(log->close({.sync = true}));
    say("indexes and producer state are made from the batches");
    return end;
  }

  // A segment's other files say nothing of the new one.
  IoResult<void> forget_indexes(std::int64_t base_offset) {
    for (const SegmentFile file : {SegmentFile::offset_index, SegmentFile::time_index, SegmentFile::transaction_index})
      TRY(files_.remove(segment_file_path(folder_, base_offset, file)));
    return {};
  }

  // A log that is opened makes a broken file anew, but only where it finds it.
  IoResult<void> copy_broken_epochs() {
    const std::string path = in_directory(folder_, kLeaderEpochsFileName);
    ASSIGN_OR_RETURN(const bool there, files_.exists(path));
    if (!there) return {};
    ASSIGN_OR_RETURN(const std::string text, files_.read_file(path));
    if (LeaderEpochs::parse(text)) return {};
    ASSIGN_OR_RETURN(const std::string aside, free_name(files_, folder_, std::string(kLeaderEpochsFileName)));
    TRY(files_.replace_file(in_directory(folder_, aside), text));
    say("{} is made anew from all batches; as it was it is {}", kLeaderEpochsFileName, aside);
    return {};
  }

  std::vector<std::string> take_lines() { return std::move(done_); }

 private:
  template <class... Args>
  void say(fmt::format_string<Args...> format, Args&&... args) {
    done_.push_back(folder_ + ": " + fmt::format(format, std::forward<Args>(args)...));
  }

  runtime::FileSystem& files_;
  const std::string& folder_;
  std::vector<std::string> done_;
};

}  // namespace

bool only_end_is_torn(const SegmentRepair& segment) {
  return !segment.end && segment.sound.size() <= 1 && (segment.sound.empty() || segment.sound.front().position == 0);
}

IoResult<std::string> set_aside(runtime::FileSystem& files, const std::string& folder, const std::string& name) {
  ASSIGN_OR_RETURN(std::string aside, free_name(files, folder, name));
  TRY(files.rename(in_directory(folder, name), in_directory(folder, aside)));
  return aside;
}

IoResult<Repaired> repair_log(runtime::FileSystem& files, const std::string& folder, const TopicPartition& partition,
                              const RepairPlan& plan, const RepairOptions& options) {
  Repair repair(files, folder);
  Repaired repaired;
  for (const std::string& name : plan.bad_files) TRY(repair.put_away(name));
  for (const SegmentRepair& segment : plan.segments) {
    TRY(repair.forget_indexes(segment.base_offset));
    TRY(only_end_is_torn(segment) ? repair.cut_end(segment) : repair.write_anew(segment));
  }
  ASSIGN_OR_RETURN(repaired.log_end_offset, repair.remake(partition, options));
  repaired.done = repair.take_lines();
  return repaired;
}

}  // namespace thalweg::storage
