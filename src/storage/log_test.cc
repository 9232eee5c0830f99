#include "storage/log.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <map>
#include <numeric>

#include "runtime/simulated_file.h"
#include "storage/checkpoints.h"
#include "storage/test_batch.h"

namespace thalweg::storage {
namespace {

using test::BatchSpec;
using test::make_batch;
using test::make_marker;

constexpr std::int64_t kNow = 1'700'000'000'000;

class LogTest : public testing::Test {
 protected:
  void open(OpenOptions options = {
                .clean_shutdown = false, .recovery_point = 0, .log_start_offset = 0, .now_ms = kNow}) {
    log_ = nullptr;
    auto opened = Log::open(context_, "data/t-0", {"t", 0}, std::make_shared<LogConfig>(config_), options);
    ASSERT_TRUE(opened.has_value()) << opened.error().message();
    log_ = std::move(*opened);
  }
  void reopen_clean() {
    ASSERT_TRUE(log_->close({}).has_value());
    open({.clean_shutdown = true,
          .recovery_point = log_->recovery_point(),
          .log_start_offset = log_->log_start_offset(),
          .now_ms = kNow});
  }
  void reopen_unclean() {
    open({.clean_shutdown = false,
          .recovery_point = log_->recovery_point(),
          .log_start_offset = log_->log_start_offset(),
          .now_ms = kNow});
  }
  AppendResult append(std::vector<std::uint8_t> batch, AppendOptions options = {.leader_epoch = 1, .now_ms = kNow}) {
    const MutableBatch batches[] = {batch};
    return log_->append(batches, options);
  }
  AppendResult append(const BatchSpec& spec = {}) { return append(make_batch(spec)); }
  void flush() {
    auto targets = log_->flush_targets();
    ASSERT_TRUE(targets.has_value()) << targets.error().message();
    if (!*targets) return;
    for (const auto& file : (*targets)->files) ASSERT_TRUE(file->sync().has_value());
    for (const auto& folder : (*targets)->folders) ASSERT_TRUE(files_.sync_directory(folder).has_value());
    for (const auto& replacement : (*targets)->replacements)
      ASSERT_TRUE(files_.replace_file(replacement.path, replacement.contents).has_value());
    log_->mark_flushed((*targets)->mark);
  }
  // Base offsets of all batches from `offset` on, as a consumer would read them.
  std::vector<std::int64_t> read_all(std::int64_t offset, std::int64_t max_bytes = 1 << 20) {
    std::vector<std::int64_t> bases;
    while (offset < log_->log_end_offset()) {
      const ReadResult result =
          log_->read(offset, {.max_bytes = max_bytes, .at_least_one = true, .blocking = Blocking::allowed});
      EXPECT_EQ(result.status, ReadResult::Status::ok) << result.detail;
      if (result.range.size == 0) break;
      const auto bytes = Log::read_bytes(result.range, Blocking::allowed);
      EXPECT_TRUE(bytes.has_value());
      for (std::size_t at = 0; at + protocol::kBatchHeaderSize <= bytes->size();) {
        const protocol::BatchView batch(bytes->data() + at);
        if (at + batch.size_bytes() > bytes->size()) break;
        EXPECT_TRUE(batch_crc_matches(batch.bytes()));
        bases.push_back(batch.base_offset());
        offset = batch.next_offset();
        at += batch.size_bytes();
      }
    }
    return bases;
  }

  std::vector<AbortedTransaction> aborted(std::int64_t offset, std::int64_t upper_bound_offset) {
    auto found = log_->aborted_transactions(offset, upper_bound_offset, Blocking::allowed);
    EXPECT_TRUE(found.has_value());
    return found.value_or(std::vector<AbortedTransaction>());
  }

  runtime::SimulatedFileSystem files_{7};
  HandleCache handles_{files_, 3};
  IndexCache indexes_{1 << 20};
  LogContext context_{.files = files_, .handles = handles_, .indexes = indexes_};
  LogConfig config_;
  std::unique_ptr<Log> log_;
};

std::vector<std::int64_t> count_from(std::int64_t first, std::size_t n, std::int64_t step = 1) {
  std::vector<std::int64_t> numbers(n);
  for (std::size_t i = 0; i < n; ++i) numbers[i] = first + static_cast<std::int64_t>(i) * step;
  return numbers;
}

TEST_F(LogTest, NewLogIsEmpty) {
  open();
  EXPECT_EQ(log_->log_start_offset(), 0);
  EXPECT_EQ(log_->log_end_offset(), 0);
  EXPECT_EQ(log_->read(0, {}).status, ReadResult::Status::ok);
  EXPECT_EQ(log_->read(0, {}).range.size, 0U);
  EXPECT_EQ(log_->read(1, {}).status, ReadResult::Status::offset_out_of_range);
  EXPECT_EQ(handles_.size(), 0U) << "an idle log holds no descriptor";
}

TEST_F(LogTest, AppendAssignsOffsetsAndLeaderEpochInPlace) {
  open();
  auto first = make_batch({.records = 3});
  auto second = make_batch({.records = 2});
  const MutableBatch batches[] = {first, second};
  const AppendResult result = log_->append(batches, {.leader_epoch = 5, .now_ms = kNow});
  ASSERT_TRUE(result.ok()) << result.detail;
  EXPECT_EQ(result.first_offset, 0);
  EXPECT_EQ(result.last_offset, 4);
  EXPECT_EQ(result.durable_end_offset, 5);
  EXPECT_EQ(log_->log_end_offset(), 5);
  EXPECT_EQ(protocol::BatchView(second.data()).base_offset(), 3);
  EXPECT_EQ(protocol::BatchView(second.data()).leader_epoch(), 5);
  EXPECT_EQ(log_->leader_epochs().entries(), (std::vector<EpochEntry>{{5, 0}}));
  EXPECT_EQ(read_all(0), (std::vector<std::int64_t>{0, 3}));
  EXPECT_EQ(read_all(1), (std::vector<std::int64_t>{0, 3})) << "a fetch gets the batch that holds its offset";
  EXPECT_EQ(read_all(3), (std::vector<std::int64_t>{3}));
}

TEST_F(LogTest, ReadsEveryOffsetOverManySegments) {
  config_.segment_bytes = 4000;
  config_.index_interval_bytes = 300;
  open();
  for (int i = 0; i < 300; ++i) ASSERT_TRUE(append({.records = 2, .timestamp = kNow + i * 10}).ok());
  EXPECT_GT(log_->segment_count(), 5U);
  const auto check = [&] {
    for (std::int64_t offset = 0; offset < 600; ++offset) {
      const ReadResult result =
          log_->read(offset, {.max_bytes = 1, .at_least_one = true, .blocking = Blocking::allowed});
      ASSERT_EQ(result.status, ReadResult::Status::ok) << result.detail;
      ASSERT_EQ(result.first_batch_offset, offset / 2 * 2);
      ASSERT_EQ(result.range.size, result.first_batch_size);
    }
    ASSERT_EQ(read_all(0, 700), count_from(0, 300, 2));
  };
  check();
  reopen_unclean();
  check();
  reopen_clean();
  check();
}

TEST_F(LogTest, UpperBoundEndsTheRangeAtABatch) {
  open();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(append({.records = 2}).ok());
  for (const std::int64_t upper : {1, 2, 3, 50, 51, 199, 200}) {
    const ReadResult result = log_->read(0, {.upper_bound_offset = upper, .blocking = Blocking::allowed});
    ASSERT_EQ(result.status, ReadResult::Status::ok);
    const auto bytes = Log::read_bytes(result.range, Blocking::allowed);
    ASSERT_TRUE(bytes.has_value());
    std::int64_t end = 0;
    for (std::size_t at = 0; at < bytes->size(); at += protocol::BatchView(bytes->data() + at).size_bytes())
      end = protocol::BatchView(bytes->data() + at).next_offset();
    EXPECT_EQ(end, upper / 2 * 2) << "upper bound " << upper;
  }
  EXPECT_EQ(log_->read(10, {.upper_bound_offset = 10}).range.size, 0U);
}

TEST_F(LogTest, MaxBytesCutsTheLastBatchButNotTheFirstOnDemand) {
  open();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(append({.value_bytes = 1000}).ok());
  EXPECT_EQ(log_->read(0, {.max_bytes = 10}).range.size, 10U);
  const ReadResult whole = log_->read(0, {.max_bytes = 10, .at_least_one = true});
  EXPECT_EQ(whole.range.size, whole.first_batch_size);
  EXPECT_EQ(log_->read(0, {.max_bytes = 1500}).range.size, 1500U);
  EXPECT_TRUE(whole.recent);
}

TEST_F(LogTest, DuplicatesAreFoundAndGapsRefused) {
  open();
  const auto batch = [](std::int32_t sequence, std::int16_t epoch = 0) {
    return make_batch({.records = 2, .producer_id = 9, .producer_epoch = epoch, .base_sequence = sequence});
  };
  for (int i = 0; i < 7; ++i) ASSERT_TRUE(append(batch(2 * i)).ok());
  const AppendResult repeated = append(batch(6));
  ASSERT_TRUE(repeated.ok());
  EXPECT_TRUE(repeated.duplicate);
  EXPECT_EQ(repeated.first_offset, 6);
  EXPECT_EQ(repeated.last_offset, 7);
  EXPECT_EQ(repeated.durable_end_offset, 8);
  EXPECT_EQ(log_->log_end_offset(), 14);
  EXPECT_EQ(append(batch(2)).error, protocol::ErrorCode::out_of_order_sequence_number) << "only five are remembered";
  EXPECT_EQ(append(batch(16)).error, protocol::ErrorCode::out_of_order_sequence_number);
  EXPECT_EQ(append(batch(5, 1)).error, protocol::ErrorCode::out_of_order_sequence_number);
  EXPECT_TRUE(append(batch(0, 1)).ok());
  EXPECT_EQ(append(batch(14, 0)).error, protocol::ErrorCode::invalid_producer_epoch);
  EXPECT_EQ(log_->log_end_offset(), 16) << "what is refused leaves no trace";
}

TEST_F(LogTest, ProducerStateSurvivesACleanAndAnUncleanRestart) {
  config_.segment_bytes = 1000;
  open();
  for (int i = 0; i < 50; ++i)
    ASSERT_TRUE(append({.records = 2, .producer_id = 9, .producer_epoch = 3, .base_sequence = 2 * i}).ok());
  reopen_unclean();
  ASSERT_EQ(log_->log_end_offset(), 100);
  EXPECT_TRUE(append({.records = 2, .producer_id = 9, .producer_epoch = 3, .base_sequence = 98}).duplicate);
  reopen_clean();
  EXPECT_TRUE(append({.records = 2, .producer_id = 9, .producer_epoch = 3, .base_sequence = 98}).duplicate);
  EXPECT_TRUE(append({.records = 2, .producer_id = 9, .producer_epoch = 3, .base_sequence = 100}).ok());
}

TEST_F(LogTest, TransactionsHoldBackTheLastStableOffset) {
  config_.segment_bytes = 600;
  open();
  const AppendOptions marker{.origin = AppendOrigin::coordinator, .leader_epoch = 1, .now_ms = kNow};
  ASSERT_TRUE(append().ok());  // 0
  EXPECT_TRUE(append({.producer_id = 1, .producer_epoch = 0, .base_sequence = 0, .transactional = true})
                  .transactions_changed);                                                                        // 1
  ASSERT_TRUE(append({.producer_id = 2, .producer_epoch = 0, .base_sequence = 0, .transactional = true}).ok());  // 2
  ASSERT_TRUE(append({.producer_id = 1, .producer_epoch = 0, .base_sequence = 1, .transactional = true}).ok());  // 3
  EXPECT_EQ(log_->last_stable_offset(4), 1);
  EXPECT_EQ(log_->last_stable_offset(1), 1);
  ASSERT_TRUE(append(make_marker(1, 0, false), marker).ok());  // 4: abort
  EXPECT_EQ(log_->first_unstable_offset(), 1) << "until the high watermark has passed the marker";
  log_->on_high_watermark(5);
  EXPECT_EQ(log_->last_stable_offset(5), 2);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(append().ok());    // 5 .. 14
  ASSERT_TRUE(append(make_marker(2, 0, true), marker).ok());  // 15: commit
  log_->on_high_watermark(16);
  EXPECT_EQ(log_->last_stable_offset(16), 16);
  const std::vector<AbortedTransaction> expected{
      {.producer_id = 1, .first_offset = 1, .last_offset = 4, .last_stable_offset = 2}};
  const auto check = [&] {
    EXPECT_EQ(aborted(0, 16), expected);
    EXPECT_EQ(aborted(4, 16), expected);
    EXPECT_TRUE(aborted(5, 16).empty());
    EXPECT_TRUE(aborted(0, 1).empty());
  };
  check();
  reopen_unclean();
  check();
  reopen_clean();
  check();
}

TEST_F(LogTest, TransactionStaysOpenOverRestarts) {
  open();
  ASSERT_TRUE(append({.producer_id = 1, .producer_epoch = 0, .base_sequence = 0, .transactional = true}).ok());
  ASSERT_TRUE(append().ok());
  reopen_clean();
  EXPECT_EQ(log_->first_unstable_offset(), 0);
  reopen_unclean();
  EXPECT_EQ(log_->first_unstable_offset(), 0);
  EXPECT_EQ(append({.producer_id = 1, .producer_epoch = 0, .base_sequence = 1}).error,
            protocol::ErrorCode::invalid_txn_state);
}

TEST_F(LogTest, RollsBySizeTimeAndIndex) {
  config_.segment_bytes = 500;
  open();
  ASSERT_FALSE(append({.value_bytes = 300}).rolled);
  EXPECT_TRUE(append({.value_bytes = 300}).rolled);
  EXPECT_EQ(append({.value_bytes = 600}).error, protocol::ErrorCode::record_list_too_large);

  config_ = {};
  config_.segment_ms = 1000;
  log_->set_config(std::make_shared<LogConfig>(config_));
  EXPECT_FALSE(append({.timestamp = kNow + 1000}).rolled);
  EXPECT_TRUE(append({.timestamp = kNow + 1001}).rolled) << "by timestamps, from the first batch's on";

  config_ = {};
  config_.index_interval_bytes = 10;
  config_.segment_index_bytes = 48;  // four entries of the time index, one kept back
  log_->set_config(std::make_shared<LogConfig>(config_));
  int rolls = 0;
  for (int i = 0; i < 20; ++i) rolls += append({.timestamp = kNow + 2000 + i}).rolled ? 1 : 0;
  EXPECT_GE(rolls, 4);
  EXPECT_EQ(read_all(0).size(), 24U);
}

TEST_F(LogTest, ConfigChangeReachesTheSegments) {
  open();
  config_.segment_bytes = 400;
  log_->set_config(std::make_shared<LogConfig>(config_));
  ASSERT_TRUE(append({.value_bytes = 200}).ok());
  EXPECT_TRUE(append({.value_bytes = 200}).rolled);
}

TEST_F(LogTest, FailedWriteLeavesNoTrace) {
  // Every call of an append that rolls fails in turn.
  for (std::uint64_t n = 0;; ++n) {
    log_ = nullptr;
    ASSERT_TRUE(files_.remove_all("data/t-0").has_value());
    config_.segment_bytes = 500;
    open();
    ASSERT_TRUE(
        append({.value_bytes = 200, .producer_id = 1, .producer_epoch = 0, .base_sequence = 0, .transactional = true})
            .ok());
    ASSERT_TRUE(append({.value_bytes = 100}).ok());
    const std::uint64_t before = files_.calls();
    files_.fail_call(n, EIO);
    // The marker aborts the transaction, so the transaction index is written as well.
    const AppendResult result =
        append(make_marker(1, 0, false), {.origin = AppendOrigin::coordinator, .leader_epoch = 1, .now_ms = kNow});
    if (files_.calls() - before <= n) {
      ASSERT_TRUE(result.ok());
      ASSERT_GT(n, 3U);
      break;
    }
    if (!result.ok()) {
      ASSERT_EQ(result.error, protocol::ErrorCode::kafka_storage_error);
      ASSERT_TRUE(result.write_failed);
      ASSERT_FALSE(result.out_of_space);
      ASSERT_EQ(log_->log_end_offset(), 2);
      ASSERT_EQ(log_->first_unstable_offset(), 0);
    }
    ASSERT_TRUE(append({.value_bytes = 10}).ok());
    const auto expected = read_all(0);
    const auto expected_aborted = aborted(0, 100);
    reopen_unclean();
    ASSERT_EQ(read_all(0), expected) << "call " << n;
    reopen_clean();
    ASSERT_EQ(read_all(0), expected) << "call " << n;
    ASSERT_EQ(aborted(0, 100), expected_aborted) << "call " << n;
  }
}

TEST_F(LogTest, FullDiskRefusesUntilThereIsSpace) {
  open();
  ASSERT_TRUE(append({.value_bytes = 1000}).ok());
  files_.set_capacity(1500);
  const AppendResult full = append({.value_bytes = 1000});
  EXPECT_EQ(full.error, protocol::ErrorCode::kafka_storage_error);
  EXPECT_TRUE(full.out_of_space);
  EXPECT_EQ(log_->log_end_offset(), 1);
  files_.set_capacity(std::nullopt);
  EXPECT_EQ(append({.value_bytes = 1000}).first_offset, 1);
  reopen_unclean();
  EXPECT_EQ(log_->log_end_offset(), 2);
}

TEST_F(LogTest, ColdReadsAreNamedAndNotWaitedFor) {
  config_.segment_bytes = 20000;
  config_.index_interval_bytes = 1000;
  open();
  for (int i = 0; i < 200; ++i) ASSERT_TRUE(append({.value_bytes = 500}).ok());
  files_.chill();
  int rounds = 0;
  ReadResult result;
  while ((result = log_->read(17, {.max_bytes = 100})).status == ReadResult::Status::cold) {
    ASSERT_LT(++rounds, 5);
    ASSERT_GT(result.range.size, 0U);
    ASSERT_TRUE(warm(result.range).has_value());
  }
  EXPECT_EQ(rounds, 2) << "the index, then the batch headers";
  EXPECT_EQ(result.first_batch_offset, 17);
  files_.chill();
  EXPECT_FALSE(seems_cached(result.range));
  EXPECT_FALSE(Log::read_bytes(result.range, Blocking::never).has_value());
  EXPECT_EQ(log_->read(199, {}).status, ReadResult::Status::ok) << "the tail needs no file";
}

TEST_F(LogTest, FindsOffsetsByTime) {
  config_.segment_bytes = 3000;
  config_.index_interval_bytes = 200;
  open();
  // Two records a batch, ten milliseconds from batch to batch, with one from the future in between.
  for (int i = 0; i < 200; ++i)
    ASSERT_TRUE(append({.records = 2, .timestamp = kNow + (i == 90 ? 100'000 : i * 10)}).ok());
  const RecordFinder find = [](std::span<const std::uint8_t> bytes, std::int64_t timestamp, std::int64_t first_offset) {
    const protocol::BatchView batch(bytes.data());
    for (std::int32_t i = 0; i < batch.record_count(); ++i)
      if (batch.base_timestamp() + i >= timestamp && batch.base_offset() + i >= first_offset)
        return std::optional<TimestampedOffset>({batch.base_timestamp() + i, batch.base_offset() + i, -1});
    return std::optional<TimestampedOffset>();
  };
  const auto offset_for = [&](std::int64_t timestamp) {
    const auto found = log_->offset_for_time(timestamp, find, Blocking::allowed);
    EXPECT_TRUE(found.has_value());
    return *found ? (*found)->offset : -1;
  };
  const auto check = [&] {
    EXPECT_EQ(offset_for(0), 0);
    EXPECT_EQ(offset_for(kNow + 1), 1);
    EXPECT_EQ(offset_for(kNow + 2), 2);
    EXPECT_EQ(offset_for(kNow + 500), 100);
    EXPECT_EQ(offset_for(kNow + 501), 101);
    EXPECT_EQ(offset_for(kNow + 895), 180) << "the record from the future";
    EXPECT_EQ(offset_for(kNow + 1990), 180);
    EXPECT_EQ(offset_for(kNow + 100'001), 181);
    EXPECT_EQ(offset_for(kNow + 100'002), -1);
    const auto newest = log_->max_timestamp(find, Blocking::allowed);
    EXPECT_EQ((*newest)->offset, 181);
  };
  check();
  reopen_unclean();
  check();
  reopen_clean();
  check();
  EXPECT_EQ((*log_->offset_for_time(0, find, Blocking::allowed))->leader_epoch, 1);
  EXPECT_TRUE(log_->raise_log_start_offset(101));
  EXPECT_EQ(offset_for(0), 101);
}

TEST_F(LogTest, RetentionDeletesFromTheFront) {
  config_.segment_bytes = 1000;
  config_.retention_ms = 1000;
  open();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(append({.value_bytes = 100, .timestamp = kNow + i * 100}).ok());
  flush();
  const std::size_t before = log_->segment_count();
  auto deleted = log_->apply_retention({.highest_offset = 10, .now_ms = kNow + 3000});
  ASSERT_TRUE(deleted.has_value());
  EXPECT_EQ(deleted->segments, 2) << "the third ends above the high watermark";
  deleted = log_->apply_retention({.highest_offset = 50, .now_ms = kNow + 3000});
  ASSERT_TRUE(deleted.has_value());
  EXPECT_GT(deleted->segments, 0);
  EXPECT_LT(log_->segment_count(), before);
  EXPECT_GE(deleted->files.size(), 3U * static_cast<std::size_t>(deleted->segments));
  EXPECT_GT(log_->log_start_offset(), 10);
  EXPECT_EQ(log_->read(0, {}).status, ReadResult::Status::offset_out_of_range);
  const std::int64_t start = log_->log_start_offset();
  EXPECT_EQ(read_all(start).front(), start);
  for (const std::string& file : deleted->files) ASSERT_TRUE(*files_.exists(file));
  reopen_unclean();
  for (const std::string& file : deleted->files) ASSERT_FALSE(*files_.exists(file));
  EXPECT_EQ(log_->log_start_offset(), start);
}

TEST_F(LogTest, RetentionOfEverythingKeepsTheLogEnd) {
  config_.retention_ms = 1000;
  open();
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(append().ok());
  auto deleted = log_->apply_retention({.highest_offset = 5, .now_ms = kNow + 100'000});
  ASSERT_TRUE(deleted.has_value());
  EXPECT_TRUE(deleted->rolled);
  EXPECT_EQ(deleted->segments, 0) << "the new segment's name is not on disk yet";
  flush();
  deleted = log_->apply_retention({.highest_offset = 5, .now_ms = kNow + 100'000});
  ASSERT_TRUE(deleted.has_value());
  EXPECT_EQ(deleted->segments, 1);
  EXPECT_EQ(log_->log_start_offset(), 5);
  files_.crash();
  reopen_unclean();
  EXPECT_EQ(log_->log_end_offset(), 5);
  EXPECT_EQ(append().first_offset, 5);
}

TEST_F(LogTest, RetentionBySizeAndByLogStart) {
  config_.segment_bytes = 1000;
  config_.retention_ms = -1;
  config_.retention_bytes = 2000;
  open();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(append({.value_bytes = 100}).ok());
  flush();
  ASSERT_TRUE(log_->apply_retention({.highest_offset = 50, .now_ms = kNow}).has_value());
  EXPECT_GE(log_->size_bytes(), 2000);
  EXPECT_LT(log_->size_bytes(), 3000);
  const std::int64_t start = log_->log_start_offset();
  EXPECT_FALSE(log_->raise_log_start_offset(start));
  EXPECT_FALSE(log_->raise_log_start_offset(51));
  EXPECT_TRUE(log_->raise_log_start_offset(start + 8));
  config_.retention_bytes = -1;
  config_.cleanup_delete = false;
  config_.cleanup_compact = true;
  log_->set_config(std::make_shared<LogConfig>(config_));
  const auto deleted = log_->apply_retention({.highest_offset = 50, .now_ms = kNow});
  EXPECT_GE(deleted->segments, 1) << "below the log start, whatever the policy";
  EXPECT_EQ(log_->log_start_offset(), start + 8);
  EXPECT_EQ(log_->leader_epochs().entries(), (std::vector<EpochEntry>{{1, start + 8}}));
}

TEST_F(LogTest, RetentionGoesNoFurtherThanItIsTold) {
  config_.segment_bytes = 500;
  config_.retention_ms = 1000;
  open();
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(append({.value_bytes = 100, .timestamp = kNow}).ok());
  flush();
  const std::size_t before = log_->segment_count();
  ASSERT_GT(before, 8U);
  const auto deleted = log_->apply_retention({.highest_offset = 50, .now_ms = kNow + 2000, .most_segments = 3});
  ASSERT_TRUE(deleted.has_value());
  EXPECT_EQ(deleted->segments, 3);
  EXPECT_FALSE(deleted->rolled);
  EXPECT_EQ(log_->segment_count(), before - 3);
}

TEST_F(LogTest, KnowsWhenRetentionIsDue) {
  config_.segment_bytes = 1000;
  config_.retention_ms = 5000;
  open();
  const auto set = [&](const std::function<void(LogConfig&)>& change) {
    change(config_);
    log_->set_config(std::make_shared<LogConfig>(config_));
    return log_->retention_due_ms();
  };
  EXPECT_EQ(log_->retention_due_ms(), std::nullopt) << "an empty log has nothing to lose";
  ASSERT_TRUE(append({.value_bytes = 100, .timestamp = kNow + 10}).ok());
  EXPECT_EQ(log_->retention_due_ms(), kNow + 5011);
  ASSERT_TRUE(append({.value_bytes = 100, .timestamp = kNow - 90'000}).ok());
  EXPECT_EQ(log_->retention_due_ms(), kNow + 5011) << "the largest timestamp counts";
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(append({.value_bytes = 100, .timestamp = kNow + 70'000}).ok());
  flush();
  ASSERT_GT(log_->segment_count(), 2U);
  EXPECT_EQ(log_->retention_due_ms(), kNow + 75'001);
  EXPECT_EQ(set([](LogConfig& c) { c.retention_ms = -1; }), std::nullopt);
  EXPECT_EQ(set([](LogConfig& c) { c.retention_ms = INT64_MAX; }), std::nullopt);
  EXPECT_EQ(set([&](LogConfig& c) { c.retention_bytes = log_->size_bytes() - 1000; }), 0);
  EXPECT_EQ(set([&](LogConfig& c) { c.retention_bytes = log_->size_bytes() - 100; }), std::nullopt)
      << "the oldest segment is larger than the excess";
  EXPECT_TRUE(log_->raise_log_start_offset(15));
  EXPECT_EQ(set([](LogConfig& c) { c.cleanup_delete = false; }), 0) << "below the log start, whatever the policy";
  ASSERT_TRUE(log_->apply_retention({.highest_offset = 22, .now_ms = kNow}).has_value());
  EXPECT_EQ(log_->retention_due_ms(), std::nullopt);
  EXPECT_EQ(set([](LogConfig& c) {
              c.cleanup_delete = true;
              c.retention_bytes = -1;
              c.retention_ms = 5000;
            }),
            kNow + 75'001);
}

TEST_F(LogTest, RecordsWithoutTimestampAgeByTheClock) {
  config_.retention_ms = 5000;
  open();
  ASSERT_TRUE(append(make_batch({.timestamp = -1}), {.leader_epoch = 1, .now_ms = kNow + 400}).ok());
  EXPECT_EQ(log_->retention_due_ms(), kNow + 5401);
}

TEST_F(LogTest, CompactedLogRollsForTheSakeOfTheMaxCompactionLag) {
  config_.segment_ms = 60'000;
  config_.max_compaction_lag_ms = 1000;
  open();
  ASSERT_TRUE(append({.timestamp = kNow}).ok());
  EXPECT_FALSE(append({.timestamp = kNow + 2000}).rolled);
  config_.cleanup_compact = true;
  log_->set_config(std::make_shared<LogConfig>(config_));
  EXPECT_TRUE(append({.timestamp = kNow + 2000}).rolled);
}

TEST_F(LogTest, TruncationRebuildsTheTail) {
  config_.segment_bytes = 1000;
  open();
  for (int i = 0; i < 40; ++i)
    ASSERT_TRUE(append({.records = 2, .producer_id = 9, .producer_epoch = 0, .base_sequence = 2 * i}).ok());
  flush();
  ASSERT_TRUE(log_->truncate_to(51, kNow).has_value());
  EXPECT_EQ(log_->log_end_offset(), 50) << "a batch boundary";
  EXPECT_EQ(log_->recovery_point(), 50);
  EXPECT_EQ(read_all(0), count_from(0, 25, 2));
  EXPECT_TRUE(append({.records = 2, .producer_id = 9, .producer_epoch = 0, .base_sequence = 48}).duplicate);
  EXPECT_TRUE(append({.records = 2, .producer_id = 9, .producer_epoch = 0, .base_sequence = 50}).ok());
  EXPECT_EQ(log_->log_end_offset(), 52);
  reopen_unclean();
  EXPECT_EQ(read_all(0), count_from(0, 26, 2));
  ASSERT_TRUE(log_->truncate_fully(1000, kNow).has_value());
  EXPECT_EQ(log_->log_start_offset(), 1000);
  EXPECT_EQ(append().first_offset, 1000);
  reopen_clean();
  EXPECT_EQ(log_->log_start_offset(), 1000);
  EXPECT_EQ(log_->log_end_offset(), 1001);
}

TEST_F(LogTest, TruncationToTheLogStartKeepsOlderProducers) {
  config_.segment_bytes = 300;
  open();
  for (int i = 0; i < 8; ++i)
    ASSERT_TRUE(append({.value_bytes = 100, .producer_id = 9, .producer_epoch = 0, .base_sequence = i}).ok());
  flush();
  ASSERT_TRUE(log_->delete_old_segments({.highest_offset = 6, .now_ms = kNow},
                                        [](const Segment& s) { return s.base_offset() < 4; })
                  .has_value());
  const std::int64_t start = log_->log_start_offset();
  ASSERT_GT(start, 0);
  ASSERT_TRUE(log_->truncate_to(start, kNow).has_value());
  EXPECT_EQ(log_->log_end_offset(), start);
  EXPECT_EQ(log_->producers().find(9)->last_sequence(), start - 1);
  EXPECT_EQ(
      append({.producer_id = 9, .producer_epoch = 0, .base_sequence = static_cast<std::int32_t>(start)}).first_offset,
      start);
}

TEST_F(LogTest, ReplicatedBatchesKeepOffsetsAndEpochs) {
  open();
  const AppendOptions options{.origin = AppendOrigin::replication, .now_ms = kNow};
  ASSERT_TRUE(append(make_batch({.base_offset = 10, .leader_epoch = 2}), options).ok());
  ASSERT_TRUE(append(make_batch({.base_offset = 20, .leader_epoch = 4}), options).ok());
  EXPECT_EQ(append(make_batch({.base_offset = 20, .leader_epoch = 4}), options).error,
            protocol::ErrorCode::offset_out_of_range);
  ASSERT_TRUE(append(make_batch({.base_offset = 5'000'000'000, .leader_epoch = 4}), options).ok());
  EXPECT_EQ(read_all(0), (std::vector<std::int64_t>{10, 20, 5'000'000'000}));
  EXPECT_EQ(log_->read(11, {}).first_batch_offset, 20);
  EXPECT_EQ(log_->segment_count(), 2U);
  EXPECT_EQ(log_->offset_for_leader_epoch(3), (EpochEndOffset{2, 20}));
}

TEST_F(LogTest, FlushCoversIndexesAndEpochsOfRolledSegments) {
  config_.segment_bytes = 500;
  open();
  flush();
  EXPECT_TRUE(append({.value_bytes = 300}).ok());
  auto targets = log_->flush_targets();
  ASSERT_TRUE(targets.has_value() && *targets);
  EXPECT_EQ((*targets)->files.size(), 1U);
  EXPECT_TRUE((*targets)->replacements.empty()) << "a restart reads the epoch from the batches";
  EXPECT_TRUE(append({.value_bytes = 300}).rolled);
  targets = log_->flush_targets();
  ASSERT_TRUE(targets.has_value() && *targets);
  EXPECT_EQ((*targets)->files.size(), 5U) << "two logs, two indexes, a snapshot";
  EXPECT_EQ((*targets)->replacements.size(), 1U);
  EXPECT_EQ((*targets)->folders.size(), 1U);
  EXPECT_EQ(log_->recovery_point(), 0);
  log_->mark_flushed((*targets)->mark);
  EXPECT_EQ(log_->recovery_point(), 2);
  targets = log_->flush_targets();
  ASSERT_TRUE(targets.has_value());
  EXPECT_FALSE(*targets);
}

TEST_F(LogTest, ExtentsOfRolledSegmentsHaveTheirIndexesBeforeAnySync) {
  config_.segment_bytes = 500;
  open();
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(append({.value_bytes = 300}).ok());
  std::vector<Log::Extent> extents = log_->extents();
  ASSERT_EQ(extents.size(), 3U);
  for (std::size_t i = 0; i < extents.size(); ++i) {
    const Log::Extent& extent = extents[i];
    EXPECT_EQ(extent.closed, i < 2);
    EXPECT_FALSE(extent.durable);
    EXPECT_EQ(extent.end_offset, static_cast<std::int64_t>(i) + 1);
    EXPECT_EQ(files_.read_file(extent.path)->size(), extent.size_bytes);
    for (const SegmentFile index : {SegmentFile::offset_index, SegmentFile::time_index})
      EXPECT_EQ(*files_.exists(segment_file_path("data/t-0", extent.base_offset, index)), extent.closed);
  }
  flush();
  extents = log_->extents();
  EXPECT_TRUE(extents[0].durable && extents[1].durable);
  EXPECT_FALSE(extents[2].durable) << "it is written to";
}

TEST_F(LogTest, FlushAcrossATruncationCountsForNothing) {
  open();
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(append().ok());
  auto targets = log_->flush_targets();
  ASSERT_TRUE(targets.has_value() && *targets);
  ASSERT_TRUE(log_->truncate_to(2, kNow).has_value());
  for (int i = 0; i < 4; ++i) ASSERT_TRUE(append().ok());
  log_->mark_flushed((*targets)->mark);
  EXPECT_EQ(log_->recovery_point(), 0);
}

TEST_F(LogTest, RemoveRenamesTheFolder) {
  open();
  ASSERT_TRUE(append().ok());
  base::Uuid id;
  id.bytes.fill(0xab);
  const auto renamed = log_->remove(id);
  ASSERT_TRUE(renamed.has_value());
  EXPECT_EQ(*renamed, "data/t-0.abababababababababababababababab-delete");
  EXPECT_FALSE(*files_.exists("data/t-0"));
  EXPECT_TRUE(*files_.exists(*renamed));
  EXPECT_TRUE(is_deleted_folder_name("t-0.abababababababababababababababab-delete"));
}

TEST_F(LogTest, ReleasedMemoryComesBackOnDemand) {
  config_.index_interval_bytes = 100;
  open();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(append().ok());
  ASSERT_TRUE(log_->release_memory().has_value());
  EXPECT_EQ(handles_.size(), 0U);
  EXPECT_EQ(read_all(50), count_from(50, 50));
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(append().ok());
  EXPECT_EQ(read_all(0), count_from(0, 200));
}

TEST_F(LogTest, IdleLogIsSmall) {
  RecordProperty("sizeof_log", static_cast<int>(sizeof(Log)));
  RecordProperty("sizeof_segment", static_cast<int>(sizeof(Segment)));
  EXPECT_LE(sizeof(Log) + sizeof(Segment), 600U) << sizeof(Log) << " + " << sizeof(Segment);
}

TEST_F(LogTest, BytesBetweenOffsets) {
  open();
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(append().ok());
  const std::int64_t each = log_->size_bytes() / 10;
  EXPECT_EQ(log_->bytes_between(0, 10), 10 * each);
  EXPECT_EQ(log_->bytes_between(3, 10), 7 * each);
  EXPECT_EQ(log_->bytes_between(3, 5), 2 * each);
  EXPECT_EQ(log_->bytes_between(10, 10), 0);
}

}  // namespace
}  // namespace thalweg::storage
