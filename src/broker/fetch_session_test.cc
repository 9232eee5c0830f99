#include "broker/fetch_session.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace thalweg::broker {
namespace {

using protocol::FetchRequest;
using testing::ElementsAre;
using testing::IsEmpty;

base::Uuid id_of(std::uint8_t number) {
  base::Uuid id;
  id.bytes[15] = number;
  return id;
}

void want(FetchRequest& request, std::string_view topic, base::Uuid id, std::int32_t partition,
          std::int64_t offset = 0) {
  auto& wanted = request.topics.emplace_back();
  wanted.topic = protocol::TopicName(topic);
  wanted.topic_id = id;
  auto& place = wanted.partitions.emplace_back();
  place.partition = partition;
  place.fetch_offset = offset;
}

void forget(FetchRequest& request, std::string_view topic, base::Uuid id, std::int32_t partition) {
  auto& forgotten = request.forgotten_topics_data.emplace_back();
  forgotten.topic = protocol::TopicName(topic);
  forgotten.topic_id = id;
  forgotten.partitions.push_back(partition);
}

std::vector<std::int32_t> partitions_of(const FetchSession& session) {
  std::vector<std::int32_t> numbers;
  for (const auto& partition : session.partitions()) numbers.push_back(partition->partition);
  return numbers;
}

TEST(FetchSession, KeepsTheOrderOfTheRequestAndEachPartitionOnce) {
  FetchRequest request;
  want(request, "t", {}, 2);
  want(request, "t", {}, 0);
  want(request, "t", {}, 2, 7);
  FetchSession session;
  session.want(request);
  EXPECT_THAT(partitions_of(session), ElementsAre(2, 0));
  EXPECT_EQ(session.partitions().front()->fetch_offset, 7);
}

TEST(FetchSession, WhatIsServedGoesToTheEnd) {
  FetchRequest request;
  for (std::int32_t i = 0; i < 3; ++i) want(request, "t", {}, i);
  FetchSession session;
  session.want(request);
  session.move_to_end(*session.partitions().front());
  EXPECT_THAT(partitions_of(session), ElementsAre(1, 2, 0));
}

TEST(FetchSession, ForgetsWhatItIsToldTo) {
  FetchRequest request;
  for (std::int32_t i = 0; i < 3; ++i) want(request, "t", {}, i);
  FetchSession session;
  session.want(request);
  FetchRequest next;
  forget(next, "t", {}, 1);
  forget(next, "t", {}, 9);
  forget(next, "other", {}, 0);
  session.forget(next);
  EXPECT_THAT(partitions_of(session), ElementsAre(0, 2));
}

TEST(FetchSession, AnIdIsTheSameTopicWhateverNameWasFoundForIt) {
  FetchRequest request;
  want(request, "", id_of(1), 0);
  want(request, "", id_of(2), 0);
  FetchSession session;
  session.want(request);
  session.partitions().front()->topic = "t";
  session.move_to_end(*session.partitions().front());
  session.want(request);
  EXPECT_EQ(session.size(), 2U);
  FetchRequest next;
  forget(next, "", id_of(1), 0);
  session.forget(next);
  ASSERT_EQ(session.size(), 1U);
  EXPECT_EQ(session.partitions().front()->topic_id, id_of(2));
}

TEST(FetchSession, ARequestUnderWayOutlivesWhatIsForgotten) {
  FetchRequest request;
  want(request, "t", {}, 0, 5);
  FetchSession session;
  session.want(request);
  const std::shared_ptr<SessionPartition> held = session.partitions().front();
  FetchRequest next;
  forget(next, "t", {}, 0);
  session.forget(next);
  session.move_to_end(*held);
  EXPECT_THAT(partitions_of(session), IsEmpty());
  EXPECT_EQ(held->fetch_offset, 5);
}

class FetchSessionCacheTest : public testing::Test {
 protected:
  CoreMetrics metrics_;
  runtime::Random random_{7};
  FetchSessionCache cache_{2, 1, 4, metrics_};
};

TEST_F(FetchSessionCacheTest, TheNumberTellsTheCore) {
  for (int i = 0; i < 2; ++i) {
    const auto session = cache_.create(1, 0, random_);
    ASSERT_NE(session, nullptr);
    EXPECT_GT(session->id, 0);
    EXPECT_EQ(FetchSessionCache::core_of(session->id, 4), 1);
    EXPECT_EQ(cache_.find(session->id), session);
  }
}

TEST_F(FetchSessionCacheTest, OnlyWhatNobodyUsesMakesRoom) {
  const auto first = cache_.create(1, 0, random_);
  const auto second = cache_.create(1, 0, random_);
  EXPECT_EQ(cache_.create(1, 1000, random_), nullptr);
  cache_.touch(*second, 100'000);
  ASSERT_NE(cache_.create(1, 130'000, random_), nullptr);
  EXPECT_EQ(cache_.find(first->id), nullptr);
  EXPECT_EQ(cache_.find(second->id), second);
}

TEST(SessionEpoch, WrapsToOneAndNeverToTheOneThatOpens) {
  EXPECT_EQ(next_session_epoch(0), 1);
  EXPECT_EQ(next_session_epoch(1), 2);
  EXPECT_EQ(next_session_epoch(INT32_MAX), 1);
}

}  // namespace
}  // namespace thalweg::broker
