#include "broker/fetch_waiter.h"

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>

#include "runtime/simulated_host.h"

namespace thalweg::broker {
namespace {

using namespace std::chrono_literals;

// A fetch on core 0 that needs 100 bytes and waits for a minute.
class FetchWaiterTest : public testing::Test {
 protected:
  FetchWaiterTest() { host_.start(core_, "core"); }

  void wait() {
    core_.post([this] { core_.spawn(wait_here(*this)); });
  }
  static runtime::Awaitable<void> wait_here(FetchWaiterTest& test) {
    test.woken_ = co_await test.waiter_->wait(test.core_.clock().steady() + 1min);
  }
  // Whether the wait ended with something to read, and not by its deadline.
  bool outcome() {
    host_.run_until([this] { return woken_.has_value(); });
    return *woken_;
  }

  runtime::SimulatedHost host_{1};
  runtime::Core core_{0, host_.clock()};
  std::shared_ptr<FetchWaiter> waiter_ = std::make_shared<FetchWaiter>(core_, 100);
  std::optional<bool> woken_;
};

TEST_F(FetchWaiterTest, IsOverOnceEnoughWasFound) {
  waiter_->found(60);
  EXPECT_FALSE(waiter_->over());
  waiter_->found(40);
  EXPECT_TRUE(waiter_->over());
}

TEST_F(FetchWaiterTest, WhatIsAddedCountsTogetherWithWhatWasFound) {
  waiter_->found(60);
  wait();
  waiter_->add(3, 39);
  EXPECT_FALSE(waiter_->over());
  waiter_->add(5, 1);
  EXPECT_TRUE(outcome());
  EXPECT_TRUE(waiter_->added_on(3));
  EXPECT_TRUE(waiter_->added_on(5));
  EXPECT_FALSE(waiter_->added_on(0));
}

TEST_F(FetchWaiterTest, WhatACoreFindsAfterAnotherHasAddedWakesToo) {
  waiter_->add(1, 70);
  waiter_->found(30);
  wait();
  EXPECT_TRUE(outcome());
  EXPECT_FALSE(waiter_->added_on(0));
}

TEST_F(FetchWaiterTest, TheDeadlineEndsAWaitForTooLittle) {
  waiter_->found(60);
  waiter_->add(1, 39);
  wait();
  EXPECT_FALSE(outcome());
  EXPECT_TRUE(waiter_->over());
  EXPECT_TRUE(waiter_->added_on(1)) << "what is there must still be read";
}

TEST_F(FetchWaiterTest, AWakeWithoutBytesHasEveryCoreReadAgain) {
  wait();
  waiter_->wake();
  EXPECT_TRUE(outcome());
  EXPECT_TRUE(waiter_->added_on(0));
  EXPECT_TRUE(waiter_->added_on(63));
}

}  // namespace
}  // namespace thalweg::broker
