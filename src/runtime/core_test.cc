#include "runtime/core.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <future>
#include <string>
#include <thread>
#include <vector>

#include "runtime/blocking_pool.h"

namespace thalweg::runtime {
namespace {

using namespace std::chrono_literals;

class CoreTest : public testing::Test {
 protected:
  void SetUp() override {
    first_.start("first");
    second_.start("second");
  }
  void TearDown() override {
    first_.stop();
    second_.stop();
  }
  base::SystemClock clock_;
  Core first_{0, clock_};
  Core second_{1, clock_};
};

TEST_F(CoreTest, ACallRunsThereAndItsValueComesBackHere) {
  std::promise<std::vector<bool>> done;
  first_.spawn([](Core& first, Core& second, std::promise<std::vector<bool>>& out) -> Awaitable<void> {
    std::vector<bool> seen;
    seen.push_back(co_await call_on(second, [&second] { return second.is_current(); }));
    seen.push_back(first.is_current());
    out.set_value(seen);
  }(first_, second_, done));
  EXPECT_EQ(done.get_future().get(), (std::vector<bool>{true, true}));
}

TEST_F(CoreTest, TimersRunInOrderOfTheirDeadlinesAndCancelledOnesDoNot) {
  std::promise<std::string> done;
  first_.post([&] {
    auto order = std::make_shared<std::string>();
    const auto now = clock_.steady();
    first_.at(now + 6ms, [&done, order] { done.set_value(*order); });
    first_.at(now + 4ms, [order] { *order += 'b'; });
    const auto cancelled = first_.at(now + 3ms, [order] { *order += 'x'; });
    first_.at(now + 2ms, [order] { *order += 'a'; });
    first_.cancel(cancelled);
  });
  EXPECT_EQ(done.get_future().get(), "ab");
}

TEST_F(CoreTest, BlockingWorkLeavesTheLoop) {
  BlockingPool pool("pool", 2);
  std::promise<bool> done;
  first_.spawn([](Core& core, BlockingPool& threads, std::promise<bool>& out) -> Awaitable<void> {
    const bool elsewhere = co_await run_on(threads, [&core] { return !core.is_current(); });
    out.set_value(elsewhere && core.is_current());
  }(first_, pool, done));
  EXPECT_TRUE(done.get_future().get());
}

TEST_F(CoreTest, PostsFromOneThreadKeepTheirOrder) {
  std::promise<void> done;
  std::vector<int> seen;
  for (int i = 0; i < 1000; ++i) first_.post([&seen, i] { seen.push_back(i); });
  first_.post([&done] { done.set_value(); });
  done.get_future().get();
  ASSERT_EQ(seen.size(), 1000U);
  EXPECT_TRUE(std::ranges::is_sorted(seen));
}

TEST(BlockingPool, StopRunsWhatIsQueued) {
  std::atomic<int> ran{0};
  {
    BlockingPool pool("pool", 1);
    for (int i = 0; i < 100; ++i) pool.post([&ran] { ++ran; });
  }
  EXPECT_EQ(ran, 100);
}

}  // namespace
}  // namespace thalweg::runtime
