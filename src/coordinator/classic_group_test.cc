// Transcripts of classic groups: what members send, when, and what they are told.
#include "coordinator/classic_group.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/log.h"
#include "coordinator/group_test_util.h"

namespace thalweg::coordinator {
namespace {

using protocol::ErrorCode;
using State = ClassicGroup::State;
using Join = JoinAs;

constexpr std::int64_t kInitialDelay = 3'000;

class ClassicGroupTest : public testing::Test {
 protected:
  const ClassicGroup& group() { return bench.groups().find("g")->classic; }

  // A stable group of `count` members, in generation 1; the leader is the first.
  std::vector<std::string> stable(int count, const Join& join = {}) {
    std::vector<std::string> ids;
    ids.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) ids.push_back(bench.join_anew(join).first);
    bench.pass(kInitialDelay + (count > 1 ? kInitialDelay : 0));
    EXPECT_EQ(group().state(), State::completing_rebalance);
    EXPECT_EQ(group().leader(), ids.front());
    GroupBench::Assignments assignments;
    for (const auto& id : ids) assignments.emplace_back(id, "a:" + id);
    for (const auto& id : ids) {
      if (id != ids.front()) (void)bench.sync(id, group().generation());
    }
    (void)bench.sync(ids.front(), group().generation(), assignments);
    EXPECT_EQ(group().state(), State::stable);
    return ids;
  }

  void SetUp() override { base::set_log_level("group", base::LogLevel::off); }

  GroupBench bench;
};

TEST_F(ClassicGroupTest, ADynamicMemberIsGivenAnIdAndMustComeBackWithIt) {
  const auto first = bench.join({});
  ASSERT_TRUE(first->has_value());
  EXPECT_EQ((*first)->error_code, ErrorCode::member_id_required);
  EXPECT_EQ((*first)->member_id, "c-00000000-0000-0000-0000-000000000001");
  EXPECT_EQ(group().pending_members(), 1U);
  EXPECT_TRUE(group().empty());

  const auto second = bench.join({.member = (*first)->member_id.str()});
  EXPECT_FALSE(second->has_value()) << "the initial delay has just begun";
  bench.pass(kInitialDelay - 1);
  EXPECT_FALSE(second->has_value());
  bench.pass(1);
  ASSERT_TRUE(second->has_value());
  EXPECT_EQ((*second)->error_code, ErrorCode::none);
  EXPECT_EQ((*second)->generation_id, 1);
  EXPECT_EQ((*second)->leader, (*second)->member_id);
  EXPECT_EQ((*second)->protocol_name, base::String("range"));
  ASSERT_EQ((*second)->members.size(), 1U);
  EXPECT_EQ((*second)->members[0].metadata, base::Bytes::copy_of("m"));
}

TEST_F(ClassicGroupTest, AnOldClientIsAMemberAtOnce) {
  const auto joined = bench.join({.version = 3});
  bench.pass(kInitialDelay);
  ASSERT_TRUE(joined->has_value());
  EXPECT_EQ((*joined)->error_code, ErrorCode::none);
}

TEST_F(ClassicGroupTest, AnIdThatIsNeverUsedIsForgottenAfterItsSession) {
  (void)bench.join({.session_ms = 7'000});
  bench.pass(6'999);
  EXPECT_EQ(group().pending_members(), 1U);
  bench.pass(1);
  EXPECT_EQ(group().pending_members(), 0U);
}

TEST_F(ClassicGroupTest, TheInitialDelayGrowsWithNewMembersUpToTheRebalanceTimeout) {
  const auto [first, first_joined] = bench.join_anew({.rebalance_ms = 7'000});
  bench.pass(2'000);
  const auto [second, second_joined] = bench.join_anew({.rebalance_ms = 7'000});
  bench.pass(1'000);
  EXPECT_FALSE(first_joined->has_value()) << "somebody came during the first three seconds";
  (void)bench.join_anew({.rebalance_ms = 7'000});
  bench.pass(3'000);
  EXPECT_FALSE(first_joined->has_value()) << "and during the next";
  bench.pass(1'000);
  ASSERT_TRUE(first_joined->has_value()) << "seven seconds are over";
  EXPECT_EQ((*first_joined)->members.size(), 3U);
  EXPECT_TRUE((*second_joined)->members.empty()) << "only the leader is told of the members";
}

TEST_F(ClassicGroupTest, AssignmentsArePassedOnOnceTheLeaderHasSpoken) {
  const auto [leader, a] = bench.join_anew();
  const auto [follower, b] = bench.join_anew();
  bench.pass(2 * kInitialDelay);
  const auto early = bench.sync(follower, 1);
  EXPECT_FALSE(early->has_value());
  const auto own = bench.sync(leader, 1, {{leader, "x"}, {follower, "y"}});
  ASSERT_TRUE(own->has_value() && early->has_value());
  EXPECT_EQ((*own)->assignment, base::Bytes::copy_of("x"));
  EXPECT_EQ((*early)->assignment, base::Bytes::copy_of("y"));
  EXPECT_EQ((*early)->protocol_type, base::String("consumer"));
  const auto again = bench.sync(follower, 1);
  ASSERT_TRUE(again->has_value()) << "a sync that is sent again is answered from the stable group";
  EXPECT_EQ((*again)->assignment, base::Bytes::copy_of("y"));
}

TEST_F(ClassicGroupTest, NothingIsSaidBeforeTheAssignmentIsStored) {
  const auto [leader, joined] = bench.join_anew();
  bench.pass(kInitialDelay);
  bench.hold_store();
  const auto synced = bench.sync(leader, 1, {{leader, "x"}});
  EXPECT_FALSE(synced->has_value());
  EXPECT_TRUE(bench.stored_groups.empty());
  bench.release();
  EXPECT_TRUE(synced->has_value());
  EXPECT_EQ(bench.stored_groups.size(), 1U);
}

TEST_F(ClassicGroupTest, AMemberThatIsAssignedNothingHasAnEmptyAssignment) {
  const auto [leader, a] = bench.join_anew();
  const auto [follower, b] = bench.join_anew();
  bench.pass(2 * kInitialDelay);
  const auto waiting = bench.sync(follower, 1);
  (void)bench.sync(leader, 1, {{leader, "x"}, {"stranger", "z"}});
  ASSERT_TRUE(waiting->has_value());
  EXPECT_EQ((*waiting)->error_code, ErrorCode::none);
  EXPECT_TRUE((*waiting)->assignment.empty());
}

TEST_F(ClassicGroupTest, HeartbeatsTellOfARebalanceAndKeepTheMember) {
  const auto ids = stable(2);
  EXPECT_EQ(bench.heartbeat(ids[0], 1), ErrorCode::none);
  const auto [third, joined] = bench.join_anew();
  EXPECT_EQ(bench.heartbeat(ids[0], 1), ErrorCode::rebalance_in_progress);
  const auto a = bench.join({.member = ids[0]});
  const auto b = bench.join({.member = ids[1]});
  ASSERT_TRUE(a->has_value() && b->has_value() && joined->has_value());
  EXPECT_EQ((*a)->generation_id, 2);
  EXPECT_EQ((*a)->members.size(), 3U);
  EXPECT_EQ(bench.heartbeat(ids[0], 1), ErrorCode::illegal_generation);
  EXPECT_EQ(bench.heartbeat(ids[0], 2), ErrorCode::none);
  EXPECT_EQ(bench.heartbeat("nobody", 2), ErrorCode::unknown_member_id);
}

TEST_F(ClassicGroupTest, AMemberThatIsNotHeardOfIsRemovedWhenItsSessionEnds) {
  const auto ids = stable(2);
  bench.pass(9'000);
  EXPECT_EQ(bench.heartbeat(ids[0], 1), ErrorCode::none);
  bench.pass(999);
  EXPECT_EQ(group().members().size(), 2U);
  bench.pass(1);
  EXPECT_EQ(group().members().size(), 1U) << "exactly one session after its last word";
  EXPECT_EQ(group().state(), State::preparing_rebalance);
  EXPECT_EQ(bench.heartbeat(ids[1], 1), ErrorCode::unknown_member_id);
}

TEST_F(ClassicGroupTest, AMemberThatWaitsForAnAnswerIsNotExpired) {
  const auto ids = stable(2, {.rebalance_ms = 60'000});
  const auto rejoined = bench.join({.member = ids[0], .protocols = {{"range", "changed"}}});
  EXPECT_FALSE(rejoined->has_value());
  for (int i = 0; i < 5; ++i) {
    bench.pass(9'000);
    EXPECT_EQ(bench.heartbeat(ids[1], 1), ErrorCode::rebalance_in_progress);
  }
  EXPECT_EQ(group().members().size(), 2U) << "45 seconds in a join, a session of 10";
  bench.pass(15'000);
  ASSERT_TRUE(rejoined->has_value()) << "the rebalance timeout ends it without the other";
  EXPECT_EQ((*rejoined)->members.size(), 1U);
}

TEST_F(ClassicGroupTest, MembersThatDoNotSyncInTimeAreRemoved) {
  const auto [leader, a] = bench.join_anew({.session_ms = 100'000, .rebalance_ms = 20'000});
  const auto [follower, b] = bench.join_anew({.session_ms = 100'000, .rebalance_ms = 20'000});
  bench.pass(2 * kInitialDelay);
  const auto synced = bench.sync(leader, 1, {{leader, "x"}});
  ASSERT_TRUE(synced->has_value());
  EXPECT_EQ(group().state(), State::stable);
  bench.pass(19'999);
  EXPECT_EQ(group().members().size(), 2U);
  bench.pass(1);
  EXPECT_EQ(group().members().size(), 1U);
  EXPECT_EQ(group().state(), State::preparing_rebalance);
}

TEST_F(ClassicGroupTest, LeavingMakesTheOthersJoinAgainAndTheLastOneEmptiesTheGroup) {
  const auto ids = stable(2);
  EXPECT_EQ(bench.leave(ids[0]), ErrorCode::none);
  EXPECT_EQ(group().state(), State::preparing_rebalance);
  EXPECT_EQ(group().leader(), ids[1]);
  EXPECT_EQ(bench.leave(ids[0]), ErrorCode::unknown_member_id);
  EXPECT_EQ(bench.leave(ids[1]), ErrorCode::none);
  bench.pass(0);
  EXPECT_TRUE(group().empty());
  EXPECT_EQ(group().generation(), 2);
  EXPECT_EQ(group().protocol_type(), "consumer");
  EXPECT_FALSE(group().protocol_name());
  EXPECT_TRUE(bench.stored_groups.contains("g"));
}

TEST_F(ClassicGroupTest, ALeavingMemberThatWaitsInAJoinIsAnswered) {
  const auto ids = stable(2);
  const auto joined = bench.join({.member = ids[0], .protocols = {{"range", "changed"}}});
  EXPECT_EQ(bench.leave(ids[0]), ErrorCode::none);
  ASSERT_TRUE(joined->has_value());
  EXPECT_EQ((*joined)->error_code, ErrorCode::unknown_member_id);
}

TEST_F(ClassicGroupTest, AFollowerThatComesBackUnchangedDoesNotRebalance) {
  const auto ids = stable(2);
  const auto same = bench.join({.member = ids[1]});
  ASSERT_TRUE(same->has_value());
  EXPECT_EQ((*same)->generation_id, 1);
  EXPECT_EQ(group().state(), State::stable);
  const auto changed = bench.join({.member = ids[1], .protocols = {{"range", "other"}}});
  EXPECT_FALSE(changed->has_value());
  EXPECT_EQ(group().state(), State::preparing_rebalance);
}

TEST_F(ClassicGroupTest, ALeaderThatJoinsAgainAsksForANewAssignment) {
  const auto ids = stable(2);
  EXPECT_FALSE(bench.join({.member = ids[0]})->has_value());
  EXPECT_EQ(group().state(), State::preparing_rebalance);
}

TEST_F(ClassicGroupTest, TheProtocolThatMostMembersPreferIsTaken) {
  const auto [a, x] = bench.join_anew({.protocols = {{"range", ""}, {"sticky", ""}, {"own", ""}}});
  const auto [b, y] = bench.join_anew({.protocols = {{"sticky", ""}, {"range", ""}}});
  const auto [c, z] = bench.join_anew({.protocols = {{"sticky", ""}, {"range", ""}}});
  bench.pass(2 * kInitialDelay);
  EXPECT_EQ(group().protocol_name(), "sticky");
  const auto stranger = bench.join({.protocols = {{"own", ""}}});
  EXPECT_EQ((*stranger)->error_code, ErrorCode::inconsistent_group_protocol);
  const auto connect = bench.join({.type = "connect"});
  EXPECT_EQ((*connect)->error_code, ErrorCode::inconsistent_group_protocol);
}

TEST_F(ClassicGroupTest, AStaticMemberThatRestartsKeepsItsPlaceWithoutARebalance) {
  const auto first = bench.join({.instance = "i-1"});
  bench.pass(kInitialDelay);
  const std::string old_id = (*first)->member_id.str();
  EXPECT_TRUE(old_id.starts_with("i-1-")) << old_id;
  (void)bench.sync(old_id, 1, {{old_id, "x"}});
  const auto back = bench.join({.instance = "i-1"});
  ASSERT_TRUE(back->has_value());
  EXPECT_EQ((*back)->generation_id, 1);
  EXPECT_TRUE((*back)->skip_assignment);
  EXPECT_EQ((*back)->leader, (*back)->member_id);
  EXPECT_EQ(group().state(), State::stable);
  EXPECT_EQ(bench.heartbeat(old_id, 1, "g", "i-1"), ErrorCode::fenced_instance_id);
  EXPECT_EQ(bench.heartbeat(old_id, 1), ErrorCode::unknown_member_id);
  const auto synced = bench.sync((*back)->member_id.str(), 1, {}, "g", "i-1");
  EXPECT_EQ((*synced)->assignment, base::Bytes::copy_of("x"));
  bench.restart();
  EXPECT_EQ(bench.heartbeat((*back)->member_id.str(), 1, "g", "i-1"), ErrorCode::none) << "the new id was stored";
}

TEST_F(ClassicGroupTest, AnOlderStaticLeaderIsNotToldThatItLeads) {
  const auto first = bench.join({.instance = "i-1", .version = 8});
  bench.pass(kInitialDelay);
  const std::string old_id = (*first)->member_id.str();
  (void)bench.sync(old_id, 1, {{old_id, "x"}});
  const auto back = bench.join({.instance = "i-1", .version = 8});
  EXPECT_EQ((*back)->leader, old_id.c_str());
  EXPECT_TRUE((*back)->members.empty());
}

TEST_F(ClassicGroupTest, TwoProcessesWithOneInstanceIdFenceEachOther) {
  const auto first = bench.join({.instance = "i-1"});
  bench.pass(kInitialDelay);
  const std::string old_id = (*first)->member_id.str();
  const auto syncing = bench.join({.member = old_id, .instance = "i-1", .protocols = {{"range", "changed"}}});
  ASSERT_TRUE(syncing->has_value()) << "alone it completes at once";
  const auto waiting = bench.sync(old_id, 2);
  (void)waiting;
  const auto back = bench.join({.instance = "i-1"});
  EXPECT_EQ(bench.heartbeat(old_id, 2, "g", "i-1"), ErrorCode::fenced_instance_id);
  EXPECT_EQ(bench.leave("", "i-1"), ErrorCode::none);
  EXPECT_EQ(bench.leave("", "i-2"), ErrorCode::unknown_member_id);
}

TEST_F(ClassicGroupTest, AStaticMemberOutlivesARebalanceThatItMisses) {
  const auto one = bench.join({.instance = "i-1", .session_ms = 100'000, .rebalance_ms = 10'000});
  const auto two = bench.join({.instance = "i-2", .session_ms = 100'000, .rebalance_ms = 10'000});
  bench.pass(2 * kInitialDelay);
  const std::string first = (*one)->member_id.str();
  const std::string second = (*two)->member_id.str();
  (void)bench.sync(second, 1);
  (void)bench.sync(first, 1, {{first, "x"}, {second, "y"}});
  const auto changed = bench.join({.member = second,
                                   .instance = "i-2",
                                   .protocols = {{"range", "changed"}},
                                   .session_ms = 100'000,
                                   .rebalance_ms = 10'000});
  bench.pass(10'000);
  ASSERT_TRUE(changed->has_value());
  EXPECT_EQ(group().members().size(), 2U);
  EXPECT_EQ((*changed)->leader, second.c_str()) << "the leader was away";
}

TEST_F(ClassicGroupTest, ARebalanceTimeoutOfNothingDoesNotKeepTheCoordinatorBusy) {
  const auto one = bench.join({.instance = "i-1", .session_ms = 100'000, .rebalance_ms = 0});
  const auto two = bench.join({.instance = "i-2", .session_ms = 100'000, .rebalance_ms = -1});
  bench.pass(2 * kInitialDelay);
  ASSERT_TRUE(one->has_value() && two->has_value());
  bench.pass(50'000);
  const auto third = bench.join({.instance = "i-3", .session_ms = 100'000, .rebalance_ms = 0});
  bench.pass(50'000);
  EXPECT_TRUE(third->has_value());

  GroupBench away;
  const auto leader = away.join({.instance = "i-1", .session_ms = 100'000});
  away.pass(kInitialDelay);
  const std::string id = (*leader)->member_id.str();
  (void)away.sync(id, 1, {{id, "x"}});
  (void)away.join({.member = id, .instance = "i-1", .session_ms = 100'000, .rebalance_ms = 0});
  (void)away.sync(id, 2, {{id, "x"}}, "g", "i-1");
  // A dynamic member begins a rebalance and leaves; the static one does not come.
  (void)away.join({.session_ms = 100'000, .rebalance_ms = 0, .version = 3});
  std::string dynamic;
  for (const auto& [member, what] : away.groups().find("g")->classic.members())
    if (!what.is_static()) dynamic = member;
  ASSERT_EQ(away.leave(dynamic), ErrorCode::none);
  ASSERT_EQ(away.groups().find("g")->classic.state(), State::preparing_rebalance);
  int turns = 0;
  for (; turns < 1'000 && away.groups().next_deadline() <= away.now().steady_ms; ++turns) {
    Step step;
    (void)away.groups().tick(away.now(), step);
    away.finish(std::move(step));
  }
  EXPECT_LT(turns, 10);
}

TEST_F(ClassicGroupTest, AGroupIsNotLargerThanItMayBe) {
  GroupBench small({.max_size = 2});
  (void)small.join_anew();
  (void)small.join_anew();
  small.pass(2 * kInitialDelay);
  const auto third = small.join({});
  EXPECT_EQ((*third)->error_code, ErrorCode::group_max_size_reached);
  EXPECT_TRUE((*third)->member_id.empty());
}

TEST_F(ClassicGroupTest, ARestartWithLivingMembersNeedsNoRebalance) {
  const auto ids = stable(3);
  bench.pass(5'000);
  bench.restart();
  EXPECT_EQ(group().state(), State::stable);
  EXPECT_EQ(group().generation(), 1);
  bench.pass(9'000);
  for (const auto& id : ids) EXPECT_EQ(bench.heartbeat(id, 1), ErrorCode::none) << "each has a whole session";
  const auto synced = bench.sync(ids[2], 1);
  EXPECT_EQ((*synced)->assignment, base::Bytes::copy_of("a:" + ids[2]));
  const auto follower = bench.join({.member = ids[2]});
  ASSERT_TRUE(follower->has_value()) << "its metadata is remembered";
  EXPECT_EQ((*follower)->generation_id, 1);
}

TEST_F(ClassicGroupTest, OldGenerationsAndStrangersDoNotCommit) {
  const auto ids = stable(1);
  EXPECT_EQ((*bench.commit(ids[0], 1, 0, 10))->offsets.front(), ErrorCode::none);
  EXPECT_EQ((*bench.commit(ids[0], 0, 0, 11))->error, ErrorCode::illegal_generation);
  EXPECT_EQ((*bench.commit("nobody", 1, 0, 11))->error, ErrorCode::unknown_member_id);
  EXPECT_EQ((*bench.commit("", -1, 0, 11))->error, ErrorCode::unknown_member_id) << "the group has members";
  EXPECT_EQ(bench.committed(0), 10);
  (void)bench.join({.member = ids[0]});
  EXPECT_EQ((*bench.commit(ids[0], 2, 0, 12))->error, ErrorCode::rebalance_in_progress);
  EXPECT_EQ(bench.committed(0), 10);
}

TEST_F(ClassicGroupTest, ACommitIsASignOfLife) {
  const auto ids = stable(1);
  bench.pass(9'000);
  (void)bench.commit(ids[0], 1, 0, 10);
  bench.pass(9'999);
  EXPECT_EQ(group().members().size(), 1U);
  bench.pass(1);
  EXPECT_TRUE(group().members().empty());
}

TEST_F(ClassicGroupTest, AProtocolThatTheGroupDoesNotUseIsRefusedInSync) {
  const auto ids = stable(1);
  protocol::SyncGroupRequest request;
  request.group_id = protocol::GroupId("g");
  request.member_id = ids[0];
  request.generation_id = 1;
  request.protocol_name = "sticky";
  const auto answered = bench.ask<protocol::SyncGroupResponse>(
      [&](auto reply, Step& step) { bench.groups().sync(request, bench.now(), std::move(reply), step); });
  EXPECT_EQ((*answered)->error_code, ErrorCode::inconsistent_group_protocol);
}

}  // namespace
}  // namespace thalweg::coordinator
