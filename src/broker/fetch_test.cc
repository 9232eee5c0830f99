#include "broker/fetch.h"

#include <gtest/gtest.h>

namespace thalweg::broker {
namespace {

// Two batches of 40 and 60 bytes, read in two pieces.
FetchOutcome two_batches() {
  FetchOutcome outcome;
  outcome.records.append(base::Bytes::copy_of(std::string(70, 'a')));
  outcome.records.append(base::Bytes::copy_of(std::string(30, 'b')));
  outcome.first_batch_size = 40;
  return outcome;
}

std::uint64_t size_after(std::uint64_t room, bool first_of_answer) {
  FetchOutcome outcome = two_batches();
  outcome.trim(room, first_of_answer);
  return outcome.records.size();
}

TEST(Trim, TheFirstBatchOfAnAnswerIsGivenWhole) {
  EXPECT_EQ(size_after(0, true), 40U);
  EXPECT_EQ(size_after(39, true), 40U);
  EXPECT_EQ(size_after(75, true), 75U);
  EXPECT_EQ(size_after(1000, true), 100U);
}

TEST(Trim, WhatFollowsNeedsRoomForAWholeBatch) {
  EXPECT_EQ(size_after(0, false), 0U);
  EXPECT_EQ(size_after(39, false), 0U);
  EXPECT_EQ(size_after(40, false), 40U);
  EXPECT_EQ(size_after(99, false), 99U);
}

TEST(Trim, KeepsTheBytesFromTheStart) {
  FetchOutcome outcome = two_batches();
  outcome.trim(72, false);
  EXPECT_EQ(outcome.records.flatten().view(), std::string(70, 'a') + "bb");
}

}  // namespace
}  // namespace thalweg::broker
