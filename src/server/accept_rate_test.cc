#include "server/accept_rate.h"

#include <gtest/gtest.h>

namespace thalweg::server {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

class AcceptRateTest : public testing::Test {
 protected:
  // How many are let in at once.
  int at_once(std::int32_t rate) {
    int count = 0;
    while (rate_.take(now_, rate) == nanoseconds(0)) ++count;
    return count;
  }
  AcceptRate rate_;
  base::SteadyTime now_{std::chrono::hours(1)};
};

TEST_F(AcceptRateTest, ABurstIsLetInAndThenAsManyASecond) {
  EXPECT_EQ(at_once(5), 50);
  EXPECT_EQ(rate_.take(now_, 5), milliseconds(200));
  now_ += milliseconds(1000);
  EXPECT_EQ(at_once(5), 5);
  now_ += std::chrono::hours(1);
  EXPECT_EQ(at_once(5), 50);
}

TEST_F(AcceptRateTest, AnotherRateCountsAtOnce) {
  EXPECT_EQ(at_once(100), 1000);
  now_ += milliseconds(1000);
  EXPECT_EQ(at_once(2), 2);
  now_ += milliseconds(1000);
  EXPECT_EQ(at_once(100), 100);
}

TEST_F(AcceptRateTest, ALowerRateLeavesNoMorePlacesThanItsBurst) {
  EXPECT_EQ(rate_.take(now_, 1000), nanoseconds(0));
  EXPECT_EQ(at_once(1), 10);
}

TEST_F(AcceptRateTest, ARateOfZeroLetsNobodyIn) {
  EXPECT_EQ(at_once(0), 0);
  now_ += std::chrono::hours(1);
  EXPECT_EQ(rate_.take(now_, 0), AcceptRate::kLongestWait);
}

}  // namespace
}  // namespace thalweg::server
