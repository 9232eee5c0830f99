// What LogCheck finds in folders that are sound, and in every way of spoiling them; and that a repair brings them back.

#include "inspect/log_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/log.h"
#include "runtime/simulated_file.h"
#include "storage/checkpoints.h"
#include "storage/log.h"
#include "storage/log_repair.h"
#include "storage/segment_files.h"
#include "storage/test_batch.h"

namespace thalweg::inspect {
namespace {

using storage::SegmentFile;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::int64_t kNow = 1'700'000'000'000;
const std::string kFolder = "data/t-0";
const storage::TopicPartition kPartition{.topic = "t", .partition = 0};

class LogCheckTest : public testing::Test {
 protected:
  void SetUp() override {
    base::set_log_level("storage", base::LogLevel::off);
    config_.segment_bytes = 1000;
    config_.index_interval_bytes = 150;
    write_log();
  }
  void TearDown() override { base::set_log_level("storage", base::LogLevel::info); }

  bool append(std::vector<std::uint8_t> batch, std::int32_t epoch,
              storage::AppendOrigin origin = storage::AppendOrigin::client) {
    const storage::MutableBatch batches[] = {batch};
    return log_->append(batches, {.origin = origin, .leader_epoch = epoch, .now_ms = kNow}).ok();
  }
  // Batches of two records in several segments, of an idempotent producer and of one whose transactions are aborted.
  void write_log() {
    ASSERT_TRUE(open({.now_ms = kNow}));
    ASSERT_TRUE(storage::write_partition_metadata(files_, kFolder, base::Uuid{{1, 2, 3}}).has_value());
    for (int i = 0; i < 40; ++i) {
      ASSERT_TRUE(append(test_batch(1, 2 * i, i), i / 10));
      if (i % 8 == 2) ASSERT_TRUE(append(test_batch(2, i / 8 * 2, i, true), i / 10));
      if (i % 8 == 6)
        ASSERT_TRUE(
            append(storage::test::make_marker(2, 0, false, 0, kNow + i), i / 10, storage::AppendOrigin::coordinator));
    }
    end_ = log_->log_end_offset();
    ASSERT_TRUE(log_->close({.sync = true}).has_value());
    log_ = nullptr;
    for (const auto& entry : *files_.list(kFolder)) {
      const auto name = storage::parse_segment_file_name(entry.name);
      if (name && name->file == SegmentFile::log) bases_.push_back(name->offset);
    }
    ASSERT_GE(bases_.size(), 4U);
  }
  static std::vector<std::uint8_t> test_batch(std::int64_t producer, int sequence, int i, bool transactional = false) {
    return storage::test::make_batch({.records = 2,
                                      .timestamp = kNow + i,
                                      .producer_id = producer,
                                      .producer_epoch = 0,
                                      .base_sequence = sequence,
                                      .transactional = transactional});
  }
  bool open(const storage::OpenOptions& options) {
    auto opened =
        storage::Log::open(context_, kFolder, kPartition, std::make_shared<storage::LogConfig>(config_), options);
    if (!opened) return false;
    log_ = std::move(*opened);
    return true;
  }
  static std::string path(std::int64_t base, SegmentFile file) {
    return storage::segment_file_path(kFolder, base, file);
  }
  void flip(const std::string& path, std::size_t at, std::uint8_t bits = 0x10) {
    std::string bytes = *files_.read_file(path);
    bytes[at] = static_cast<char>(bytes[at] ^ bits);
    ASSERT_TRUE(files_.replace_file(path, bytes).has_value());
  }
  LogCheckReport check() {
    lines_.clear();
    LogCheck check(files_, [this](const Finding& finding) { lines_.push_back(finding_line(finding)); });
    auto report = check.run(kFolder, {});
    EXPECT_TRUE(report.has_value());
    return report.value_or(LogCheckReport());
  }
  // Repairs, and looks whether nothing is left to find.
  void repair(const LogCheckReport& report) {
    ASSERT_FALSE(report.plan.empty());
    auto repaired = storage::repair_log(files_, kFolder, kPartition, report.plan,
                                        {.log_end_offset = report.log_end_offset, .now_ms = kNow});
    ASSERT_TRUE(repaired.has_value()) << repaired.error().message();
    EXPECT_EQ(repaired->log_end_offset, report.log_end_offset);
    check();
    EXPECT_THAT(lines_, IsEmpty());
  }
  [[nodiscard]] bool exists(const std::string& path) { return files_.exists(path).value_or(false); }

  runtime::SimulatedFileSystem files_{11};
  storage::HandleCache handles_{files_, 2};
  storage::IndexCache indexes_{1 << 20};
  storage::LogContext context_{.files = files_, .handles = handles_, .indexes = indexes_};
  storage::LogConfig config_;
  std::unique_ptr<storage::Log> log_;
  std::vector<std::int64_t> bases_;
  std::int64_t end_ = 0;
  std::vector<std::string> lines_;
};

TEST_F(LogCheckTest, FindsNothingInASoundLog) {
  const LogCheckReport report = check();
  EXPECT_THAT(lines_, IsEmpty());
  EXPECT_TRUE(report.plan.empty());
  EXPECT_EQ(report.log_end_offset, end_);
  EXPECT_EQ(report.segments, bases_.size());
  EXPECT_EQ(report.records, static_cast<std::uint64_t>(end_));
  EXPECT_EQ(report.latest_epoch, 3);
  EXPECT_EQ(report.largest_producer_id, 2);
  EXPECT_EQ(report.topic_id, (base::Uuid{{1, 2, 3}}));
}

TEST_F(LogCheckTest, FindsEveryFlippedByteOfASegmentAndRepairsIt) {
  const std::string log = path(bases_[1], SegmentFile::log);
  const std::string whole = *files_.read_file(log);
  for (std::size_t at = 0; at < whole.size(); at += 5) {
    // The epoch of a batch (bytes 12 to 15) is covered by no CRC, but by the checkpoint.
    flip(log, at);
    check();
    EXPECT_THAT(lines_, Not(IsEmpty())) << "byte " << at;
    ASSERT_TRUE(files_.replace_file(log, whole).has_value());
  }
  flip(log, whole.size() / 2);
  const LogCheckReport report = check();
  EXPECT_THAT(lines_.front(), HasSubstr("is stored, the bytes give"));
}

TEST_F(LogCheckTest, ADamagedSegmentKeepsItsSoundBatchesAtTheirOffsets) {
  const std::string log = path(bases_[1], SegmentFile::log);
  const std::string whole = *files_.read_file(log);
  flip(log, 70);
  const LogCheckReport report = check();
  ASSERT_EQ(report.plan.segments.size(), 1U);
  EXPECT_EQ(report.log_end_offset, end_);
  repair(report);
  EXPECT_TRUE(exists(log + ".damaged"));
  EXPECT_LT(files_.read_file(log)->size(), whole.size());
  ASSERT_TRUE(open({.clean_shutdown = true, .now_ms = kNow}));
  EXPECT_EQ(log_->log_end_offset(), end_);
  const auto read = log_->read(bases_[1], {.blocking = storage::Blocking::allowed});
  EXPECT_EQ(read.status, storage::ReadResult::Status::ok);
  EXPECT_EQ(read.first_batch_offset, bases_[1] + 2) << "the batch behind the one that is lost";
}

TEST_F(LogCheckTest, ABatchWithoutRecordsStandsForWhatIsLostAtTheEndOfASegment) {
  const std::string log = path(bases_[1], SegmentFile::log);
  std::string bytes = *files_.read_file(log);
  bytes.resize(bytes.size() - 5);
  ASSERT_TRUE(files_.replace_file(log, bytes).has_value());
  repair(check());
  // Recovery would take a gap behind the recovery point for the end of the log.
  ASSERT_TRUE(open({.clean_shutdown = false, .recovery_point = 0, .now_ms = kNow}));
  EXPECT_EQ(log_->log_end_offset(), end_);
}

TEST_F(LogCheckTest, ATornEndIsCutAndKept) {
  const std::string log = path(bases_.back(), SegmentFile::log);
  const std::string whole = *files_.read_file(log);
  ASSERT_TRUE(files_.replace_file(log, whole + "torn").has_value());
  repair(check());
  EXPECT_EQ(*files_.read_file(log), whole);
  EXPECT_EQ(*files_.read_file(log + ".tail.damaged"), "torn");
}

TEST_F(LogCheckTest, AWrongBaseOffsetIsThatOfTheBatchThatDoesNotFit) {
  const std::string log = path(bases_[1], SegmentFile::log);
  flip(log, 6, 0x02);  // 512 more
  const LogCheckReport report = check();
  EXPECT_THAT(lines_.front(), HasSubstr("the next segment begins at"));
  repair(report);
}

TEST_F(LogCheckTest, FindsEveryFlippedByteOfAnIndexAndMakesItAnew) {
  for (const SegmentFile file : {SegmentFile::offset_index, SegmentFile::time_index}) {
    const std::string index = path(bases_[1], file);
    const std::string whole = *files_.read_file(index);
    ASSERT_FALSE(whole.empty());
    for (std::size_t at = 0; at < whole.size(); ++at) {
      flip(index, at);
      check();
      EXPECT_THAT(lines_, Not(IsEmpty())) << index << " byte " << at;
      ASSERT_TRUE(files_.replace_file(index, whole).has_value());
    }
    flip(index, 2);
    repair(check());
    EXPECT_TRUE(exists(index + ".damaged"));
  }
}

TEST_F(LogCheckTest, AMissingIndexIsAFaultBesideAClosedSegmentAlone) {
  ASSERT_TRUE(files_.remove(path(bases_.back(), SegmentFile::offset_index)).has_value());
  check();
  EXPECT_THAT(lines_, IsEmpty());
  ASSERT_TRUE(files_.remove(path(bases_[1], SegmentFile::time_index)).has_value());
  const LogCheckReport report = check();
  EXPECT_EQ(lines_.size(), 1U);
  repair(report);
}

TEST_F(LogCheckTest, AnAbortedTransactionMustBeInTheTransactionIndex) {
  std::string index;
  for (const std::int64_t base : bases_)
    if (exists(path(base, SegmentFile::transaction_index))) index = path(base, SegmentFile::transaction_index);
  ASSERT_FALSE(index.empty());
  const std::string whole = *files_.read_file(index);
  ASSERT_TRUE(files_.remove(index).has_value());
  const LogCheckReport report = check();
  ASSERT_EQ(lines_.size(), 1U);
  EXPECT_THAT(lines_.front(), HasSubstr("no entry for the transaction of producer 2"));
  repair(report);
  EXPECT_EQ(*files_.read_file(index), whole);
}

TEST_F(LogCheckTest, SnapshotsAndLeaderEpochsAreMadeAnew) {
  const std::string snapshot = path(bases_[2], SegmentFile::snapshot);
  const std::string epochs = kFolder + "/leader-epoch-checkpoint";
  const std::string whole = *files_.read_file(epochs);
  flip(snapshot, 12);
  ASSERT_TRUE(files_.replace_file(epochs, "0\n1\nx 0\n").has_value());
  const LogCheckReport report = check();
  EXPECT_EQ(lines_.size(), 2U);
  repair(report);
  EXPECT_EQ(*files_.read_file(epochs), whole);
  EXPECT_TRUE(exists(snapshot + ".damaged"));
  EXPECT_TRUE(exists(epochs + ".damaged"));
}

TEST_F(LogCheckTest, AMissingSegmentIsAGap) {
  for (const SegmentFile file : {SegmentFile::log, SegmentFile::offset_index, SegmentFile::time_index})
    ASSERT_TRUE(files_.remove(path(bases_[1], file)).has_value());
  check();
  ASSERT_FALSE(lines_.empty());
  EXPECT_THAT(lines_.front(), HasSubstr("offsets are missing"));
}

}  // namespace
}  // namespace thalweg::inspect
