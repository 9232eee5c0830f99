#include "metadata/snapshot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "metadata/store_test_util.h"

namespace thalweg::metadata {
namespace {

using protocol::BrokerId;
using records::Record;

// Applies records as one revision each; every one must fit.
void apply(Snapshot& snapshot, const std::vector<Record>& records) {
  for (const Record& record : records) {
    const auto applied = snapshot.apply(next(snapshot.revision()), record);
    ASSERT_TRUE(applied.has_value()) << applied.error().what;
  }
}
bool refuses(const Snapshot& snapshot, const Record& record) {
  Snapshot copy = snapshot;
  return !copy.apply(next(copy.revision()), record).has_value();
}
records::NodeRegistered node(int id) { return {.node_id = BrokerId(id), .incarnation = uuid_of(id)}; }
std::int32_t epoch(const Snapshot& snapshot, const char* topic, std::int32_t partition) {
  return snapshot.leader_epoch(*snapshot.topic(std::string_view(topic))->partition(partition));
}

TEST(Snapshot, FindsATopicByNameAndById) {
  Snapshot snapshot;
  apply(snapshot, {topic_created(1, "a", 3), topic_created(2, "b")});
  const Topic* const topic = snapshot.topic(std::string_view("a"));
  ASSERT_NE(topic, nullptr);
  EXPECT_EQ(topic, snapshot.topic(uuid_of(1)));
  EXPECT_EQ(topic->version, Revision(1));
  EXPECT_EQ(topic->partitions.size(), 3);
  EXPECT_EQ(topic->partition(3), nullptr);
  EXPECT_EQ(topic->partition(-1), nullptr);
  EXPECT_EQ(snapshot.topic_count(), 2U);
  EXPECT_EQ(snapshot.partition_count(), 4);
  EXPECT_EQ(snapshot.topics().lower_bound(std::string_view("aa"))->second->name, "b");
}

TEST(Snapshot, AnUncleanStartRaisesTheEpochsOfWhatTheNodeLeads) {
  Snapshot snapshot;
  apply(snapshot,
        {node(1), node(2), topic_created(1, "a", 2),
         records::PartitionChanged{.topic_id = uuid_of(1), .partition = 1, .leader = BrokerId(2), .leader_epoch = 5}});
  apply(snapshot, {records::NodeStarted{.node_id = BrokerId(1), .started_ms = 1, .unclean = true}});
  EXPECT_EQ(epoch(snapshot, "a", 0), 1);
  EXPECT_EQ(epoch(snapshot, "a", 1), 5);
  apply(snapshot, {records::NodeStarted{.node_id = BrokerId(1), .started_ms = 2, .unclean = false}});
  EXPECT_EQ(epoch(snapshot, "a", 0), 1);
}

TEST(Snapshot, PartitionsOfANodeThatHadUncleanStartsBeginAtEpochZero) {
  Snapshot snapshot;
  apply(snapshot, {node(1), records::NodeStarted{.node_id = BrokerId(1), .unclean = true},
                   records::NodeStarted{.node_id = BrokerId(1), .unclean = true}, topic_created(1, "a")});
  EXPECT_EQ(epoch(snapshot, "a", 0), 0);
  apply(snapshot, {records::PartitionChanged{.topic_id = uuid_of(1), .leader = BrokerId(1), .leader_epoch = 4}, node(1),
                   records::NodeStarted{.node_id = BrokerId(1), .unclean = true}});
  EXPECT_EQ(epoch(snapshot, "a", 0), 5);
  EXPECT_EQ(snapshot.node(BrokerId(1))->unclean_starts, 3);
}

TEST(Snapshot, ConfigsHaveVersionsAndGoWithTheirTopic) {
  Snapshot snapshot;
  apply(snapshot, {topic_created(1, "a"),
                   records::ConfigSet{.resource = topic_resource("a"), .key = "retention.ms", .value = "1"},
                   records::ConfigSet{.resource = records::broker_default(), .key = "k", .value = "v"}});
  EXPECT_EQ(snapshot.config(topic_resource("a"), "retention.ms")->version, Revision(2));
  EXPECT_EQ(snapshot.config(topic_resource("a"), "other"), nullptr);
  EXPECT_EQ(snapshot.configs(records::broker_default()).size(), 1U);
  apply(snapshot, {records::ConfigRemoved{.resource = records::broker_default(), .key = "k"},
                   records::ConfigRemoved{.resource = records::broker_default(), .key = "never set"}});
  EXPECT_TRUE(snapshot.configs(records::broker_default()).empty());
  apply(snapshot, {records::TopicDeleted{.topic_id = uuid_of(1)}, topic_created(2, "a")});
  EXPECT_TRUE(snapshot.configs(topic_resource("a")).empty());
}

TEST(Snapshot, RefusesWhatContradictsIt) {
  Snapshot snapshot;
  apply(snapshot, {records::ClusterCreated{.cluster_id = "c"}, topic_created(1, "a"),
                   records::ProducerIdBlockAllocated{.node_id = BrokerId(1), .next_producer_id = 1000},
                   records::LeaseChanged{.name = "l", .owner = BrokerId(1), .epoch = 3},
                   records::PartitionChanged{.topic_id = uuid_of(1), .leader = BrokerId(1), .leader_epoch = 2}});
  EXPECT_TRUE(refuses(snapshot, records::ClusterCreated{.cluster_id = "d"}));
  EXPECT_TRUE(refuses(snapshot, topic_created(2, "a")));
  EXPECT_TRUE(refuses(snapshot, topic_created(1, "b")));
  EXPECT_TRUE(refuses(snapshot, topic_created(3, "")));
  EXPECT_TRUE(refuses(snapshot, records::TopicCreated{.name = "no id"}));
  EXPECT_TRUE(refuses(snapshot, records::TopicDeleted{.topic_id = uuid_of(7)}));
  EXPECT_TRUE(refuses(snapshot, records::PartitionsAdded{.topic_id = uuid_of(7)}));
  EXPECT_TRUE(refuses(snapshot, records::PartitionChanged{.topic_id = uuid_of(1), .partition = 1}));
  EXPECT_TRUE(
      refuses(snapshot, records::PartitionChanged{.topic_id = uuid_of(1), .leader = BrokerId(1), .leader_epoch = 1}));
  EXPECT_TRUE(refuses(snapshot, records::ConfigSet{.resource = topic_resource("none"), .key = "k", .value = "v"}));
  EXPECT_TRUE(refuses(snapshot, records::ProducerIdBlockAllocated{.next_producer_id = 999}));
  EXPECT_TRUE(refuses(snapshot, records::LeaseChanged{.name = "l", .owner = BrokerId(2), .epoch = 3}));
  EXPECT_TRUE(refuses(snapshot, records::LeaseChanged{.name = "l", .owner = BrokerId(1), .epoch = 2}));
  EXPECT_TRUE(refuses(snapshot, records::NodeStarted{.node_id = BrokerId(9)}));
  EXPECT_TRUE(refuses(snapshot, records::NodeRegistered{.node_id = BrokerId(-1)}));
  // Prolonged, given back, taken by another.
  apply(snapshot, {records::LeaseChanged{.name = "l", .owner = BrokerId(1), .epoch = 3, .expires_ms = 9},
                   records::LeaseChanged{.name = "l", .owner = protocol::kNoBroker, .epoch = 3},
                   records::LeaseChanged{.name = "l", .owner = BrokerId(2), .epoch = 4}});
}

TEST(Snapshot, AnOlderOneStaysAsItWas) {
  Snapshot snapshot;
  apply(snapshot, {node(1), topic_created(1, "a", 130), topic_created(2, "b")});
  const Snapshot before = snapshot;
  const std::string text = text_of(before);
  apply(snapshot,
        {records::PartitionsAdded{.topic_id = uuid_of(1), .partitions = {3, {.leader = BrokerId(1)}}},
         records::PartitionChanged{.topic_id = uuid_of(1), .partition = 64, .leader = BrokerId(1), .leader_epoch = 7},
         records::NodeStarted{.node_id = BrokerId(1), .unclean = true}, records::TopicDeleted{.topic_id = uuid_of(2)}});
  EXPECT_EQ(text_of(before), text);
  EXPECT_EQ(snapshot.topic(uuid_of(1))->partitions.size(), 133);
  EXPECT_EQ(epoch(snapshot, "a", 64), 8);
  EXPECT_EQ(epoch(snapshot, "a", 132), 1);
}

TEST(Snapshot, ATokenThatIsGoneIsNotRenewed) {
  Snapshot snapshot;
  apply(snapshot, {records::DelegationTokenCreated{.token = {.token_id = "t", .owner = "User:a", .expires_ms = 1}},
                   records::DelegationTokenRenewed{.token_id = "t", .expires_ms = 5}});
  EXPECT_EQ(*snapshot.delegation_token("t"),
            (records::DelegationToken{.token_id = "t", .owner = "User:a", .expires_ms = 5}));
  apply(snapshot, {records::DelegationTokenRemoved{.token_id = "t"},
                   records::DelegationTokenRenewed{.token_id = "t", .expires_ms = 9}});
  EXPECT_EQ(snapshot.delegation_token("t"), nullptr);
  EXPECT_TRUE(refuses(snapshot, records::DelegationTokenCreated{}));
}

TEST(Snapshot, TheDifferenceTellsEverythingThatIsNotTheSame) {
  Snapshot before;
  apply(before, {node(1), topic_created(1, "kept", 2), topic_created(2, "made anew"), topic_created(3, "gone"),
                 records::ConfigSet{.resource = topic_resource("kept"), .key = "a", .value = "1"},
                 records::ConfigSet{.resource = topic_resource("kept"), .key = "b", .value = "1"},
                 records::ConfigSet{.resource = topic_resource("made anew"), .key = "a", .value = "1"}});
  records::Acl acl{.resource_type = records::AclResourceType::topic,
                   .resource_name = "a",
                   .principal = "User:a",
                   .host = "*",
                   .operation = records::AclOperation::read,
                   .permission = records::AclPermission::allow};
  records::Acl other = acl;
  other.permission = records::AclPermission::deny;
  apply(before, {records::AclAdded{.acl = acl},
                 records::ScramCredentialSet{.key = {.user = "a", .mechanism = records::ScramMechanism::sha_256}},
                 records::ScramCredentialSet{.key = {.user = "a", .mechanism = records::ScramMechanism::sha_512}},
                 records::ScramCredentialSet{.key = {.user = "b", .mechanism = records::ScramMechanism::sha_256}},
                 records::DelegationTokenCreated{.token = {.token_id = "gone"}},
                 records::DelegationTokenCreated{.token = {.token_id = "kept"}},
                 records::DelegationTokenCreated{.token = {.token_id = "renewed", .expires_ms = 1}}});
  Snapshot after = before;
  EXPECT_TRUE(difference(before, after).empty());
  const std::vector<Record> changes = {
      records::ClusterCreated{.cluster_id = "c"},
      node(2),
      records::TopicDeleted{.topic_id = uuid_of(3)},
      records::TopicDeleted{.topic_id = uuid_of(2)},
      records::PartitionsAdded{.topic_id = uuid_of(1), .partitions = {{.leader = BrokerId(2)}}},
      topic_created(4, "made anew"),
      records::ConfigRemoved{.resource = topic_resource("kept"), .key = "a"},
      records::ConfigSet{.resource = topic_resource("kept"), .key = "b", .value = "2"},
      records::ConfigSet{.resource = topic_resource("made anew"), .key = "a", .value = "1"},
      records::ProducerIdBlockAllocated{.node_id = protocol::kNoBroker, .next_producer_id = 1000},
      records::LeaseChanged{.name = "l", .owner = BrokerId(1), .epoch = 3},
      records::AclRemoved{.acl = acl},
      records::AclAdded{.acl = other},
      records::ScramCredentialRemoved{.key = {.user = "a", .mechanism = records::ScramMechanism::sha_256}},
      records::ScramCredentialSet{.key = {.user = "b", .mechanism = records::ScramMechanism::sha_256},
                                  .credential = {.iterations = 5000}},
      records::DelegationTokenRemoved{.token_id = "gone"},
      records::DelegationTokenCreated{.token = {.token_id = "renewed", .expires_ms = 9}},
  };
  apply(after, changes);
  EXPECT_THAT(difference(before, after), testing::UnorderedElementsAreArray(changes));

  Snapshot later = after;
  const std::vector<Record> starts = {records::NodeStarted{.node_id = BrokerId(2), .started_ms = 7, .unclean = true}};
  apply(later, starts);
  EXPECT_EQ(difference(after, later), starts);
}

}  // namespace
}  // namespace thalweg::metadata
