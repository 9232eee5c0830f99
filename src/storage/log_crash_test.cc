// Random lives of a log on a simulated disk: appends, rolls, flushes, retention, full disks, failing calls, restarts
// and crashes, against a model that remembers everything. After each start:
//   - what was flushed is there, and nothing that was not appended; offsets have no gaps; bytes are what was appended
//   - every offset is found through the indexes, and index files say what the log says
//   - producer state and aborted transactions are what a replay of all batches gives
// A seed that fails is printed; run it alone with THALWEG_SEED.

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <deque>
#include <map>

#include "base/log.h"
#include "runtime/simulated_file.h"
#include "storage/log.h"
#include "storage/producer_append.h"
#include "storage/test_batch.h"

namespace thalweg::storage {
namespace {

constexpr std::int64_t kNow = 1'700'000'000'000;
const std::string kFolder = "data/t-0";

struct Appended {
  std::int64_t base_offset;
  std::int64_t next_offset;
  std::vector<std::uint8_t> bytes;
};

class Life {
 public:
  explicit Life(std::uint64_t seed) : files_(seed), state_(seed * 7919 + 1) {
    config_ = std::make_shared<LogConfig>();
    config_->segment_bytes = static_cast<std::int32_t>(800 + random(3000));
    config_->index_interval_bytes = static_cast<std::int32_t>(50 + random(400));
    config_->retention_ms = -1;
    // The log directory itself is its owner's to make and to sync.
    EXPECT_TRUE(files_.create_directories("data").has_value());
    EXPECT_TRUE(files_.sync_directory("/").has_value());
    open();
  }

  void run(int steps) {
    for (int i = 0; i < steps && !testing::Test::HasFatalFailure(); ++i) step();
    if (!testing::Test::HasFatalFailure()) crash();
    if (!testing::Test::HasFatalFailure()) restart_clean();
  }

 private:
  std::uint64_t random(std::uint64_t bound) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return (state_ >> 11) % bound;
  }

  void step() {
    switch (random(24)) {
      case 0:
        return crash();
      case 1:
        return restart_clean();
      case 2:
        return flush();
      case 3:
        return start_flush();
      case 4:
        return finish_flush();
      case 5:
        return retention();
      case 6:
        if (random(4) == 0) return truncate();
        return;
      case 7:
        checkpoint_ = log_->recovery_point();
        return;
      case 8:
        ASSERT_TRUE(log_->release_memory().has_value());
        return;
      case 9: {
        // A call of the next append fails, for good or for want of space.
        files_.fail_call(random(6), random(2) == 0 ? EIO : ENOSPC);
        append();
        files_.fail_call(UINT32_MAX, EIO);
        return;
      }
      default:
        return append();
    }
  }

  void open() {
    handles_ = std::make_unique<HandleCache>(files_, 2);
    context_ = std::make_unique<LogContext>(LogContext{.files = files_, .handles = *handles_, .indexes = indexes_});
    // A start may be interrupted as well.
    while (true) {
      if (random(4) == 0) files_.fail_call(random(30), EIO);
      auto opened = Log::open(
          *context_, kFolder, {"t", 0}, config_,
          {.clean_shutdown = clean_, .recovery_point = checkpoint_, .log_start_offset = log_start_, .now_ms = kNow});
      files_.fail_call(UINT32_MAX, EIO);
      if (opened) {
        log_ = std::move(*opened);
        break;
      }
      ASSERT_EQ(opened.error().error_number, EIO) << opened.error().message();
      // After a failed sync the kernel may have dropped the data and say nothing more: only a new start of the machine
      // shows what is there.
      if (random(2) == 0 || opened.error().what.starts_with("fdatasync")) {
        clean_ = false;
        files_.crash();
      }
    }
    clean_ = false;
    ++leader_epoch_;
    ASSERT_FALSE(log_->recovery_report().durable_end_lost);
    find_failed_appends();
    check();
    // What was appended and not found is gone for good.
    while (!appended_.empty() && appended_.back().next_offset > log_->log_end_offset()) appended_.pop_back();
    for (auto& [id, sequence] : sequences_) {
      const ProducerEntry* entry = log_->producers().find(id);
      sequence = entry == nullptr ? 0 : entry->last_sequence() + 1;
      if (entry != nullptr && !entry->has_batches()) sequence = 0;
    }
  }

  // An append that failed may have been written nevertheless. Before a crash it is cut off; but where the crash undoes
  // that and what came after, it is back. Nobody was told that it was there, nor that what came after was durable.
  void find_failed_appends() {
    for (std::int64_t offset = std::max(flushed_, log_->log_start_offset()); offset < log_->log_end_offset();) {
      const ReadResult result =
          log_->read(offset, {.max_bytes = 1, .at_least_one = true, .blocking = Blocking::allowed});
      const auto bytes = Log::read_bytes(result.range, Blocking::allowed);
      ASSERT_TRUE(bytes.has_value());
      const protocol::BatchView batch(bytes->data());
      for (const Appended& failed : failed_) {
        if (!std::ranges::equal(*bytes, failed.bytes)) continue;
        // What was appended in its place is gone; what came behind that may be there.
        std::erase_if(appended_, [&](const Appended& one) {
          return one.base_offset < failed.next_offset && one.next_offset > failed.base_offset;
        });
        const auto behind =
            std::ranges::find_if(appended_, [&](const Appended& one) { return one.base_offset >= failed.next_offset; });
        appended_.insert(behind, failed);
        break;
      }
      offset = batch.next_offset();
    }
    failed_.clear();
  }

  void crash() {
    pending_.clear();
    log_ = nullptr;
    files_.crash();
    open();
  }

  void restart_clean() {
    pending_.clear();
    ASSERT_TRUE(log_->close({.sync = true}).has_value());
    check_index_files();
    flushed_ = log_->log_end_offset();
    log_start_ = log_->log_start_offset();
    log_ = nullptr;
    if (random(2) == 0) files_.crash();
    clean_ = true;
    open();
  }

  void append() {
    const auto producer = static_cast<std::int64_t>(1 + random(3));
    const bool open_transaction =
        log_->producers().find(producer) != nullptr && log_->producers().find(producer)->current_txn_first_offset >= 0;
    std::vector<std::vector<std::uint8_t>> batches;
    AppendOptions options{.leader_epoch = leader_epoch_, .now_ms = kNow};
    const std::int64_t timestamp = kNow + static_cast<std::int64_t>(random(1'000'000));
    std::int32_t records = 0;
    if (open_transaction && random(3) == 0) {
      options.origin = AppendOrigin::coordinator;
      batches.push_back(test::make_marker(producer, 0, random(2) == 0, 0, timestamp));
    } else if (random(3) == 0) {
      for (std::uint64_t i = 0; i <= random(3); ++i)
        batches.push_back(test::make_batch(
            {.records = 1 + static_cast<std::int32_t>(random(4)), .value_bytes = random(40), .timestamp = timestamp}));
    } else {
      records = 1 + static_cast<std::int32_t>(random(4));
      batches.push_back(test::make_batch({.records = records,
                                          .value_bytes = random(120),
                                          .timestamp = timestamp,
                                          .producer_id = producer,
                                          .producer_epoch = 0,
                                          .base_sequence = sequences_[producer],
                                          .transactional = open_transaction || random(2) == 0}));
    }
    const std::vector<MutableBatch> views(batches.begin(), batches.end());
    const std::int64_t before = log_->log_end_offset();
    const AppendResult result = log_->append(views, options);
    if (!result.ok()) {
      ASSERT_EQ(result.error, protocol::ErrorCode::kafka_storage_error) << result.detail;
      ASSERT_EQ(log_->log_end_offset(), before);
      remember(failed_, std::move(batches));
      return;
    }
    ASSERT_FALSE(result.duplicate);
    ASSERT_EQ(result.first_offset, before);
    sequences_[producer] += records;
    remember(appended_, std::move(batches));
    ASSERT_EQ(appended_.back().next_offset, log_->log_end_offset());
  }

  static void remember(std::vector<Appended>& in, std::vector<std::vector<std::uint8_t>> batches) {
    for (auto& bytes : batches) {
      const protocol::BatchView batch(bytes.data());
      in.push_back({batch.base_offset(), batch.next_offset(), std::move(bytes)});
    }
  }

  void start_flush() {
    auto targets = log_->flush_targets();
    ASSERT_TRUE(targets.has_value());
    if (*targets) pending_.push_back(std::move(**targets));
  }

  void finish_flush() {
    if (pending_.empty()) return;
    FlushTargets targets = std::move(pending_.front());
    pending_.pop_front();
    if (random(3) == 0) {
      ASSERT_TRUE(files_.sync_filesystem("data").has_value());
    } else {
      for (const auto& file : targets.files) ASSERT_TRUE(file->sync().has_value());
      for (const auto& folder : targets.folders) ASSERT_TRUE(files_.sync_directory(folder).has_value());
    }
    for (const auto& replacement : targets.replacements)
      ASSERT_TRUE(files_.replace_file(replacement.path, replacement.contents).has_value());
    log_->mark_flushed(targets.mark);
    flushed_ = std::max(flushed_, log_->recovery_point());
  }

  void flush() {
    start_flush();
    while (!pending_.empty()) finish_flush();
  }

  void retention() {
    const auto deleted =
        log_->delete_old_segments({.highest_offset = flushed_, .now_ms = kNow, .most_segments = 1 + random(4)},
                                  [&](const Segment&) { return random(3) != 0; });
    ASSERT_TRUE(deleted.has_value());
    for (const std::string& file : deleted->files)
      if (random(2) == 0) ASSERT_TRUE(files_.remove(file).has_value());
    if (random(2) == 0) log_start_ = log_->log_start_offset();
  }

  void truncate() {
    // As a follower does; never below what was flushed, so that the model's promises stand.
    const std::int64_t span = log_->log_end_offset() - flushed_;
    if (span <= 0) return;
    const std::int64_t to = flushed_ + static_cast<std::int64_t>(random(static_cast<std::uint64_t>(span)));
    const auto truncated = log_->truncate_to(to, kNow);
    ASSERT_TRUE(truncated.has_value()) << truncated.error().message();
    while (!appended_.empty() && appended_.back().next_offset > log_->log_end_offset()) appended_.pop_back();
    for (auto& [id, sequence] : sequences_) {
      const ProducerEntry* entry = log_->producers().find(id);
      sequence = entry == nullptr || !entry->has_batches() ? 0 : entry->last_sequence() + 1;
    }
    check();
    ++leader_epoch_;
  }

  void check() {
    const std::int64_t end = log_->log_end_offset();
    ASSERT_GE(end, flushed_) << "flushed records are gone";
    const std::int64_t appended_end = appended_.empty() ? 0 : appended_.back().next_offset;
    ASSERT_LE(end, appended_end) << "records that nobody appended";
    if (!clean_) ASSERT_LE(log_->recovery_point(), flushed_);
    ProducerState producers;
    std::vector<AbortedTransaction> aborted;
    const AppendOptions replay{.origin = AppendOrigin::replication};
    std::int64_t expected = 0;
    for (const Appended& batch : appended_) {
      if (batch.next_offset > end) break;
      ASSERT_EQ(batch.base_offset, expected);
      expected = batch.next_offset;
      ProducerAppend append(producers, replay);
      ASSERT_TRUE(append.add(batch.bytes).has_value());
      aborted.insert(aborted.end(), append.aborted().begin(), append.aborted().end());
      append.commit(producers);
      if (batch.base_offset < log_->log_start_offset()) continue;
      check_batch(batch);
    }
    ASSERT_EQ(expected, end) << "the log ends within a batch";
    check_producers(producers);
    std::erase_if(aborted, [&](const auto& one) { return one.last_offset < log_->log_start_offset(); });
    const auto found = log_->aborted_transactions(log_->log_start_offset(), end, Blocking::allowed);
    ASSERT_TRUE(found.has_value());
    ASSERT_EQ(*found, aborted);
    const auto unstable = log_->producers().first_undecided_offset();
    ASSERT_EQ(unstable, producers.first_undecided_offset());
  }

  void check_batch(const Appended& batch) {
    const std::int64_t offset =
        batch.base_offset +
        static_cast<std::int64_t>(random(static_cast<std::uint64_t>(batch.next_offset - batch.base_offset)));
    const ReadResult result = log_->read(offset, {.max_bytes = 1, .at_least_one = true, .blocking = Blocking::allowed});
    ASSERT_EQ(result.status, ReadResult::Status::ok) << result.detail;
    const auto bytes = Log::read_bytes(result.range, Blocking::allowed);
    ASSERT_TRUE(bytes.has_value());
    ASSERT_TRUE(std::ranges::equal(*bytes, batch.bytes)) << "offset " << offset << " gives other bytes";
  }

  // A restart knows of the last five batches at least the last.
  void check_producers(const ProducerState& expected) {
    ASSERT_EQ(log_->producers().size(), expected.size());
    for (const ProducerEntry& entry : expected.entries()) {
      const ProducerEntry* found = log_->producers().find(entry.producer_id);
      ASSERT_NE(found, nullptr);
      ASSERT_EQ(found->epoch, entry.epoch);
      ASSERT_EQ(found->last_sequence(), entry.last_sequence());
      ASSERT_EQ(found->last_offset(), entry.last_offset());
      ASSERT_EQ(found->last_timestamp, entry.last_timestamp);
      ASSERT_EQ(found->coordinator_epoch, entry.coordinator_epoch);
      ASSERT_EQ(found->current_txn_first_offset, entry.current_txn_first_offset);
    }
  }

  // Reads the index files of a closed log beside its batches.
  void check_index_files() {
    const auto listed = files_.list(kFolder);
    ASSERT_TRUE(listed.has_value());
    for (const auto& entry : *listed) {
      const auto name = parse_segment_file_name(entry.name);
      if (!name || name->file != SegmentFile::log || !name->suffix.empty()) continue;
      if (entry.size == 0) continue;                       // may be left from a roll that failed, without indexes
      std::map<std::uint32_t, std::int64_t> last_offsets;  // by position
      std::map<std::int64_t, std::int64_t> newest_before;  // largest timestamp up to the batch with this last offset
      std::int64_t newest = -1;
      std::uint32_t since = 0;
      std::size_t entries = 0;
      const std::string log = *files_.read_file(kFolder + '/' + entry.name);
      for (std::uint32_t at = 0; at < log.size();) {
        const protocol::BatchView batch(reinterpret_cast<const std::uint8_t*>(log.data()) + at);
        if (since > static_cast<std::uint32_t>(config_->index_interval_bytes)) {
          ++entries;
          since = 0;
        }
        last_offsets[at] = batch.last_offset();
        newest = std::max(newest, batch.max_timestamp());
        newest_before[batch.last_offset()] = newest;
        since += static_cast<std::uint32_t>(batch.size_bytes());
        at += static_cast<std::uint32_t>(batch.size_bytes());
      }
      const auto read_index = files_.read_file(segment_file_path(kFolder, name->offset, SegmentFile::offset_index));
      ASSERT_TRUE(read_index.has_value()) << read_index.error().message();
      const std::string& index = *read_index;
      ASSERT_EQ(index.size() % OffsetIndexEntry::kSize, 0U);
      std::uint32_t last_position = 0;
      for (std::size_t i = 0; i < index.size(); i += OffsetIndexEntry::kSize) {
        const auto one = OffsetIndexEntry::decode(reinterpret_cast<const std::uint8_t*>(index.data()) + i);
        ASSERT_GT(one.position, last_position);
        last_position = one.position;
        ASSERT_TRUE(last_offsets.contains(one.position));
        ASSERT_EQ(last_offsets[one.position], name->offset + one.relative_offset);
      }
      // A clean restart begins a new interval, so there may be one less for each.
      ASSERT_LE(index.size() / OffsetIndexEntry::kSize, entries);
      if (!had_clean_restart_) ASSERT_EQ(index.size() / OffsetIndexEntry::kSize, entries);
      const auto read_times = files_.read_file(segment_file_path(kFolder, name->offset, SegmentFile::time_index));
      ASSERT_TRUE(read_times.has_value()) << read_times.error().message();
      const std::string& times = *read_times;
      std::int64_t last_timestamp = -1;
      for (std::size_t i = 0; i < times.size(); i += TimeIndexEntry::kSize) {
        const auto one = TimeIndexEntry::decode(reinterpret_cast<const std::uint8_t*>(times.data()) + i);
        ASSERT_GT(one.timestamp, last_timestamp);
        last_timestamp = one.timestamp;
        ASSERT_EQ(newest_before[name->offset + one.relative_offset], one.timestamp);
      }
      ASSERT_EQ(last_timestamp, newest) << "the last entry holds the largest timestamp";
    }
    had_clean_restart_ = true;
  }

  runtime::SimulatedFileSystem files_;
  std::uint64_t state_;
  std::shared_ptr<LogConfig> config_;
  IndexCache indexes_{4096};
  std::unique_ptr<HandleCache> handles_;
  std::unique_ptr<LogContext> context_;
  std::unique_ptr<Log> log_;
  std::deque<FlushTargets> pending_;
  std::vector<Appended> appended_;
  std::vector<Appended> failed_;
  std::map<std::int64_t, std::int32_t> sequences_;
  std::int64_t flushed_ = 0;     // everything before it has been promised
  std::int64_t checkpoint_ = 0;  // recovery point, as its file would say
  std::int64_t log_start_ = 0;   // log start offset, as its file would say
  std::int32_t leader_epoch_ = 0;
  bool clean_ = false;
  bool had_clean_restart_ = false;
};

TEST(LogCrash, FlushedRecordsSurviveAndTheRestAgrees) {
  const char* one = std::getenv("THALWEG_SEED");
  const std::uint64_t first = one == nullptr ? 1 : std::strtoull(one, nullptr, 10);
  const char* many = std::getenv("THALWEG_SEEDS");
  const std::uint64_t count = one != nullptr ? 1 : many == nullptr ? 300 : std::strtoull(many, nullptr, 10);
  base::set_log_level("storage", base::LogLevel::off);  // each crash would write a line
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE(testing::Message() << "THALWEG_SEED=" << seed);
    Life(seed).run(60);
    ASSERT_FALSE(HasFatalFailure());
  }
  base::set_log_level("storage", base::LogLevel::info);
}

}  // namespace
}  // namespace thalweg::storage
