// What every engine must do; run on each of them.
#include "metadata/store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <random>

#include "metadata/store_test_util.h"

namespace thalweg::metadata {
namespace {

using protocol::BrokerId;
using records::Record;
using testing::ElementsAre;

template <class Kit>
class StoreTest : public testing::Test {};
using Kits = testing::Types<MemoryKit, SqliteKit>;
struct KitNames {
  template <class Kit>
  static std::string GetName(int) {
    return std::is_same_v<Kit, MemoryKit> ? "Memory" : "Sqlite";
  }
};
TYPED_TEST_SUITE(StoreTest, Kits, KitNames);

TYPED_TEST(StoreTest, TheFirstOpeningMakesAClusterIdThatStays) {
  Bench<TypeParam> bench;
  const std::string id = bench.snapshot->cluster_id();
  EXPECT_EQ(id.size(), 22U);
  EXPECT_TRUE(base::Uuid::parse(id).has_value());
  EXPECT_EQ(bench.snapshot->revision(), Revision(1));
  bench.reopen();
  EXPECT_EQ(bench.snapshot->cluster_id(), id);
  EXPECT_EQ(bench.snapshot->revision(), Revision(1));
  EXPECT_EQ(text_of(*bench.store->opened_snapshot()), text_of(*bench.snapshot));
}

TYPED_TEST(StoreTest, ACommitIsDoneWhenTheCoreHasIt) {
  Bench<TypeParam> bench;
  std::optional<CommitResult> result;
  bench.ask({.records = {topic_created(1, "a")}}, result);
  EXPECT_FALSE(result.has_value());
  bench.writer.run();
  EXPECT_EQ(bench.snapshot->topic(std::string_view("a")), nullptr);
  bench.core.run();
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(result->value(), Revision(2));
  EXPECT_NE(bench.snapshot->topic(std::string_view("a")), nullptr);
  EXPECT_THAT(bench.events, ElementsAre("change 2", "done 2"));
}

TYPED_TEST(StoreTest, EveryChangeSetIsARevisionInItsOrder) {
  Bench<TypeParam> bench;
  std::vector<std::optional<CommitResult>> results(20);
  for (int i = 0; i < 20; ++i)
    bench.ask({.records = {topic_created(i, "t" + std::to_string(i))}}, results[static_cast<std::size_t>(i)]);
  bench.run();
  for (std::size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i]->value().value(), 2 + static_cast<int>(i));
  ASSERT_EQ(bench.changes.size(), 20U);
  for (std::size_t i = 0; i < bench.changes.size(); ++i) {
    EXPECT_EQ(bench.changes[i].revision.value(), 2 + static_cast<int>(i));
    EXPECT_THAT(bench.changes[i].records, ElementsAre(topic_created(static_cast<int>(i), "t" + std::to_string(i))));
  }
  EXPECT_EQ(bench.snapshot->revision(), Revision(21));
}

TYPED_TEST(StoreTest, WhatWaitsTogetherIsOneTransaction) {
  Bench<TypeParam> bench;
  std::vector<std::optional<CommitResult>> results(50);
  for (int i = 0; i < 50; ++i)
    bench.ask({.records = {topic_created(i, "t" + std::to_string(i))}}, results[static_cast<std::size_t>(i)]);
  bench.run();
  ASSERT_EQ(bench.observer.transactions.size(), 1U);
  EXPECT_EQ(bench.observer.transactions[0].change_sets, 50U);
  EXPECT_EQ(bench.observer.transactions[0].records, 50U);
  EXPECT_EQ(bench.observer.transactions[0].refused, 0U);
}

// A failed precondition names itself and leaves nothing of its change set, neither in memory nor in the engine.
TYPED_TEST(StoreTest, APreconditionThatFailsIsAnAnswer) {
  Bench<TypeParam> bench;
  const Revision made = bench.accept({topic_created(1, "a")});
  const Revision configured =
      bench.accept({records::ConfigSet{.resource = topic_resource("a"), .key = "k", .value = "v"},
                    records::ProducerIdBlockAllocated{.node_id = BrokerId(1), .next_producer_id = 1000},
                    records::LeaseChanged{.name = "l", .owner = BrokerId(1), .epoch = 3}});
  const Revision grouped = bench.accept({records::GroupChanged{.group_id = "g"}});
  const std::string text = text_of(*bench.snapshot);

  const std::vector<Precondition> failing = {
      TopicNameFree{.name = "a"},
      TopicAtVersion{.topic_id = uuid_of(1), .version = next(made)},
      TopicAtVersion{.topic_id = uuid_of(2), .version = made},
      TopicExists{.topic_id = uuid_of(2)},
      ConfigAtVersion{.resource = topic_resource("a"), .key = "k", .version = kNothing},
      ConfigAtVersion{.resource = topic_resource("a"), .key = "other", .version = configured},
      ProducerIdBlockAt{.next_producer_id = 0},
      LeaseHeld{.name = "l", .owner = BrokerId(2), .epoch = 3},
      LeaseHeld{.name = "l", .owner = BrokerId(1), .epoch = 2},
      LeaseHeld{.name = "never held", .owner = BrokerId(1), .epoch = 0},
      GroupAtVersion{.group_id = "g", .version = kNothing},
      GroupAtVersion{.group_id = "none", .version = grouped},
  };
  for (std::size_t i = 0; i < failing.size(); ++i) {
    const CommitResult result = bench.commit({.preconditions = {TopicNameFree{.name = "b"}, failing[i]},
                                              .records = {topic_created(2, "b"), offset_committed("g", 1, 0, 5)}});
    ASSERT_FALSE(result.has_value()) << i;
    EXPECT_EQ(result.error().kind, CommitFault::Kind::precondition) << i;
    EXPECT_EQ(result.error().index, 1U) << i;
    EXPECT_FALSE(result.error().detail.empty()) << i;
  }
  EXPECT_EQ(text_of(*bench.snapshot), text);
  EXPECT_TRUE(bench.groups().offsets.empty());

  const std::vector<Precondition> holding = {
      TopicNameFree{.name = "b"},
      TopicAtVersion{.topic_id = uuid_of(1), .version = made},
      TopicExists{.topic_id = uuid_of(1)},
      ConfigAtVersion{.resource = topic_resource("a"), .key = "k", .version = configured},
      ConfigAtVersion{.resource = topic_resource("a"), .key = "other", .version = kNothing},
      ProducerIdBlockAt{.next_producer_id = 1000},
      LeaseHeld{.name = "l", .owner = BrokerId(1), .epoch = 3},
      LeaseHeld{.name = "never held", .owner = protocol::kNoBroker, .epoch = 0},
      GroupAtVersion{.group_id = "g", .version = grouped},
      GroupAtVersion{.group_id = "none", .version = kNothing},
  };
  EXPECT_TRUE(bench.commit({.preconditions = holding, .records = {topic_created(2, "b")}}).has_value());
  bench.reopen();
  EXPECT_EQ(bench.snapshot->topic_count(), 2U);
}

TYPED_TEST(StoreTest, AChangeSetSeesThoseBeforeItInItsTransaction) {
  Bench<TypeParam> bench;
  std::optional<CommitResult> first;
  std::optional<CommitResult> second;
  std::optional<CommitResult> third;
  std::optional<CommitResult> fourth;
  const std::vector<Precondition> free = {TopicNameFree{.name = "a"}};
  const std::vector<Precondition> no_group = {GroupAtVersion{.group_id = "g", .version = kNothing}};
  bench.ask({.preconditions = free, .records = {topic_created(1, "a")}}, first);
  bench.ask({.preconditions = free, .records = {topic_created(2, "a")}}, second);
  bench.ask({.preconditions = no_group, .records = {records::GroupChanged{.group_id = "g"}}}, third);
  bench.ask({.preconditions = no_group, .records = {records::GroupChanged{.group_id = "g"}}}, fourth);
  bench.run();
  EXPECT_EQ(bench.observer.transactions.size(), 1U);
  EXPECT_EQ(bench.observer.transactions[0].refused, 2U);
  EXPECT_TRUE(first->has_value());
  ASSERT_FALSE(second->has_value());
  EXPECT_EQ(second->error().kind, CommitFault::Kind::precondition);
  EXPECT_TRUE(third->has_value());
  EXPECT_FALSE(fourth->has_value());
}

TYPED_TEST(StoreTest, AnInvalidRecordLeavesNothingOfItsChangeSet) {
  Bench<TypeParam> bench;
  bench.accept({topic_created(1, "a")});
  const std::string text = text_of(*bench.snapshot);
  const CommitResult result =
      bench.commit({.records = {topic_created(2, "b"), offset_committed("g", 1, 0, 5), topic_created(3, "a")}});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, CommitFault::Kind::invalid);
  EXPECT_EQ(result.error().index, 2U);
  EXPECT_EQ(text_of(*bench.snapshot), text);
  bench.reopen();
  EXPECT_EQ(text_of(*bench.snapshot), text);
  EXPECT_TRUE(bench.groups().offsets.empty());
}

TYPED_TEST(StoreTest, AChangeSetWithoutRecordsAsksWhereThingsStand) {
  Bench<TypeParam> bench;
  bench.accept({topic_created(1, "a")});
  EXPECT_EQ(bench.commit({}).value(), Revision(2));
  EXPECT_EQ(bench.commit({.preconditions = {TopicExists{.topic_id = uuid_of(1)}}}).value(), Revision(2));
  EXPECT_FALSE(bench.commit({.preconditions = {TopicExists{.topic_id = uuid_of(2)}}}).has_value());
}

TYPED_TEST(StoreTest, EverythingIsThereAfterAReopening) {
  Bench<TypeParam> bench;
  bench.accept({records::NodeRegistered{
                    .node_id = BrokerId(1),
                    .incarnation = uuid_of(5),
                    .directories = {uuid_of(9000), uuid_of(9001)},
                    .endpoints = {{.listener = "PLAINTEXT", .host = "localhost", .port = 9092, .security_protocol = 0}},
                    .rack = "r"},
                records::NodeStarted{.node_id = BrokerId(1), .started_ms = 77, .unclean = true}});
  bench.accept({topic_created(1, "a", 200),
                records::ConfigSet{.resource = topic_resource("a"), .key = "k", .value = ""},
                records::ConfigSet{.resource = records::broker_default(), .key = "k", .value = "v"}});
  bench.accept(
      {topic_created(2, "b"),
       records::PartitionsAdded{.topic_id = uuid_of(2), .partitions = {2, {.leader = BrokerId(1)}}},
       records::PartitionChanged{
           .topic_id = uuid_of(2), .partition = 1, .leader = BrokerId(1), .leader_epoch = 6, .directory = uuid_of(3)}});
  bench.accept({records::NodeStarted{.node_id = BrokerId(1), .started_ms = 78, .unclean = true}});
  bench.accept({records::ProducerIdBlockAllocated{.node_id = BrokerId(1), .next_producer_id = 2000},
                records::LeaseChanged{.name = "l", .owner = BrokerId(1), .epoch = 3, .expires_ms = 9},
                records::AclAdded{.acl = {.resource_type = records::AclResourceType::user,
                                          .resource_name = "a",
                                          .pattern_type = records::AclPatternType::prefixed,
                                          .principal = "User:b",
                                          .host = "10.0.0.0/8",
                                          .operation = records::AclOperation::create_tokens,
                                          .permission = records::AclPermission::deny}},
                records::ScramCredentialSet{.key = {.user = "u", .mechanism = records::ScramMechanism::sha_512},
                                            .credential = {.iterations = 4096,
                                                           .salt = base::Bytes::copy_of(std::string_view("\0s", 2)),
                                                           .stored_key = base::Bytes::copy_of("stored"),
                                                           .server_key = base::Bytes::copy_of("server")}},
                records::DelegationTokenCreated{.token = {.token_id = "t",
                                                          .owner = "User:a",
                                                          .requester = "User:b",
                                                          .renewers = {"User:c", "User:d"},
                                                          .issued_ms = 1,
                                                          .expires_ms = 2,
                                                          .max_ms = 3,
                                                          .key_check = 4}}});
  bench.accept({topic_created(3, "c"), records::TopicDeleted{.topic_id = uuid_of(3)}, topic_created(4, "c")});
  bench.accept({records::GroupChanged{.group_id = "g",
                                      .kind = records::GroupKind::consumer,
                                      .state_version = 2,
                                      .state = base::Bytes::copy_of(std::string_view("\0x", 2))},
                records::GroupChanged{.group_id = "empty"}, offset_committed("g", 1, 7, 1LL << 50)});
  const std::string text = text_of(*bench.snapshot);
  const Partitions& partitions = bench.snapshot->topic(uuid_of(2))->partitions;
  EXPECT_EQ(bench.snapshot->leader_epoch(partitions[1]), 7);
  EXPECT_EQ(bench.snapshot->leader_epoch(partitions[2]), 1);

  bench.reopen();
  EXPECT_EQ(text_of(*bench.snapshot), text);
  EXPECT_EQ(bench.snapshot->node(BrokerId(1))->registration.endpoints[0].host, "localhost");
  const GroupPage page = bench.groups();
  ASSERT_EQ(page.groups.size(), 2U);
  EXPECT_EQ(page.groups[0].state, (records::GroupChanged{.group_id = "empty"}));
  EXPECT_EQ(page.groups[1].state.state.view(), std::string_view("\0x", 2));
  EXPECT_EQ(page.groups[1].state.kind, records::GroupKind::consumer);
  EXPECT_EQ(page.groups[1].version, Revision(8));
  EXPECT_THAT(page.offsets, ElementsAre(offset_committed("g", 1, 7, 1LL << 50)));
}

// Random change sets, some of them refused: what a reopened store reads is always what the running one had in memory.
TYPED_TEST(StoreTest, TheRowsAlwaysSayWhatMemorySays) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE(seed);
    Bench<TypeParam> bench({.changes_kept = 20});
    std::mt19937 random(seed);
    const auto below = [&random](unsigned n) { return static_cast<int>(random() % n); };
    const auto any_record = [&]() -> Record {
      const int id = 1 + below(8);
      const std::string name = "t" + std::to_string(1 + below(6));
      const records::Acl acl{.resource_type = records::AclResourceType::topic,
                             .resource_name = name,
                             .principal = "User:u" + std::to_string(below(2)),
                             .host = "*",
                             .operation = records::AclOperation::read,
                             .permission = records::AclPermission::allow};
      const records::ScramKey scram_key{.user = name, .mechanism = static_cast<records::ScramMechanism>(1 + below(2))};
      switch (below(17)) {
        case 0:
          return records::NodeRegistered{.node_id = BrokerId(1 + below(2)), .incarnation = uuid_of(below(99))};
        case 1:
          return records::NodeStarted{
              .node_id = BrokerId(1 + below(2)), .started_ms = below(99), .unclean = below(2) == 0};
        case 2:
        case 3:
          return topic_created(id, name, 1 + below(70));
        case 4:
          return records::TopicDeleted{.topic_id = uuid_of(id)};
        case 5:
          return records::PartitionsAdded{.topic_id = uuid_of(id),
                                          .partitions = {static_cast<std::size_t>(below(70)), {.leader = BrokerId(2)}}};
        case 6:
          return records::PartitionChanged{.topic_id = uuid_of(id),
                                           .partition = below(40),
                                           .leader = BrokerId(1 + below(2)),
                                           .leader_epoch = below(9),
                                           .directory = uuid_of(below(3))};
        case 7:
          return records::ConfigSet{.resource = topic_resource(name),
                                    .key = "k" + std::to_string(below(3)),
                                    .value = std::to_string(below(5))};
        case 8:
          return records::ConfigRemoved{.resource = topic_resource(name), .key = "k" + std::to_string(below(3))};
        case 9:
          return records::AclAdded{.acl = acl};
        case 10:
          return records::AclRemoved{.acl = acl};
        case 11:
          return records::ScramCredentialSet{.key = scram_key, .credential = {.iterations = below(3)}};
        case 12:
          return records::ScramCredentialRemoved{.key = scram_key};
        case 13:
          return records::DelegationTokenCreated{.token = {.token_id = name, .expires_ms = below(9)}};
        case 14:
          return records::DelegationTokenRemoved{.token_id = name};
        case 15:
          return records::DelegationTokenRenewed{.token_id = name, .expires_ms = below(9)};
        default:
          return records::LeaseChanged{.name = name, .owner = BrokerId(below(3)), .epoch = below(6)};
      }
    };
    int accepted = 0;
    for (int round = 0; round < 15; ++round) {
      std::vector<std::optional<CommitResult>> results(30);
      for (auto& result : results) {
        ChangeSet set;
        for (int n = 1 + below(3); n > 0; --n) set.records.push_back(any_record());
        bench.ask(std::move(set), result);
      }
      bench.run();
      for (const auto& result : results) accepted += result->has_value() ? 1 : 0;
      const std::string text = text_of(*bench.snapshot);
      const Revision revision = bench.snapshot->revision();
      bench.reopen();
      ASSERT_EQ(text_of(*bench.snapshot), text);
      ASSERT_EQ(bench.snapshot->revision(), revision);
    }
    EXPECT_GT(accepted, 100);
  }
}

TYPED_TEST(StoreTest, ASubscriptionStartsWithTheStateAndEndsWhenLetGo) {
  Bench<TypeParam> bench;
  bench.accept({topic_created(1, "a")});
  std::vector<std::string> seen;
  Subscription late = bench.store->subscribe(bench.core, [&](const auto& snapshot, const auto& changes) {
    seen.push_back(std::to_string(snapshot->revision().value()) + "+" + std::to_string(changes.size()));
  });
  bench.run();
  bench.accept({topic_created(2, "b")});
  EXPECT_THAT(seen, ElementsAre("2+0", "3+1"));
  // Ended while a call is already on its way to the core.
  std::optional<CommitResult> result;
  bench.ask({.records = {topic_created(3, "c")}}, result);
  bench.writer.run();
  late.end();
  bench.run();
  bench.accept({topic_created(4, "d")});
  EXPECT_EQ(seen.size(), 2U);
}

TYPED_TEST(StoreTest, ASubscriptionMayEndItselfInItsCallback) {
  Bench<TypeParam> bench;
  int calls = 0;
  Subscription self;
  self = bench.store->subscribe(bench.core, [&, held = std::make_shared<int>(5)](const auto&, const auto&) {
    ++calls;
    self.end();
    EXPECT_EQ(*held, 5);
  });
  bench.run();
  bench.accept({topic_created(1, "a")});
  EXPECT_EQ(calls, 1);
}

TYPED_TEST(StoreTest, ChangesInsideOfGroupsAreToldToNobody) {
  Bench<TypeParam> bench;
  bench.accept({topic_created(1, "a")});
  bench.events.clear();
  EXPECT_EQ(bench.accept({offset_committed("g", 1, 0, 5)}), Revision(3));
  EXPECT_EQ(bench.accept({records::GroupChanged{.group_id = "g"}}), Revision(4));
  EXPECT_EQ(bench.accept({offset_committed("g", 1, 0, 6), topic_created(2, "b")}), Revision(5));
  EXPECT_THAT(bench.events, ElementsAre("done 3", "done 4", "change 5", "done 5"));
  EXPECT_THAT(bench.changes.back().records, ElementsAre(topic_created(2, "b")));
  EXPECT_EQ(bench.snapshot->revision(), Revision(5));
}

TYPED_TEST(StoreTest, OffsetsAreUpsertedDeletedAndGoWithTheirGroupOrTopic) {
  Bench<TypeParam> bench;
  bench.accept({topic_created(1, "t1", 4), topic_created(2, "t2")});
  bench.accept({records::GroupChanged{.group_id = "g"}, offset_committed("g", 1, 0, 1), offset_committed("g", 1, 1, 1),
                offset_committed("g", 2, 0, 1), offset_committed("h", 1, 0, 1), offset_committed("h", 2, 0, 1)});
  bench.accept({offset_committed("g", 1, 0, 9),
                records::OffsetDeleted{.group_id = "g", .topic_id = uuid_of(1), .partition = 1}});
  EXPECT_THAT(bench.groups().offsets, ElementsAre(offset_committed("g", 1, 0, 9), offset_committed("g", 2, 0, 1),
                                                  offset_committed("h", 1, 0, 1), offset_committed("h", 2, 0, 1)));
  bench.accept({records::TopicDeleted{.topic_id = uuid_of(1)}});
  EXPECT_THAT(bench.groups().offsets, ElementsAre(offset_committed("g", 2, 0, 1), offset_committed("h", 2, 0, 1)));
  bench.accept({offset_committed("g", 1, 0, 10), offset_committed("g", 2, 0, 2)});  // the first comes too late
  EXPECT_THAT(bench.groups().offsets, ElementsAre(offset_committed("g", 2, 0, 2), offset_committed("h", 2, 0, 1)));
  bench.accept({records::GroupDeleted{.group_id = "g"}});
  const GroupPage page = bench.groups();
  EXPECT_TRUE(page.groups.empty());
  EXPECT_THAT(page.offsets, ElementsAre(offset_committed("h", 2, 0, 1)));
}

TYPED_TEST(StoreTest, GroupsAreLoadedInPagesThatCutNoGroup) {
  Bench<TypeParam> bench;
  bench.accept({topic_created(1, "t1", 100)});
  std::size_t rows = 0;
  for (int g = 0; g < 30; ++g) {
    const std::string id = std::string("group ") + static_cast<char>('A' + g) + (g % 3 == 0 ? "\xff" : "");
    if (g % 2 == 0) {
      bench.accept({records::GroupChanged{.group_id = id}});
      ++rows;
    }
    for (int p = 0; g % 5 != 0 && p < g; ++p, ++rows) bench.accept({offset_committed(id, 1, p, p)});
  }
  for (const std::size_t limit : {1, 7, 50, 10'000}) {
    GroupRange range{.rows = limit};
    std::vector<std::string> groups;
    std::vector<records::OffsetCommitted> offsets;
    std::size_t pages = 0;
    do {
      GroupPage page = bench.groups(range);
      ++pages;
      if (!groups.empty() && !page.groups.empty()) EXPECT_GT(page.groups[0].state.group_id, groups.back());
      if (!offsets.empty() && !page.offsets.empty()) EXPECT_GT(page.offsets[0].group_id, offsets.back().group_id);
      for (const StoredGroup& group : page.groups) groups.push_back(group.state.group_id);
      offsets.insert(offsets.end(), page.offsets.begin(), page.offsets.end());
      range.first = page.next;
    } while (!range.first.empty());
    EXPECT_EQ(groups.size() + offsets.size(), rows) << limit;
    EXPECT_EQ(pages == 1, limit == 10'000) << limit;
  }
  const GroupPage part = bench.groups({.first = "group C", .end = "group E"});
  for (const auto& offset : part.offsets) EXPECT_TRUE(offset.group_id >= "group C" && offset.group_id < "group E");
  EXPECT_EQ(part.groups.size(), 1U);
  EXPECT_EQ(part.offsets.size(), 2U + 3U);
}

TYPED_TEST(StoreTest, GroupsAreLoadedBehindTheCommitsAskedForBefore) {
  Bench<TypeParam> bench({.bulk_rows_per_transaction = 1});
  bench.accept({topic_created(1, "t1", 5)});
  std::vector<std::optional<CommitResult>> results(5);
  for (int i = 0; i < 5; ++i)
    bench.ask({.records = {offset_committed("g", 1, i, i)}}, results[static_cast<std::size_t>(i)], Urgency::bulk);
  EXPECT_EQ(bench.groups().offsets.size(), 5U);
}

TYPED_TEST(StoreTest, UrgentChangesOvertakeBulkOnesThatComeInPortions) {
  Bench<TypeParam> bench({.bulk_rows_per_transaction = 10});
  bench.accept({topic_created(1, "t1", 40)});
  bench.observer.transactions.clear();
  std::vector<std::optional<CommitResult>> bulk(40);
  for (int i = 0; i < 40; ++i)
    bench.ask({.records = {offset_committed("g", 1, i, i)}}, bulk[static_cast<std::size_t>(i)], Urgency::bulk);
  std::optional<CommitResult> urgent;
  bench.ask({.records = {topic_created(2, "b")}}, urgent);
  bench.run();
  EXPECT_EQ(urgent->value(), Revision(3));
  EXPECT_EQ(bulk[0]->value(), Revision(4));
  EXPECT_EQ(bulk[39]->value(), Revision(43));
  ASSERT_EQ(bench.observer.transactions.size(), 5U);
  EXPECT_EQ(bench.observer.transactions[0].change_sets, 1U + 1U);
  EXPECT_EQ(bench.observer.transactions[3].change_sets, 10U);
  EXPECT_EQ(bench.observer.transactions[4].change_sets, 9U);
}

TYPED_TEST(StoreTest, MoreThanTheQueueHoldsIsRefusedAtOnce) {
  Bench<TypeParam> bench({.queued_rows = 10});
  std::vector<std::optional<CommitResult>> results(12);
  for (int i = 0; i < 12; ++i)
    bench.ask({.records = {records::GroupChanged{.group_id = "g"}}}, results[static_cast<std::size_t>(i)]);
  bench.run();
  for (std::size_t i = 0; i < 10; ++i) EXPECT_TRUE(results[i]->has_value());
  for (std::size_t i = 10; i < 12; ++i) {
    ASSERT_FALSE(results[i]->has_value());
    EXPECT_EQ(results[i]->error().kind, CommitFault::Kind::overloaded);
  }
  // The queue is free again, also for one that is bigger than it.
  EXPECT_TRUE(bench.commit({.records = {topic_created(1, "a", 50)}}).has_value());
}

TYPED_TEST(StoreTest, AFailedTransactionIsAFaultToAllInItAndTheNextWorks) {
  Bench<TypeParam> bench;
  bench.accept({topic_created(1, "a")});
  const std::string text = text_of(*bench.snapshot);
  std::optional<CommitResult> first;
  std::optional<CommitResult> second;
  bench.ask({.records = {topic_created(2, "b")}}, first);
  bench.ask({.records = {offset_committed("g", 1, 0, 5)}}, second, Urgency::bulk);
  bench.kit.fail_next_commit();
  bench.run();
  for (const auto* result : {&first, &second}) {
    ASSERT_FALSE((*result)->has_value());
    EXPECT_EQ((*result)->error().kind, CommitFault::Kind::storage);
    EXPECT_FALSE((*result)->error().detail.empty());
  }
  EXPECT_TRUE(bench.observer.transactions.back().failed);
  EXPECT_EQ(text_of(*bench.snapshot), text);
  EXPECT_EQ(bench.accept({topic_created(2, "b")}), Revision(3));
  EXPECT_TRUE(bench.groups().offsets.empty());
  bench.reopen();
  EXPECT_EQ(bench.snapshot->topic_count(), 2U);
}

TYPED_TEST(StoreTest, AfterAFailedSyncNothingMoreIsAcknowledged) {
  Bench<TypeParam> bench;
  bench.accept({topic_created(1, "a")});
  bench.kit.break_next_commit();
  const CommitResult result = bench.commit({.records = {topic_created(2, "b")}});
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, CommitFault::Kind::storage);
  const CommitResult later = bench.commit({.records = {topic_created(3, "c")}});
  ASSERT_FALSE(later.has_value());
  EXPECT_EQ(later.error().kind, CommitFault::Kind::storage);
  EXPECT_EQ(bench.snapshot->topic_count(), 1U);
  bench.reopen();
  EXPECT_NE(bench.snapshot->topic(std::string_view("a")), nullptr);
  EXPECT_EQ(bench.snapshot->topic(std::string_view("c")), nullptr);
  EXPECT_TRUE(bench.commit({.records = {topic_created(3, "c")}}).has_value());
}

TYPED_TEST(StoreTest, StoppingCommitsWhatWaitsAndRefusesWhatComesLater) {
  Bench<TypeParam> bench;
  std::optional<CommitResult> before;
  std::optional<CommitResult> after;
  bench.ask({.records = {topic_created(1, "a")}}, before);
  bool stopped = false;
  bench.store->stop(bench.core, [&] { stopped = true; });
  bench.ask({.records = {topic_created(2, "b")}}, after);
  bench.run();
  EXPECT_TRUE(stopped);
  EXPECT_TRUE(before->has_value());
  ASSERT_FALSE(after->has_value());
  EXPECT_EQ(after->error().kind, CommitFault::Kind::stopped);
  bench.reopen();
  EXPECT_EQ(bench.snapshot->topic_count(), 1U);
}

TYPED_TEST(StoreTest, AStoreThatIsLetGoOfAnswersWhatItWasAsked) {
  Bench<TypeParam> bench;
  std::optional<CommitResult> result;
  bench.ask({.records = {topic_created(1, "a")}}, result);
  bench.store.reset();
  bench.run();
  EXPECT_TRUE(result.has_value() && result->has_value());
}

// ---- two processes on one database ----

template <class Kit>
struct Second {
  explicit Second(Bench<Kit>& bench, WriterLimits limits = {}) : bench(bench) {
    StoreEnvironment environment{.writer = bench.writer, .clock = bench.clock, .uuids = bench.uuids, .limits = limits};
    store = std::move(bench.kit.open(environment).value());
    subscription = store->subscribe(bench.core, [this](const auto& now, const auto& news) {
      snapshot = now;
      changes.insert(changes.end(), news.begin(), news.end());
    });
    bench.run();
  }
  ~Second() {
    subscription.end();
    store->stop(bench.core, [] {});
    bench.run();
  }
  CommitResult commit(ChangeSet set) {
    std::optional<CommitResult> result;
    store->commit(std::move(set), Urgency::urgent, bench.core, [&](CommitResult r) { result = std::move(r); });
    bench.run();
    return std::move(*result);
  }
  void refresh() {
    store->refresh(bench.core, [](const CommitResult& result) { EXPECT_TRUE(result.has_value()); });
    bench.run();
  }
  Bench<Kit>& bench;
  std::unique_ptr<Store> store;
  Subscription subscription;
  std::shared_ptr<const Snapshot> snapshot;
  std::vector<AppliedChange> changes;
};

TYPED_TEST(StoreTest, WhatAnotherProcessCommitsIsFollowed) {
  Bench<TypeParam> bench;
  Second<TypeParam> other(bench);
  bench.accept({topic_created(1, "a"), records::ConfigSet{.resource = topic_resource("a"), .key = "k", .value = "v"}});
  bench.accept({offset_committed("g", 1, 0, 5)});
  bench.accept({topic_created(2, "b")});
  EXPECT_EQ(other.snapshot->topic_count(), 0U);
  other.refresh();
  EXPECT_EQ(text_of(*other.snapshot), text_of(*bench.snapshot));
  ASSERT_EQ(other.changes.size(), 2U);
  EXPECT_EQ(other.changes[0].revision, Revision(2));
  EXPECT_EQ(other.changes[1].revision, Revision(4));
  EXPECT_EQ(other.changes[0].records, bench.changes[0].records);
}

TYPED_TEST(StoreTest, APreconditionKnowsWhatAnotherProcessCommitted) {
  Bench<TypeParam> bench;
  Second<TypeParam> other(bench);
  bench.accept({topic_created(1, "a")});
  const CommitResult taken =
      other.commit({.preconditions = {TopicNameFree{.name = "a"}}, .records = {topic_created(2, "a")}});
  ASSERT_FALSE(taken.has_value());
  EXPECT_EQ(taken.error().kind, CommitFault::Kind::precondition);
  // What it learned on the way it has.
  EXPECT_EQ(text_of(*other.snapshot), text_of(*bench.snapshot));
  EXPECT_EQ(other.commit({.records = {topic_created(2, "b")}}).value(), Revision(3));
  bench.accept({topic_created(3, "c")});
  other.refresh();
  EXPECT_EQ(bench.snapshot->topic_count(), 3U);
  EXPECT_EQ(text_of(*other.snapshot), text_of(*bench.snapshot));
}

TYPED_TEST(StoreTest, AFollowerThatIsTooFarBehindReadsEverythingAgain) {
  Bench<TypeParam> bench({.changes_kept = 5});
  bench.accept({topic_created(1, "a"), topic_created(2, "b")});
  Second<TypeParam> other(bench);
  bench.accept({records::TopicDeleted{.topic_id = uuid_of(1)}});
  for (int i = 0; i < 20; ++i)
    bench.accept({records::ConfigSet{.resource = topic_resource("b"), .key = "k", .value = std::to_string(i)}});
  bench.accept({topic_created(3, "c")});
  other.refresh();
  EXPECT_EQ(text_of(*other.snapshot), text_of(*bench.snapshot));
  ASSERT_EQ(other.changes.size(), 1U);
  EXPECT_EQ(other.changes[0].revision, bench.snapshot->revision());
  EXPECT_THAT(other.changes[0].records,
              ElementsAre(records::TopicDeleted{.topic_id = uuid_of(1)}, topic_created(3, "c"),
                          records::ConfigSet{.resource = topic_resource("b"), .key = "k", .value = "19"}));
}

// ---- many threads ----

// Cores commit in closed loops, urgent and bulk; every core hears of every revision in order, has what its own commits
// were answered with, and all end with the same state.
TYPED_TEST(StoreTest, CoresCommitAndFollowSideBySide) {
  constexpr int kCores = 4;
  constexpr int kCommits = 60;
  TypeParam kit;
  const base::SystemClock clock;
  SeededUuids uuids{3};
  ThreadExecutor writer;
  struct Core {
    std::unique_ptr<Store>& store;
    std::latch& finished;
    int number;
    Subscription subscription{};
    std::shared_ptr<const Snapshot> snapshot{};
    std::int64_t newest = 0;
    int topics_told = 0;
    int in_order = 0;
    int visible = 0;
    int left = kCommits;
    ThreadExecutor executor{};

    void start() {
      executor.post([this] {
        subscription = store->subscribe(executor, [this](const auto& now, const auto& changes) {
          snapshot = now;
          for (const AppliedChange& change : changes) {
            in_order += change.revision.value() > newest ? 1 : 0;
            newest = change.revision.value();
            topics_told += static_cast<int>(change.records.size());
          }
        });
        commit();
      });
    }
    void commit() {
      const int id = number * 1000 + left;
      const bool offset = left % 3 == 0;
      ChangeSet set;
      if (offset)
        set.records.emplace_back(records::GroupChanged{.group_id = "g" + std::to_string(id)});
      else
        set.records.emplace_back(topic_created(id, "t" + std::to_string(id)));
      store->commit(std::move(set), offset ? Urgency::bulk : Urgency::urgent, executor,
                    [this, id, offset](const CommitResult& result) {
                      if (result.has_value() && (offset || snapshot->topic(uuid_of(id)) != nullptr)) ++visible;
                      if (--left > 0)
                        commit();
                      else
                        finished.count_down();
                    });
    }
  };
  auto opened = kit.open({.writer = writer, .clock = clock, .uuids = uuids});
  ASSERT_TRUE(opened.has_value()) << opened.error().message;
  std::unique_ptr<Store> store = std::move(*opened);
  std::latch finished(kCores);
  std::vector<std::unique_ptr<Core>> cores;
  for (int i = 0; i < kCores; ++i) cores.emplace_back(new Core{.store = store, .finished = finished, .number = i});
  for (auto& core : cores) core->start();
  finished.wait();

  std::latch ended(kCores);
  for (auto& core : cores) {
    core->executor.post([&core, &store, &ended] {
      // A last change set tells the core of everything before it.
      store->refresh(core->executor, [&core, &ended](const CommitResult&) {
        core->subscription.end();
        ended.count_down();
      });
    });
  }
  ended.wait();
  std::latch stopped(1);
  store->stop(cores[0]->executor, [&stopped] { stopped.count_down(); });
  stopped.wait();
  constexpr int kTopics = kCores * (kCommits - kCommits / 3);
  for (const auto& core : cores) {
    EXPECT_EQ(core->visible, kCommits);
    EXPECT_EQ(core->snapshot->topic_count(), static_cast<std::size_t>(kTopics));
    EXPECT_EQ(core->in_order, core->topics_told) << "each change has one record here";
    EXPECT_LE(core->topics_told, kTopics);
    EXPECT_EQ(text_of(*core->snapshot), text_of(*cores[0]->snapshot));
  }
  store.reset();
}

}  // namespace
}  // namespace thalweg::metadata
