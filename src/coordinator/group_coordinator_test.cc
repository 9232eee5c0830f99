#include "coordinator/group_coordinator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/log.h"
#include "coordinator/group_test_util.h"

namespace thalweg::coordinator {
namespace {

using protocol::ErrorCode;

constexpr std::int64_t kWeek = 604'800'000;

class GroupCoordinatorTest : public testing::Test {
 protected:
  void SetUp() override { base::set_log_level("group", base::LogLevel::off); }

  ErrorCode delete_group(const std::string& id) {
    const auto answered = bench.ask<protocol::DeleteGroupsResponse::DeletableGroupResult>(
        [&](auto reply, Step& step) { bench.groups().delete_group(id, std::move(reply), step); });
    return (*answered)->error_code;
  }
  OffsetDeleteOutcome delete_offset(const std::string& topic, std::int32_t partition) {
    const OffsetDelete request{
        .group_id = "g", .offsets = {{.topic_id = GroupBench::topic_id(), .topic = topic, .partition = partition}}};
    const auto answered = bench.ask<OffsetDeleteOutcome>(
        [&](auto reply, Step& step) { bench.groups().delete_offsets(request, std::move(reply), step); });
    return **answered;
  }
  void sweep() {
    Step step;
    bench.groups().expire_offsets(bench.now(), step);
    bench.finish(std::move(step));
  }
  std::string member_of_stable_group(const std::string& metadata = "m") {
    const auto [id, joined] = bench.join_anew({.protocols = {{"range", metadata}}});
    bench.pass(3'000);
    (void)bench.sync(id, 1, {{id, "x"}});
    return id;
  }
  // A ConsumerProtocolSubscription of version 0.
  static std::string subscription(const std::string& topic) {
    std::string bytes("\0\0\0\0\0\1", 6);
    bytes += '\0';
    bytes += static_cast<char>(topic.size());
    bytes += topic;
    bytes += std::string("\xff\xff\xff\xff", 4);
    return bytes;
  }

  GroupBench bench;
};

TEST_F(GroupCoordinatorTest, SessionTimeoutsHaveBounds) {
  EXPECT_EQ((*bench.join({.session_ms = 5'999}))->error_code, ErrorCode::invalid_session_timeout);
  EXPECT_EQ((*bench.join({.session_ms = 1'800'001}))->error_code, ErrorCode::invalid_session_timeout);
  EXPECT_EQ(bench.groups().find("g"), nullptr);
}

TEST_F(GroupCoordinatorTest, NobodyKnowsAMemberOfAGroupThatIsNotThere) {
  EXPECT_EQ((*bench.join({.member = "m"}))->error_code, ErrorCode::unknown_member_id);
  EXPECT_EQ((*bench.sync("m", 1))->error_code, ErrorCode::unknown_member_id);
  EXPECT_EQ(bench.heartbeat("m", 1), ErrorCode::unknown_member_id);
  EXPECT_EQ(bench.leave("m"), ErrorCode::unknown_member_id);
  EXPECT_EQ((*bench.commit("m", 1, 0, 1))->error, ErrorCode::group_id_not_found);
  EXPECT_EQ(bench.groups().group_count(), 0U);
}

TEST_F(GroupCoordinatorTest, AnOffsetIsSeenOnceItIsStored) {
  bench.hold_store();
  const auto answered = bench.commit("", -1, 3, 42);
  EXPECT_FALSE(answered->has_value());
  EXPECT_EQ(bench.committed(3), -1);
  bench.release();
  EXPECT_TRUE(answered->has_value());
  EXPECT_EQ(bench.committed(3), 42);
  bench.restart();
  EXPECT_EQ(bench.committed(3), 42);
}

TEST_F(GroupCoordinatorTest, TooMuchMetadataRefusesItsPartitionOnly) {
  OffsetCommit request{.group_id = "g", .version = 9};
  const base::Uuid id = GroupBench::topic_id();
  request.offsets.push_back({.topic_id = id, .topic = "t", .partition = 0, .metadata = std::string(4'097, 'x')});
  request.offsets.push_back({.topic_id = id, .topic = "t", .partition = 1, .metadata = std::string(4'096, 'x')});
  std::string umlauts;
  for (int i = 0; i < 4'096; ++i) umlauts += "\xc3\xa4";
  request.offsets.push_back({.topic_id = id, .topic = "t", .partition = 2, .metadata = umlauts});
  request.offsets.push_back({.topic_id = id, .topic = "t", .partition = 3, .metadata = umlauts + "x"});
  const auto answered = bench.ask<OffsetCommitOutcome>(
      [&](auto reply, Step& step) { bench.groups().commit(request, bench.now(), std::move(reply), step); });
  const std::vector<ErrorCode> expected = {ErrorCode::offset_metadata_too_large, ErrorCode::none, ErrorCode::none,
                                           ErrorCode::offset_metadata_too_large};
  EXPECT_EQ((*answered)->offsets, expected);
  EXPECT_EQ(bench.committed(0), -1);
  EXPECT_EQ(bench.committed(1), 0);
}

TEST_F(GroupCoordinatorTest, OffsetsOfAGroupThatWasNeverOneExpireFromTheirCommit) {
  (void)bench.commit("", -1, 0, 1);
  bench.pass(kWeek / 2);
  (void)bench.commit("", -1, 1, 1);
  bench.pass(kWeek / 2 - 1);
  sweep();
  EXPECT_EQ(bench.committed(0), 1);
  bench.pass(1);
  sweep();
  EXPECT_EQ(bench.committed(0), -1);
  EXPECT_EQ(bench.committed(1), 1);
  bench.pass(kWeek / 2);
  sweep();
  EXPECT_EQ(bench.groups().find("g"), nullptr) << "the last offset takes the group along";
  EXPECT_TRUE(bench.stored_offsets.empty());
}

TEST_F(GroupCoordinatorTest, OffsetsOfMembersExpireFromWhenTheGroupBecameEmpty) {
  const std::string id = member_of_stable_group(subscription("t"));
  (void)bench.commit(id, 1, 0, 1);
  for (int i = 0; i < 200'000; ++i) {
    bench.pass(9'000);
    (void)bench.heartbeat(id, 1);
  }
  sweep();
  EXPECT_EQ(bench.committed(0), 1) << "three weeks in use";
  (void)bench.leave(id);
  bench.pass(kWeek - 1);
  sweep();
  EXPECT_EQ(bench.committed(0), 1);
  bench.pass(1);
  sweep();
  EXPECT_EQ(bench.committed(0), -1);
  EXPECT_TRUE(bench.stored_groups.empty());
}

TEST_F(GroupCoordinatorTest, ARetentionOfItsOwnGoesBeforeTheBrokers) {
  OffsetCommit request{.group_id = "g", .version = 3, .retention_ms = 1'000};
  request.offsets.push_back({.topic_id = GroupBench::topic_id(), .topic = "t", .partition = 0, .offset = 5});
  (void)bench.ask<OffsetCommitOutcome>(
      [&](auto reply, Step& step) { bench.groups().commit(request, bench.now(), std::move(reply), step); });
  bench.pass(999);
  sweep();
  EXPECT_EQ(bench.committed(0), 5);
  bench.pass(1);
  sweep();
  EXPECT_EQ(bench.committed(0), -1);
}

TEST_F(GroupCoordinatorTest, ASweepDoesNotTakeAGroupWhoseCommitIsBeingStored) {
  bench.hold_store();
  (void)bench.commit("", -1, 0, 1);
  Step step;
  bench.groups().expire_offsets(bench.now(), step);
  EXPECT_TRUE(step.writes.empty());
  bench.release();
  EXPECT_EQ(bench.committed(0), 1);
}

TEST_F(GroupCoordinatorTest, OnlyEmptyGroupsAreDeleted) {
  EXPECT_EQ(delete_group("g"), ErrorCode::group_id_not_found);
  const std::string id = member_of_stable_group();
  (void)bench.commit(id, 1, 0, 1);
  EXPECT_EQ(delete_group("g"), ErrorCode::non_empty_group);
  (void)bench.leave(id);
  EXPECT_EQ(delete_group("g"), ErrorCode::none);
  EXPECT_EQ(bench.groups().find("g"), nullptr);
  EXPECT_TRUE(bench.stored_groups.empty() && bench.stored_offsets.empty());
}

TEST_F(GroupCoordinatorTest, OffsetsOfTopicsThatAreReadAreNotDeleted) {
  EXPECT_EQ(delete_offset("t", 0).error, ErrorCode::group_id_not_found);
  const std::string id = member_of_stable_group(subscription("other"));
  (void)bench.commit(id, 1, 0, 1);
  EXPECT_EQ(delete_offset("other", 0).offsets.front(), ErrorCode::group_subscribed_to_topic);
  EXPECT_EQ(delete_offset("t", 0).offsets.front(), ErrorCode::none);
  EXPECT_EQ(bench.committed(0), -1);
  EXPECT_EQ(delete_offset("t", 1).offsets.front(), ErrorCode::none) << "nothing there to delete";
}

TEST_F(GroupCoordinatorTest, ADeletedTopicTakesItsOffsetsAlong) {
  (void)bench.commit("", -1, 0, 1);
  bench.groups().topic_deleted(GroupBench::topic_id());
  EXPECT_EQ(bench.committed(0), -1);
  EXPECT_EQ(bench.groups().find("g")->offsets.size(), 0U);
}

TEST_F(GroupCoordinatorTest, GroupsAreListedByStateAndType) {
  (void)member_of_stable_group();
  (void)bench.commit("", -1, 0, 1, "simple");
  const auto names = [this](const GroupFilter& filter) {
    std::vector<std::string> ids;
    for (const auto& group : bench.groups().list(filter)) ids.push_back(group.group_id.str());
    std::ranges::sort(ids);
    return ids;
  };
  EXPECT_EQ(names({}), (std::vector<std::string>{"g", "simple"}));
  EXPECT_EQ(names({.states = {"stable"}}), (std::vector<std::string>{"g"}));
  EXPECT_EQ(names({.states = {"Empty", "Dead"}}), (std::vector<std::string>{"simple"}));
  EXPECT_EQ(names({.types = {"Classic"}}).size(), 2U);
  EXPECT_TRUE(names({.types = {"consumer"}}).empty());
  EXPECT_EQ(bench.groups().list({.states = {"stable"}}).front().protocol_type, "consumer");
}

TEST_F(GroupCoordinatorTest, WhoeverWaitsIsAnsweredWhenTheGroupIsForgotten) {
  const auto [id, joined] = bench.join_anew();
  Step step;
  bench.groups().forget("g", ErrorCode::not_coordinator, step);
  for (Answer& answer : step.answers) answer(ErrorCode::none);
  ASSERT_TRUE(joined->has_value());
  EXPECT_EQ((*joined)->error_code, ErrorCode::not_coordinator);
  EXPECT_EQ(bench.groups().next_deadline(), kNever);
}

TEST_F(GroupCoordinatorTest, AFailedStoreTellsTheErrorInstead) {
  bench.hold_store();
  bool told = false;
  Step step;
  OffsetCommit request{.group_id = "g", .version = 9};
  request.offsets.push_back({.topic_id = GroupBench::topic_id(), .topic = "t"});
  bench.groups().commit(
      request, bench.now(),
      [&told](const OffsetCommitOutcome& outcome) { told = outcome.error == ErrorCode::coordinator_not_available; },
      step);
  for (Answer& answer : step.answers) answer(ErrorCode::coordinator_not_available);
  EXPECT_TRUE(told);
}

}  // namespace
}  // namespace thalweg::coordinator
