#include "broker/due_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace thalweg::broker {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

struct Thing {
  int number = 0;
  DuePlace place;
};

class DueQueueTest : public testing::Test {
 protected:
  std::vector<int> take(std::int64_t now_ms) {
    std::vector<int> numbers;
    for (const auto& thing : queue_.take(now_ms)) numbers.push_back(thing->number);
    return numbers;
  }
  std::shared_ptr<Thing> one_ = std::make_shared<Thing>(Thing{.number = 1, .place = {}});
  std::shared_ptr<Thing> two_ = std::make_shared<Thing>(Thing{.number = 2, .place = {}});
  std::shared_ptr<Thing> three_ = std::make_shared<Thing>(Thing{.number = 3, .place = {}});
  DueQueue<Thing, &Thing::place> queue_;
};

TEST_F(DueQueueTest, GivesEachOnceWhenItsTimeHasCome) {
  queue_.set(one_, 30);
  queue_.set(two_, 10);
  queue_.set(three_, 10);
  EXPECT_THAT(take(9), IsEmpty());
  EXPECT_THAT(take(10), ElementsAre(2, 3));
  EXPECT_THAT(take(29), IsEmpty());
  EXPECT_THAT(take(1000), ElementsAre(1));
  EXPECT_THAT(take(1000), IsEmpty());
}

TEST_F(DueQueueTest, GivesWhatWasTouchedBeforeItsTime) {
  queue_.set(one_, 30);
  queue_.touch(one_);
  queue_.touch(two_);
  queue_.touch(two_);
  EXPECT_THAT(take(0), ElementsAre(1, 2));
  EXPECT_THAT(take(0), IsEmpty());
  EXPECT_THAT(take(30), ElementsAre(1)) << "its time still stands";
}

TEST_F(DueQueueTest, TouchedAndDueIsGivenOnce) {
  queue_.set(one_, 30);
  queue_.touch(one_);
  EXPECT_THAT(take(30), ElementsAre(1));
  EXPECT_THAT(take(100), IsEmpty());
}

TEST_F(DueQueueTest, AnEarlierTimeCounts) {
  queue_.set(one_, 30);
  queue_.set(one_, 50);
  EXPECT_THAT(take(30), ElementsAre(1));
  queue_.set(one_, 50);
  queue_.set(one_, 40);
  EXPECT_EQ(queue_.queued(), 1U);
  EXPECT_THAT(take(40), ElementsAre(1));
  EXPECT_THAT(take(50), IsEmpty());
}

TEST_F(DueQueueTest, WhatIsGoneIsLeftOut) {
  queue_.set(one_, 30);
  queue_.touch(two_);
  queue_.touch(three_);
  one_ = nullptr;
  two_ = nullptr;
  EXPECT_THAT(take(30), ElementsAre(3));
  EXPECT_EQ(queue_.queued(), 0U);
}

}  // namespace
}  // namespace thalweg::broker
