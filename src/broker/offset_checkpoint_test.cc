#include "broker/offset_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <deque>

#include "runtime/simulated_file.h"

namespace thalweg::broker {
namespace {

using storage::OffsetMap;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::UnorderedElementsAre;

// Runs what is posted when told.
class Steps final : public runtime::Executor {
 public:
  void post(runtime::Task task) override { tasks_.push_back(std::move(task)); }
  bool run_one() {
    if (tasks_.empty()) return false;
    runtime::Task task = std::move(tasks_.front());
    tasks_.pop_front();
    task();
    return true;
  }

 private:
  std::deque<runtime::Task> tasks_;
};

const storage::TopicPartition kA{"a", 0}, kB{"b", 0}, kC{"c", 0};

class OffsetCheckpointTest : public testing::Test {
 protected:
  OffsetCheckpointTest() {
    EXPECT_TRUE(files_.create_directories("data").has_value());
    EXPECT_TRUE(files_.sync_directory("/").has_value());
  }
  OffsetCheckpoint::Done note(std::string what) {
    return [this, what = std::move(what)](const runtime::IoResult<void>& written) {
      done_.push_back(what + (written ? "" : " failed"));
    };
  }
  void run() {
    while (home_.run_one() || pool_.run_one()) {
    }
  }
  OffsetMap file() {
    const auto lines = storage::read_offsets(files_, "data/checkpoint");
    EXPECT_TRUE(lines.has_value());
    return *lines;
  }

  runtime::SimulatedFileSystem files_{7};
  Steps home_, pool_;
  OffsetCheckpoint checkpoint_{files_, home_, pool_, "data/checkpoint"};
  std::vector<std::string> done_;
};

TEST_F(OffsetCheckpointTest, WhatWasRaisedOutlivesACrash) {
  checkpoint_.raise({{kA, 10}, {kB, 5}}, note("first"));
  EXPECT_THAT(done_, IsEmpty());
  run();
  EXPECT_THAT(done_, ElementsAre("first"));
  checkpoint_.raise({{kA, 7}, {kB, 6}}, note("second"));
  run();
  files_.crash();
  EXPECT_THAT(file(), UnorderedElementsAre(Pair(kA, 10), Pair(kB, 6))) << "lines only rise";
}

TEST_F(OffsetCheckpointTest, WhatComesWhileTheFileIsWrittenIsWrittenTogether) {
  checkpoint_.raise({{kA, 1}}, note("first"));
  checkpoint_.raise({{kB, 2}}, note("second"));
  checkpoint_.raise({{kC, 3}}, note("third"));
  EXPECT_TRUE(pool_.run_one());
  EXPECT_FALSE(pool_.run_one());
  EXPECT_THAT(file(), UnorderedElementsAre(Pair(kA, 1)));
  EXPECT_TRUE(home_.run_one());
  EXPECT_THAT(done_, ElementsAre("first"));
  EXPECT_TRUE(pool_.run_one());
  EXPECT_FALSE(pool_.run_one());
  EXPECT_THAT(file(), UnorderedElementsAre(Pair(kA, 1), Pair(kB, 2), Pair(kC, 3)));
  run();
  EXPECT_THAT(done_, ElementsAre("first", "second", "third"));
}

TEST_F(OffsetCheckpointTest, NothingIsWrittenWhereNothingChanges) {
  checkpoint_.raise({{kA, 1}}, note("first"));
  run();
  const std::uint64_t before = files_.calls();
  checkpoint_.raise({{kA, 1}}, note("again"));
  checkpoint_.forget(kB, note("forgotten"));
  run();
  EXPECT_EQ(files_.calls(), before);
  EXPECT_THAT(done_, ElementsAre("first", "again", "forgotten"));
}

TEST_F(OffsetCheckpointTest, ForgetTakesTheLineAway) {
  checkpoint_.raise({{kA, 1}, {kB, 2}}, note("raised"));
  checkpoint_.forget(kA, note("forgotten"));
  run();
  EXPECT_THAT(file(), UnorderedElementsAre(Pair(kB, 2)));
  checkpoint_.raise({{kA, 1}}, note("anew"));
  run();
  EXPECT_THAT(file(), UnorderedElementsAre(Pair(kA, 1), Pair(kB, 2)));
}

TEST_F(OffsetCheckpointTest, ARoundDoesNotBringBackWhatWasForgottenMeanwhile) {
  checkpoint_.raise({{kA, 1}, {kB, 2}}, note(""));
  checkpoint_.forget(kB, note(""));
  const std::uint64_t round = checkpoint_.begin_round();
  checkpoint_.forget(kA, note(""));
  checkpoint_.finish_round(round, {{kA, 1}, {kB, 7}, {kC, 3}}, note("round"));
  run();
  EXPECT_THAT(file(), UnorderedElementsAre(Pair(kB, 7), Pair(kC, 3)));
}

TEST_F(OffsetCheckpointTest, ARoundDoesNotLowerWhatWasRaisedMeanwhile) {
  const std::uint64_t round = checkpoint_.begin_round();
  checkpoint_.raise({{kA, 9}}, note(""));
  checkpoint_.finish_round(round, {{kA, 4}}, note(""));
  run();
  EXPECT_THAT(file(), UnorderedElementsAre(Pair(kA, 9)));
}

TEST_F(OffsetCheckpointTest, DeadLinesOfTheFileGo) {
  checkpoint_.load({{kA, 1}, {kB, 2}}, {kB, kC});
  checkpoint_.raise({}, note("written"));
  run();
  EXPECT_THAT(file(), UnorderedElementsAre(Pair(kA, 1)));
}

TEST_F(OffsetCheckpointTest, AFailedWriteIsToldAndTriedAgainWithTheNext) {
  files_.fail_call(0, ENOSPC);
  checkpoint_.raise({{kA, 1}}, note("first"));
  run();
  EXPECT_THAT(done_, ElementsAre("first failed"));
  checkpoint_.raise({{kB, 2}}, note("second"));
  run();
  EXPECT_THAT(done_, ElementsAre("first failed", "second"));
  EXPECT_THAT(file(), UnorderedElementsAre(Pair(kA, 1), Pair(kB, 2)));
}

}  // namespace
}  // namespace thalweg::broker
