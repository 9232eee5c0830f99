// Folders as crashes, bad disks and interrupted work leave them.

#include <gtest/gtest.h>

#include <cerrno>

#include "base/log.h"
#include "runtime/simulated_file.h"
#include "storage/checkpoints.h"
#include "storage/log.h"
#include "storage/test_batch.h"

namespace thalweg::storage {
namespace {

constexpr std::int64_t kNow = 1'700'000'000'000;
const std::string kFolder = "data/t-0";

class LogRecoveryTest : public testing::Test {
 protected:
  void SetUp() override {
    base::set_log_level("storage", base::LogLevel::off);
    config_.segment_bytes = 1000;
    config_.index_interval_bytes = 150;
    write_log();
  }
  void TearDown() override { base::set_log_level("storage", base::LogLevel::info); }

  // 40 batches of two records, in several segments.
  void write_log() {
    ASSERT_TRUE(open({.now_ms = kNow}));
    for (int i = 0; i < 40; ++i) {
      auto batch = test::make_batch(
          {.records = 2, .timestamp = kNow + i, .producer_id = 1, .producer_epoch = 0, .base_sequence = 2 * i});
      const MutableBatch batches[] = {batch};
      ASSERT_TRUE(log_->append(batches, {.leader_epoch = i / 10, .now_ms = kNow}).ok());
    }
    ASSERT_TRUE(log_->close({.sync = true}).has_value());
    for (const auto& entry : *files_.list(kFolder)) {
      const auto name = parse_segment_file_name(entry.name);
      if (name && name->file == SegmentFile::log) bases_.push_back(name->offset);
    }
    ASSERT_GE(bases_.size(), 4U);
    ASSERT_TRUE(files_.sync_filesystem("data").has_value());
  }
  bool open(const OpenOptions& options) {
    log_ = nullptr;
    auto opened = Log::open(context_, kFolder, {"t", 0}, std::make_shared<LogConfig>(config_), options);
    if (!opened) {
      error_ = opened.error();
      return false;
    }
    log_ = std::move(*opened);
    return true;
  }
  std::string path(std::int64_t base, SegmentFile file) { return segment_file_path(kFolder, base, file); }
  // Every record from the log start to the log end can be found.
  void expect_readable() {
    for (std::int64_t offset = log_->log_start_offset(); offset < log_->log_end_offset(); ++offset) {
      const ReadResult result = log_->read(offset, {.blocking = Blocking::allowed});
      ASSERT_EQ(result.status, ReadResult::Status::ok) << result.detail;
      ASSERT_EQ(result.first_batch_offset, offset / 2 * 2);
    }
  }

  runtime::SimulatedFileSystem files_{11};
  HandleCache handles_{files_, 2};
  IndexCache indexes_{1 << 20};
  LogContext context_{.files = files_, .handles = handles_, .indexes = indexes_};
  LogConfig config_;
  std::unique_ptr<Log> log_;
  runtime::IoError error_;
  std::vector<std::int64_t> bases_;
};

TEST_F(LogRecoveryTest, TornTailIsCutAtEveryByte) {
  const std::string last = path(bases_.back(), SegmentFile::log);
  const std::string whole = *files_.read_file(last);
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    ASSERT_TRUE(files_.replace_file(last, whole.substr(0, size)).has_value());
    ASSERT_TRUE(open({.recovery_point = bases_.back(), .now_ms = kNow}));
    EXPECT_LE(log_->log_end_offset(), 80);
    EXPECT_EQ(log_->log_end_offset() % 2, 0);
    EXPECT_LT(static_cast<std::size_t>(log_->recovery_report().bytes_truncated), whole.size());
    expect_readable();
    const ProducerEntry* producer = log_->producers().find(1);
    ASSERT_NE(producer, nullptr);
    EXPECT_EQ(producer->last_sequence(), log_->log_end_offset() - 1);
  }
}

TEST_F(LogRecoveryTest, DamagedBatchEndsTheLogAndLaterSegmentsGo) {
  files_.damage(path(bases_[1], SegmentFile::log), 200, 0x40);
  ASSERT_TRUE(open({.recovery_point = 0, .now_ms = kNow}));
  EXPECT_GE(log_->log_end_offset(), bases_[1]);
  EXPECT_LT(log_->log_end_offset(), bases_[2]);
  EXPECT_EQ(log_->segment_count(), 2U);
  EXPECT_EQ(static_cast<std::size_t>(log_->recovery_report().segments_deleted), bases_.size() - 2);
  EXPECT_GT(log_->recovery_report().bytes_truncated, 0);
  expect_readable();
  EXPECT_FALSE(*files_.exists(path(bases_[2], SegmentFile::log)));
  EXPECT_EQ(log_->producers().find(1)->last_sequence(), log_->log_end_offset() - 1);
}

TEST_F(LogRecoveryTest, LossOfSyncedRecordsIsReported) {
  files_.damage(path(bases_.back(), SegmentFile::log), 30, 0x40);
  ASSERT_TRUE(open({.recovery_point = 80, .now_ms = kNow}));
  EXPECT_TRUE(log_->recovery_report().durable_end_lost);
  EXPECT_EQ(log_->recovery_point(), log_->log_end_offset());
}

TEST_F(LogRecoveryTest, DamageBelowTheRecoveryPointIsLeftAlone) {
  const std::uint64_t size = files_.read_file(path(bases_[0], SegmentFile::log))->size();
  files_.damage(path(bases_[0], SegmentFile::log), 200, 0x40);
  ASSERT_TRUE(open({.recovery_point = 80, .now_ms = kNow}));
  EXPECT_EQ(log_->log_end_offset(), 80);
  // Where its index is missing as well, opening it fails rather than cutting it.
  ASSERT_TRUE(files_.remove(path(bases_[0], SegmentFile::offset_index)).has_value());
  ASSERT_FALSE(open({.recovery_point = 80, .now_ms = kNow}));
  EXPECT_EQ(error_.error_number, EBADMSG);
  ASSERT_FALSE(open({.clean_shutdown = true, .now_ms = kNow})) << "nor does a second try take a half-made index";
  EXPECT_EQ(files_.read_file(path(bases_[0], SegmentFile::log))->size(), size);
}

TEST_F(LogRecoveryTest, DamageBeforeTheTailDoesNotKeepACleanLogFromOpening) {
  files_.damage(path(bases_.back(), SegmentFile::log), protocol::kMagicPosition, 0x40);
  ASSERT_TRUE(open({.clean_shutdown = true, .now_ms = kNow}));
  EXPECT_EQ(log_->log_end_offset(), 80);
  EXPECT_EQ(log_->recovery_report().segments_recovered, 0);
  EXPECT_EQ(log_->producers().find(1)->last_sequence(), 79);
  const ReadResult damaged = log_->read(bases_.back(), {.blocking = Blocking::allowed});
  EXPECT_EQ(damaged.status, ReadResult::Status::failed);
  EXPECT_TRUE(damaged.corrupt);
}

TEST_F(LogRecoveryTest, MissingAndBrokenIndexesAreRebuilt) {
  for (const SegmentFile file : {SegmentFile::offset_index, SegmentFile::time_index}) {
    const std::string before = *files_.read_file(path(bases_[1], file));
    for (const bool missing : {true, false}) {
      if (missing) {
        ASSERT_TRUE(files_.remove(path(bases_[1], file)).has_value());
      } else {
        ASSERT_TRUE(files_.replace_file(path(bases_[1], file), before.substr(0, before.size() - 1)).has_value());
      }
      ASSERT_TRUE(open({.clean_shutdown = true, .now_ms = kNow}));
      EXPECT_EQ(log_->recovery_report().indexes_rebuilt, 1);
      EXPECT_EQ(*files_.read_file(path(bases_[1], file)), before);
      EXPECT_EQ(log_->producers().find(1)->last_sequence(), 79);
      expect_readable();
    }
  }
}

TEST_F(LogRecoveryTest, PreallocatedIndexesOfAKilledBrokerAreRebuilt) {
  const std::string before = *files_.read_file(path(bases_[1], SegmentFile::offset_index));
  ASSERT_TRUE(
      files_.replace_file(path(bases_[1], SegmentFile::offset_index), before + std::string(800, '\0')).has_value());
  ASSERT_TRUE(open({.recovery_point = 80, .now_ms = kNow}));
  EXPECT_EQ(*files_.read_file(path(bases_[1], SegmentFile::offset_index)), before);
}

TEST_F(LogRecoveryTest, BrokenLeaderEpochFileIsRebuiltFromTheBatches) {
  const std::string file = kFolder + "/leader-epoch-checkpoint";
  for (const char* text : {"garbage", "0\n9\n0 0\n"}) {
    ASSERT_TRUE(files_.replace_file(file, text).has_value());
    ASSERT_TRUE(open({.clean_shutdown = true, .now_ms = kNow}));
    EXPECT_EQ(log_->leader_epochs().entries(), (std::vector<EpochEntry>{{0, 0}, {1, 20}, {2, 40}, {3, 60}}));
    EXPECT_EQ(log_->log_end_offset(), 80);
  }
}

TEST_F(LogRecoveryTest, BrokenSnapshotsAreReplacedByAReplay) {
  for (const auto& entry : *files_.list(kFolder)) {
    if (entry.name.ends_with(".snapshot")) files_.damage(kFolder + '/' + entry.name, 20, 1);
  }
  ASSERT_TRUE(open({.recovery_point = 80, .now_ms = kNow}));
  EXPECT_EQ(log_->producers().find(1)->last_sequence(), 79);
}

TEST_F(LogRecoveryTest, StraySnapshotsGo) {
  ASSERT_TRUE(files_.replace_file(path(500, SegmentFile::snapshot), "x").has_value());
  ASSERT_TRUE(files_.replace_file(path(3, SegmentFile::snapshot), "x").has_value());
  ASSERT_TRUE(open({.clean_shutdown = true, .now_ms = kNow}));
  EXPECT_FALSE(*files_.exists(path(500, SegmentFile::snapshot)));
  EXPECT_FALSE(*files_.exists(path(3, SegmentFile::snapshot)));
  EXPECT_TRUE(*files_.exists(path(80, SegmentFile::snapshot)));
  EXPECT_TRUE(*files_.exists(path(bases_[1], SegmentFile::snapshot)));
}

TEST_F(LogRecoveryTest, LeftoversOfDeletionAndCompactionGo) {
  for (const char* name :
       {"00000000000000000000.log.deleted", "00000000000000000000.snapshot.deleted", "00000000000000000004.log.cleaned",
        "00000000000000000004.index.cleaned", "00000000000000000900.index"})
    ASSERT_TRUE(files_.replace_file(kFolder + '/' + name, "x").has_value());
  // A swap that was not complete: the cleaned file at or before it says so.
  ASSERT_TRUE(files_.replace_file(kFolder + "/00000000000000000010.log.swap", "x").has_value());
  ASSERT_TRUE(open({.clean_shutdown = true, .now_ms = kNow}));
  for (const auto& entry : *files_.list(kFolder)) {
    EXPECT_FALSE(entry.name.ends_with(".deleted") || entry.name.ends_with(".cleaned") || entry.name.ends_with(".swap"));
    EXPECT_NE(entry.name, "00000000000000000900.index");
  }
  EXPECT_EQ(log_->log_end_offset(), 80);
  expect_readable();
}

TEST_F(LogRecoveryTest, SwapIsFinished) {
  // A compaction has made one segment of the first two.
  const std::string merged =
      *files_.read_file(path(bases_[0], SegmentFile::log)) + *files_.read_file(path(bases_[1], SegmentFile::log));
  ASSERT_TRUE(files_.replace_file(path(bases_[0], SegmentFile::log) + ".swap", merged).has_value());
  ASSERT_TRUE(open({.clean_shutdown = true, .now_ms = kNow}));
  EXPECT_EQ(log_->segment_count(), bases_.size() - 1);
  EXPECT_EQ(log_->log_end_offset(), 80);
  EXPECT_EQ(log_->recovery_report().indexes_rebuilt, 1);
  expect_readable();
}

TEST_F(LogRecoveryTest, SegmentsThatDoNotFollowAreDeleted) {
  // The middle one lost its end in the crash, the one behind it survived: nobody was told that it was there.
  const std::string file = path(bases_[1], SegmentFile::log);
  const std::string whole = *files_.read_file(file);
  const std::size_t first_batch = protocol::BatchView(reinterpret_cast<const std::uint8_t*>(whole.data())).size_bytes();
  ASSERT_TRUE(files_.replace_file(file, whole.substr(0, first_batch)).has_value());
  ASSERT_TRUE(open({.recovery_point = bases_[1], .now_ms = kNow}));
  EXPECT_EQ(log_->log_end_offset(), bases_[1] + 2);
  EXPECT_EQ(log_->segment_count(), 2U);
}

TEST_F(LogRecoveryTest, BatchesOfAnEarlierLifeDoNotComeBack) {
  // The tail of before a crash, in order by its offsets, behind what a later leader epoch wrote.
  const std::string file = path(bases_.back(), SegmentFile::log);
  std::string log = *files_.read_file(file);
  const auto stale = test::make_batch({.records = 2, .base_offset = 80, .leader_epoch = 2});
  log.append(reinterpret_cast<const char*>(stale.data()), stale.size());
  ASSERT_TRUE(files_.replace_file(file, log).has_value());
  ASSERT_TRUE(open({.recovery_point = 80, .now_ms = kNow}));
  EXPECT_EQ(log_->log_end_offset(), 80);
  EXPECT_EQ(log_->recovery_report().bytes_truncated, static_cast<std::int64_t>(stale.size()));
}

TEST_F(LogRecoveryTest, LogStartBehindTheLogEndBeginsAnew) {
  ASSERT_TRUE(open({.clean_shutdown = true, .log_start_offset = 500, .now_ms = kNow}));
  EXPECT_EQ(log_->log_start_offset(), 500);
  EXPECT_EQ(log_->log_end_offset(), 500);
  EXPECT_EQ(log_->segment_count(), 1U);
  EXPECT_EQ(log_->producers().size(), 0U);
}

TEST_F(LogRecoveryTest, OldMessageFormatsAreRefusedNotCut) {
  std::string old(40, '\0');
  old[11] = 28;  // size
  old[16] = 1;   // magic
  for (const auto& entry : *files_.list(kFolder)) ASSERT_TRUE(files_.remove(kFolder + '/' + entry.name).has_value());
  ASSERT_TRUE(files_.replace_file(path(0, SegmentFile::log), old).has_value());
  ASSERT_FALSE(open({.now_ms = kNow}));
  EXPECT_EQ(error_.error_number, EPROTONOSUPPORT);
  EXPECT_EQ(files_.read_file(path(0, SegmentFile::log))->size(), old.size());
}

TEST_F(LogRecoveryTest, EveryFailingCallIsAnErrorAndTheNextTrySucceeds) {
  for (std::uint64_t n = 0;; ++n) {
    files_.damage(path(bases_.back(), SegmentFile::log), 30, 0);
    const std::uint64_t before = files_.calls();
    files_.fail_call(n, EIO);
    const bool opened = open({.recovery_point = 30, .now_ms = kNow});
    if (files_.calls() - before <= n) {
      EXPECT_TRUE(opened);
      EXPECT_GT(n, 20U);
      break;
    }
    if (!opened) {
      EXPECT_EQ(error_.error_number, EIO);
      ASSERT_TRUE(open({.recovery_point = 30, .now_ms = kNow}));
    }
    ASSERT_EQ(log_->log_end_offset(), 80) << "call " << n;
    ASSERT_EQ(log_->producers().find(1)->last_sequence(), 79) << "call " << n;
    expect_readable();
  }
}

TEST_F(LogRecoveryTest, CleanStartReadsLittle) {
  const std::uint64_t before = files_.calls();
  ASSERT_TRUE(open({.clean_shutdown = true, .now_ms = kNow}));
  // Six of them for the last batches of the producers, at the end of the last segment.
  EXPECT_LE(files_.calls() - before, 22 + 4 * bases_.size());
  EXPECT_EQ(handles_.size(), 0U);
  EXPECT_EQ(indexes_.size_bytes(), 0U);
}

TEST_F(LogRecoveryTest, ARetryOfTheLastFiveBatchesIsKnownAfterAnyStart) {
  std::vector<OpenOptions> starts = {{.clean_shutdown = true, .now_ms = kNow}, {.now_ms = kNow}};
  for (const std::int64_t base : bases_) starts.push_back({.recovery_point = base, .now_ms = kNow});
  starts.push_back({.recovery_point = 80, .now_ms = kNow});
  for (const OpenOptions& options : starts) {
    ASSERT_TRUE(open(options)) << error_.message();
    for (int i = 35; i < 40; ++i) {
      auto batch = test::make_batch(
          {.records = 2, .timestamp = kNow + i, .producer_id = 1, .producer_epoch = 0, .base_sequence = 2 * i});
      const MutableBatch batches[] = {batch};
      const AppendResult result = log_->append(batches, {.leader_epoch = 4, .now_ms = kNow});
      EXPECT_TRUE(result.duplicate) << "batch " << i << " after a start from " << options.recovery_point << ": "
                                    << result.detail;
      EXPECT_EQ(result.first_offset, 2 * i);
    }
  }
}

}  // namespace
}  // namespace thalweg::storage
