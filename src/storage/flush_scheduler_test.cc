#include "storage/flush_scheduler.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <deque>

#include "runtime/simulated_file.h"

namespace thalweg::storage {
namespace {

// Runs what was posted when told, one after the other.
class ManualExecutor final : public runtime::Executor {
 public:
  void post(runtime::Task task) override { tasks_.push_back(std::move(task)); }
  bool run_one() {
    if (tasks_.empty()) return false;
    runtime::Task task = std::move(tasks_.front());
    tasks_.pop_front();
    task();
    return true;
  }
  [[nodiscard]] std::size_t waiting() const { return tasks_.size(); }

 private:
  std::deque<runtime::Task> tasks_;
};

class FlushSchedulerTest : public testing::Test {
 protected:
  void run() {
    while (home_.run_one() || pool_.run_one()) {
    }
  }
  FlushTargets targets(const std::string& name) {
    if (!files_.exists("d").value_or(false)) EXPECT_TRUE(files_.create_directories("d").has_value());
    const auto file = files_.open("d/" + name, runtime::OpenMode::create);
    EXPECT_TRUE(file.has_value());
    const std::uint8_t bytes[] = {1, 2, 3};
    EXPECT_TRUE((*file)->write_at(0, std::span<const std::uint8_t>(bytes)).has_value());
    FlushTargets targets;
    targets.files.push_back(*file);
    targets.folders.push_back("d");
    return targets;
  }
  FlushScheduler::Done note(int id) {
    return [this, id](runtime::IoResult<void> result) { (result ? done_ : failed_).push_back(id); };
  }

  runtime::SimulatedFileSystem files_{5};
  ManualExecutor home_;
  ManualExecutor pool_;
  base::ManualClock clock_;
  FlushScheduler scheduler_{files_, home_, pool_, clock_, {.directory = "d", .most_single_syncs = 4}};
  std::vector<int> done_;
  std::vector<int> failed_;
};

TEST_F(FlushSchedulerTest, RequestsOfOneTurnShareARound) {
  scheduler_.request(targets("a"), note(1));
  scheduler_.request(targets("b"), note(2));
  EXPECT_TRUE(done_.empty()) << "never inside the call";
  EXPECT_TRUE(home_.run_one());
  EXPECT_EQ(pool_.waiting(), 3U) << "two files and one folder, side by side";
  run();
  EXPECT_EQ(done_, (std::vector<int>{1, 2}));
  EXPECT_TRUE(scheduler_.idle());
}

TEST_F(FlushSchedulerTest, WhatComesDuringARoundGathersForTheNext) {
  scheduler_.request(targets("a"), note(1));
  EXPECT_TRUE(home_.run_one());
  scheduler_.request(targets("b"), note(2));
  scheduler_.request(targets("c"), note(3));
  EXPECT_EQ(home_.waiting(), 0U);
  while (pool_.run_one()) {
  }
  EXPECT_TRUE(home_.run_one());
  EXPECT_EQ(done_, (std::vector<int>{1}));
  EXPECT_EQ(pool_.waiting(), 3U) << "the next round has begun";
  run();
  EXPECT_EQ(done_, (std::vector<int>{1, 2, 3}));
}

TEST_F(FlushSchedulerTest, SameFileIsSyncedOnce) {
  FlushTargets first = targets("a");
  FlushTargets second;
  second.files = first.files;
  scheduler_.request(std::move(first), note(1));
  scheduler_.request(std::move(second), note(2));
  run();
  EXPECT_EQ(files_.syncs(), 1U);
  EXPECT_EQ(done_.size(), 2U);
}

TEST_F(FlushSchedulerTest, ManyFilesAreSyncedByTheFileSystem) {
  for (int i = 0; i < 5; ++i) scheduler_.request(targets("f" + std::to_string(i)), note(i));
  EXPECT_TRUE(home_.run_one());
  EXPECT_EQ(pool_.waiting(), 1U);
  run();
  EXPECT_EQ(done_.size(), 5U);
  EXPECT_EQ(files_.syncs(), 1U);
}

TEST_F(FlushSchedulerTest, WhatIsDoneSurvivesACrash) {
  ASSERT_TRUE(files_.create_directories("d").has_value());
  ASSERT_TRUE(files_.sync_directory("/").has_value());
  for (const int count : {1, 9}) {
    for (int i = 0; i < count; ++i) {
      FlushTargets wanted = targets(std::to_string(count) + "-" + std::to_string(i));
      wanted.replacements.push_back({"d/r" + std::to_string(count), "text"});
      scheduler_.request(std::move(wanted), note(i));
    }
    run();
    files_.crash();
    for (int i = 0; i < count; ++i)
      EXPECT_EQ(files_.read_file("d/" + std::to_string(count) + "-" + std::to_string(i)).value_or(""), "\1\2\3");
    EXPECT_EQ(files_.read_file("d/r" + std::to_string(count)).value_or(""), "text");
  }
}

TEST_F(FlushSchedulerTest, FailedSyncTakesTheDirectoryOffline) {
  scheduler_.request(targets("a"), note(1));
  scheduler_.request(targets("b"), note(2));
  EXPECT_TRUE(home_.run_one());
  files_.fail_call(0, EIO);
  scheduler_.request(targets("c"), note(3));
  files_.fail_call(0, EIO);
  const std::uint64_t syncs = files_.syncs();
  run();
  EXPECT_TRUE(done_.empty());
  EXPECT_EQ(failed_.size(), 3U) << "those of the round, and those that waited";
  EXPECT_TRUE(scheduler_.offline());
  EXPECT_LE(files_.syncs() - syncs, 2U) << "not tried again";
  scheduler_.request(targets("d"), note(4));
  EXPECT_EQ(failed_.size(), 3U);
  run();
  EXPECT_EQ(failed_.back(), 4);
  EXPECT_TRUE(scheduler_.idle());
}

TEST_F(FlushSchedulerTest, CallbacksMayAskForMore) {
  scheduler_.request(targets("a"), [this](runtime::IoResult<void>) { scheduler_.request(targets("b"), note(2)); });
  run();
  EXPECT_EQ(done_, (std::vector<int>{2}));
}

TEST_F(FlushSchedulerTest, NothingToSyncIsDoneAtOnce) {
  scheduler_.request({}, note(1));
  run();
  EXPECT_EQ(done_, (std::vector<int>{1}));
}

TEST_F(FlushSchedulerTest, ObserverIsTold) {
  std::vector<std::pair<std::size_t, std::int64_t>> rounds;
  scheduler_.set_observer(
      [&](std::size_t files, std::int64_t nanoseconds) { rounds.emplace_back(files, nanoseconds); });
  scheduler_.request(targets("a"), note(1));
  EXPECT_TRUE(home_.run_one());
  clock_.advance(std::chrono::milliseconds(3));
  run();
  EXPECT_EQ(rounds, (std::vector<std::pair<std::size_t, std::int64_t>>{{1, 3'000'000}}));
}

TEST_F(FlushSchedulerTest, AFolderThatWasDeletedMeanwhileIsNoFaultOfTheDisk) {
  FlushTargets gone = targets("a");
  gone.folders = {"d/t-0"};
  gone.replacements.push_back({"d/t-0/leader-epoch-checkpoint", "0\n0\n"});
  scheduler_.request(std::move(gone), note(1));
  scheduler_.request(targets("b"), note(2));
  run();
  EXPECT_EQ(done_, (std::vector<int>{1, 2}));
  EXPECT_FALSE(scheduler_.offline());
}

TEST_F(FlushSchedulerTest, ASmallFileThatFindsNoRoomIsTriedAgainLater) {
  FlushTargets full = targets("a");
  full.replacements.push_back({"d/leader-epoch-checkpoint", "0\n0\n"});
  files_.set_capacity(3);
  scheduler_.request(full, note(1));
  run();
  EXPECT_EQ(failed_, (std::vector<int>{1}));
  EXPECT_FALSE(scheduler_.offline());
  files_.set_capacity(std::nullopt);
  scheduler_.request(std::move(full), note(2));
  run();
  EXPECT_EQ(done_, (std::vector<int>{2}));
  EXPECT_TRUE(files_.exists("d/leader-epoch-checkpoint").value_or(false));
}

TEST_F(FlushSchedulerTest, ASyncThatFindsNoRoomIsFinal) {
  FlushTargets full = targets("a");
  files_.fail_call(0, ENOSPC);
  scheduler_.request(std::move(full), note(1));
  run();
  EXPECT_EQ(failed_, (std::vector<int>{1}));
  EXPECT_TRUE(scheduler_.offline());
}

}  // namespace
}  // namespace thalweg::storage
