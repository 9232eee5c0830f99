#include "telemetry/client_instances.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

namespace thalweg::telemetry {
namespace {

using protocol::ErrorCode;

constexpr std::int32_t kInterval = 10'000;

ClientFacts client(std::uint8_t number) {
  ClientFacts facts;
  facts.instance_id.bytes[0] = number;
  facts.client_id = "c" + std::to_string(number);
  return facts;
}

std::shared_ptr<const Subscriptions> every(std::int32_t interval_ms, std::vector<std::string> metrics = {"*"}) {
  return std::make_shared<const Subscriptions>(
      std::vector{Subscription{.name = "s", .metrics = std::move(metrics), .interval_ms = interval_ms, .match = {}}});
}

class ClientInstancesTest : public testing::Test {
 protected:
  ClientInstancesTest() { instances_.set_subscriptions(every(kInterval)); }

  ErrorCode get(std::uint8_t number = 1) {
    const auto subscribed = instances_.get(client(number), now_ms_);
    if (subscribed.error == ErrorCode::none) subscription_ = subscribed.subscription_id;
    return subscribed.error;
  }
  ErrorCode push(ClientInstances::Push push, std::uint8_t number = 1) {
    return instances_.push(client(number), push, now_ms_).error;
  }
  // A push as a client makes it that does everything right.
  [[nodiscard]] ClientInstances::Push right() const { return {.subscription_id = subscription_, .size_bytes = 10}; }
  ClientInstances::Push last() const {
    ClientInstances::Push push = right();
    push.terminating = true;
    return push;
  }

  ClientInstances instances_{{.max_instances = 3, .max_push_bytes = 100}};
  std::int64_t now_ms_ = 1'000'000;
  std::int32_t subscription_ = 0;
};

TEST_F(ClientInstancesTest, AsksForWhatIsSubscribed) {
  const auto subscribed = instances_.get(client(1), now_ms_);
  EXPECT_EQ(subscribed.error, ErrorCode::none);
  EXPECT_EQ(subscribed.wanted, (Wanted{.metrics = {"*"}, .interval_ms = kInterval}));
  EXPECT_EQ(subscribed.subscription_id, subscription_id(subscribed.wanted, client(1).instance_id));
  EXPECT_NE(subscribed.made_known, 0U);
}

TEST_F(ClientInstancesTest, TheFirstPushMayFollowAtOnceTheNextAfterAnInterval) {
  ASSERT_EQ(get(), ErrorCode::none);
  ++now_ms_;
  EXPECT_EQ(push(right()), ErrorCode::none);
  now_ms_ += kInterval - 1;
  EXPECT_EQ(push(right()), ErrorCode::throttling_quota_exceeded);
  now_ms_ += 1;
  EXPECT_EQ(push(right()), ErrorCode::none);
}

TEST_F(ClientInstancesTest, APushOfAnInstanceThatIsNotKnownIsTakenToo) {
  ASSERT_EQ(get(), ErrorCode::none);
  instances_.expire(now_ms_ + 1'000'000);
  ASSERT_FALSE(instances_.knows(client(1).instance_id));
  EXPECT_EQ(push(right()), ErrorCode::none);
}

TEST_F(ClientInstancesTest, ALastPushMayComeEarlyAndIsTheLast) {
  ASSERT_EQ(get(), ErrorCode::none);
  ++now_ms_;
  ASSERT_EQ(push(right()), ErrorCode::none);
  EXPECT_EQ(push(last()), ErrorCode::none);
  EXPECT_EQ(push(last()), ErrorCode::invalid_request);
  now_ms_ += kInterval;
  EXPECT_EQ(push(right()), ErrorCode::invalid_request);
  // The refused one did not say that it was the last.
  EXPECT_EQ(push(right()), ErrorCode::none);
}

TEST_F(ClientInstancesTest, ReservedIdsCannotPush) {
  EXPECT_EQ(push(right(), 0), ErrorCode::invalid_request);
  EXPECT_EQ(instances_.size(), 0U);
}

TEST_F(ClientInstancesTest, ChecksComeInKafkasOrder) {
  ASSERT_EQ(get(), ErrorCode::none);
  ++now_ms_;
  ClientInstances::Push wrong{.subscription_id = subscription_ + 1, .codec = 9, .size_bytes = 101};
  EXPECT_EQ(push(wrong), ErrorCode::unknown_subscription_id);
  EXPECT_EQ(push(wrong), ErrorCode::throttling_quota_exceeded);
  now_ms_ += kInterval;
  wrong.subscription_id = subscription_;
  EXPECT_EQ(push(wrong), ErrorCode::unsupported_compression_type);
  now_ms_ += kInterval;
  wrong.codec = -1;
  EXPECT_EQ(push(wrong), ErrorCode::unsupported_compression_type);
  now_ms_ += kInterval;
  wrong.codec = 4;
  EXPECT_EQ(push(wrong), ErrorCode::telemetry_too_large);
  now_ms_ += kInterval;
  wrong.size_bytes = 100;
  EXPECT_EQ(push(wrong), ErrorCode::none);
}

TEST_F(ClientInstancesTest, AskingAgainTooEarlyIsThrottled) {
  ASSERT_EQ(get(), ErrorCode::none);
  now_ms_ += kInterval - 1;
  EXPECT_EQ(get(), ErrorCode::throttling_quota_exceeded);
  now_ms_ += 1;
  EXPECT_EQ(get(), ErrorCode::none);
  ++now_ms_;
  ASSERT_EQ(push(right()), ErrorCode::none);
  now_ms_ += kInterval - 1;
  EXPECT_EQ(get(), ErrorCode::throttling_quota_exceeded);
}

TEST_F(ClientInstancesTest, AskingAgainIsRightAfterAnErrorThatAsksForIt) {
  ASSERT_EQ(get(), ErrorCode::none);
  ++now_ms_;
  ClientInstances::Push wrong = right();
  ++wrong.subscription_id;
  ASSERT_EQ(push(wrong), ErrorCode::unknown_subscription_id);
  EXPECT_EQ(get(), ErrorCode::none);
  EXPECT_EQ(get(), ErrorCode::throttling_quota_exceeded);
  wrong = right();
  wrong.codec = 5;
  wrong.terminating = false;
  now_ms_ += kInterval;
  ASSERT_EQ(push(wrong), ErrorCode::unsupported_compression_type);
  EXPECT_EQ(get(), ErrorCode::none);
  now_ms_ += kInterval;
  wrong = right();
  wrong.size_bytes = 101;
  ASSERT_EQ(push(wrong), ErrorCode::telemetry_too_large);
  EXPECT_EQ(get(), ErrorCode::throttling_quota_exceeded);
}

TEST_F(ClientInstancesTest, TheOutcomeOfAPushIsItsLastError) {
  ASSERT_EQ(get(), ErrorCode::none);
  ++now_ms_;
  ASSERT_EQ(push(right()), ErrorCode::none);
  instances_.pushed(client(1).instance_id, ErrorCode::invalid_record);
  EXPECT_EQ(get(), ErrorCode::throttling_quota_exceeded);
}

TEST_F(ClientInstancesTest, ChangedSubscriptionsAreAskedForAtOnce) {
  ASSERT_EQ(get(), ErrorCode::none);
  const ClientInstances::Push old = right();
  instances_.set_subscriptions(every(kInterval, {"a"}));
  ++now_ms_;
  EXPECT_EQ(push(old), ErrorCode::unknown_subscription_id);
  EXPECT_EQ(get(), ErrorCode::none);
  EXPECT_EQ(push(right()), ErrorCode::throttling_quota_exceeded);
  instances_.set_subscriptions(every(kInterval, {"b"}));
  EXPECT_EQ(get(), ErrorCode::none);
  ++now_ms_;
  EXPECT_EQ(push(right()), ErrorCode::none);
}

TEST_F(ClientInstancesTest, TheSilentAreForgottenAfterThreeIntervalsAndAtLeastAMinute) {
  ASSERT_EQ(get(1), ErrorCode::none);
  instances_.expire(now_ms_ + 59'999);
  EXPECT_TRUE(instances_.knows(client(1).instance_id));
  instances_.expire(now_ms_ + 60'000);
  EXPECT_FALSE(instances_.knows(client(1).instance_id));
  instances_.set_subscriptions(every(50'000));
  ASSERT_EQ(get(1), ErrorCode::none);
  instances_.expire(now_ms_ + 149'999);
  EXPECT_TRUE(instances_.knows(client(1).instance_id));
  // Also before anybody has swept: what is overdue begins anew.
  now_ms_ += 150'000;
  EXPECT_NE(instances_.get(client(1), now_ms_).made_known, 0U);
}

TEST_F(ClientInstancesTest, TheOneThatWasSilentForLongestMakesRoom) {
  for (const std::uint8_t number : {1, 2, 3}) ASSERT_EQ(get(number), ErrorCode::none);
  EXPECT_EQ(get(1), ErrorCode::throttling_quota_exceeded);
  ASSERT_EQ(get(4), ErrorCode::none);
  EXPECT_EQ(instances_.size(), 3U);
  EXPECT_FALSE(instances_.knows(client(2).instance_id));
  EXPECT_TRUE(instances_.knows(client(1).instance_id));
}

TEST_F(ClientInstancesTest, TheEndOfAConnectionForgetsWhomItMadeKnown) {
  const auto first = instances_.get(client(1), now_ms_).made_known;
  instances_.forget(client(1).instance_id, first);
  EXPECT_FALSE(instances_.knows(client(1).instance_id));
  const auto second = instances_.get(client(1), now_ms_).made_known;
  instances_.forget(client(1).instance_id, first);
  EXPECT_TRUE(instances_.knows(client(1).instance_id));
  EXPECT_NE(first, second);
}

}  // namespace
}  // namespace thalweg::telemetry
