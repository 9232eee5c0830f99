#include "storage/leader_epochs.h"

#include <gtest/gtest.h>

namespace thalweg::storage {
namespace {

using Entries = std::vector<EpochEntry>;

LeaderEpochs make(const Entries& entries) {
  LeaderEpochs epochs;
  for (const EpochEntry& entry : entries) epochs.assign(entry.epoch, entry.start_offset);
  return epochs;
}

TEST(LeaderEpochs, AssignKeepsBothGrowing) {
  LeaderEpochs epochs = make({{0, 0}, {2, 10}});
  const std::uint32_t version = epochs.version();
  epochs.assign(2, 15);
  EXPECT_EQ(epochs.version(), version) << "the latest epoch already";
  epochs.assign(4, 20);
  epochs.assign(3, 30);
  EXPECT_EQ(epochs.entries(), (Entries{{0, 0}, {2, 10}, {3, 30}})) << "a later epoch that contradicts goes";
  epochs.assign(5, 10);
  EXPECT_EQ(epochs.entries(), (Entries{{0, 0}, {5, 10}})) << "so does a later start";
  epochs.assign(-1, 40);
  EXPECT_EQ(epochs.latest(), 5);
}

TEST(LeaderEpochs, AnswersOffsetForLeaderEpoch) {
  const LeaderEpochs epochs = make({{2, 10}, {4, 20}, {5, 30}});
  EXPECT_EQ(epochs.end_offset_of(5, 99), (EpochEndOffset{5, 99}));
  EXPECT_EQ(epochs.end_offset_of(4, 99), (EpochEndOffset{4, 30}));
  EXPECT_EQ(epochs.end_offset_of(3, 99), (EpochEndOffset{2, 20}));
  EXPECT_EQ(epochs.end_offset_of(1, 99), (EpochEndOffset{1, 10}));
  EXPECT_EQ(epochs.end_offset_of(6, 99), (EpochEndOffset{-1, -1}));
  EXPECT_EQ(epochs.end_offset_of(-1, 99), (EpochEndOffset{-1, -1}));
  EXPECT_EQ(LeaderEpochs().end_offset_of(0, 99), (EpochEndOffset{-1, -1}));
}

TEST(LeaderEpochs, FindsTheEpochOfAnOffset) {
  const LeaderEpochs epochs = make({{2, 10}, {4, 20}});
  EXPECT_FALSE(epochs.epoch_of(9));
  EXPECT_EQ(epochs.epoch_of(10), 2);
  EXPECT_EQ(epochs.epoch_of(19), 2);
  EXPECT_EQ(epochs.epoch_of(1000), 4);
}

TEST(LeaderEpochs, TruncatesBothEnds) {
  LeaderEpochs epochs = make({{2, 10}, {4, 20}, {5, 30}});
  const std::uint32_t version = epochs.version();
  epochs.truncate_from_end(31);
  epochs.truncate_from_start(9);
  epochs.truncate_from_start(10);
  EXPECT_EQ(epochs.version(), version) << "nothing to do";
  epochs.truncate_from_start(25);
  EXPECT_EQ(epochs.entries(), (Entries{{4, 25}, {5, 30}}));
  epochs.truncate_from_end(30);
  EXPECT_EQ(epochs.entries(), (Entries{{4, 25}}));
  EXPECT_GT(epochs.version(), version);
  epochs.truncate_from_start(50);
  EXPECT_EQ(epochs.entries(), (Entries{{4, 50}}));
}

TEST(LeaderEpochs, TextIsKafkas) {
  EXPECT_EQ(make({{0, 0}}).text(), "0\n1\n0 0\n");
  const LeaderEpochs epochs = make({{2, 10}, {4, 20}});
  EXPECT_EQ(LeaderEpochs::parse(epochs.text())->entries(), epochs.entries());
  EXPECT_EQ(LeaderEpochs::parse("0\n1\n7   5")->entries(), (Entries{{7, 5}}));
  EXPECT_TRUE(LeaderEpochs::parse("")->entries().empty());
  EXPECT_TRUE(LeaderEpochs::parse("0\n")->entries().empty());
  for (const char* text : {"1\n0\n", "0\nx\n", "0\n2\n1 1\n", "0\n1\n1\n", "0\n1\n1 1 1\n", "0\n1\n-1 1\n", "0\n-1\n"})
    EXPECT_FALSE(LeaderEpochs::parse(text)) << text;
}

}  // namespace
}  // namespace thalweg::storage
