#include "records/codec.h"

#include <gtest/gtest.h>

#include <set>

#include "base/text.h"

namespace thalweg::records {
namespace {

using protocol::BrokerId;

base::Uuid uuid(std::uint8_t fill) {
  base::Uuid id;
  id.bytes.fill(fill);
  return id;
}

// One of each kind, with no field at its default.
std::vector<Record> one_of_each() {
  const PartitionPlacement here{.leader = BrokerId(1), .directory = uuid(7)};
  const PartitionPlacement there{.leader = BrokerId(2), .directory = uuid(8)};
  return {
      ClusterCreated{.cluster_id = "AAAAAAAAAAAAAAAAAAAAAA"},
      NodeRegistered{.node_id = BrokerId(1),
                     .incarnation = uuid(1),
                     .directories = {uuid(7), uuid(8)},
                     .endpoints = {{.listener = "PLAINTEXT", .host = "h", .port = 65'535, .security_protocol = 3}},
                     .rack = "r1"},
      NodeStarted{.node_id = BrokerId(1), .started_ms = 1'700'000'000'000, .unclean = true},
      TopicCreated{.name = "orders",
                   .topic_id = uuid(3),
                   .created_ms = 1'700'000'000'001,
                   .replication_factor = 3,
                   .partitions = {here, there, here}},
      PartitionsAdded{.topic_id = uuid(3), .partitions = {there}},
      TopicDeleted{.topic_id = uuid(3)},
      PartitionChanged{
          .topic_id = uuid(3), .partition = 2, .leader = BrokerId(5), .leader_epoch = 9, .directory = uuid(8)},
      ConfigSet{.resource = {.type = ResourceType::group, .name = "g"}, .key = "k", .value = "v"},
      ConfigRemoved{.resource = {.type = ResourceType::client_metrics, .name = "m"}, .key = "k"},
      ProducerIdBlockAllocated{.node_id = BrokerId(1), .next_producer_id = 1000},
      LeaseChanged{.name = "c-3", .owner = BrokerId(4), .epoch = 6, .expires_ms = 77},
      OffsetCommitted{.group_id = "g",
                      .topic_id = uuid(3),
                      .topic = "orders",
                      .partition = 1,
                      .offset = 1LL << 60,
                      .leader_epoch = 4,
                      .metadata = "m",
                      .commit_ms = 5,
                      .expire_ms = 6},
      OffsetDeleted{.group_id = "g", .topic_id = uuid(3), .partition = 1},
      GroupChanged{.group_id = "g",
                   .kind = GroupKind::share,
                   .state_version = 2,
                   .state = base::Bytes::copy_of(std::string_view("\0state", 6))},
      GroupDeleted{.group_id = "g"},
      AclAdded{.acl = {.resource_type = AclResourceType::user,
                       .resource_name = "alice",
                       .pattern_type = AclPatternType::prefixed,
                       .principal = "User:bob",
                       .host = "10.0.0.0/8",
                       .operation = AclOperation::two_phase_commit,
                       .permission = AclPermission::deny}},
      AclRemoved{.acl = {.resource_type = AclResourceType::topic,
                         .resource_name = "t",
                         .pattern_type = AclPatternType::literal,
                         .principal = "User:*",
                         .host = "*",
                         .operation = AclOperation::all,
                         .permission = AclPermission::allow}},
      ScramCredentialSet{.key = {.user = "alice", .mechanism = ScramMechanism::sha_512},
                         .credential = {.iterations = 8192,
                                        .salt = base::Bytes::copy_of(std::string_view("\0salt", 5)),
                                        .stored_key = base::Bytes::copy_of("stored"),
                                        .server_key = base::Bytes::copy_of("server")}},
      ScramCredentialRemoved{.key = {.user = "bob", .mechanism = ScramMechanism::sha_256}},
      DelegationTokenCreated{.token = {.token_id = "id",
                                       .owner = "User:alice",
                                       .requester = "User:bob",
                                       .renewers = {"User:carol", "User:dave"},
                                       .issued_ms = 1,
                                       .expires_ms = 2,
                                       .max_ms = 3,
                                       .key_check = 0xffff'ffff}},
      DelegationTokenRenewed{.token_id = "id", .expires_ms = 4},
      DelegationTokenRemoved{.token_id = "id"},
  };
}

TEST(RecordCodec, TheSampleHasEveryKind) {
  std::set<std::size_t> kinds;
  for (const Record& record : one_of_each()) kinds.insert(record.index());
  EXPECT_EQ(kinds.size(), std::variant_size_v<Record>);
}

TEST(RecordCodec, EveryKindSurvivesARoundTrip) {
  for (const Record& record : one_of_each()) {
    std::vector<std::uint8_t> wire;
    encode(record, wire);
    std::span<const std::uint8_t> in(wire);
    const auto decoded = decode(in);
    ASSERT_TRUE(decoded.has_value()) << record.index() << ": " << decoded.error().what;
    EXPECT_EQ(*decoded, record) << record.index();
    EXPECT_TRUE(in.empty());
  }
}

TEST(RecordCodec, ARunOfRecordsSurvivesARoundTrip) {
  const std::vector<Record> records = one_of_each();
  const auto decoded = decode_all(encode_all(records));
  ASSERT_TRUE(decoded.has_value());
  EXPECT_EQ(*decoded, records);
}

TEST(RecordCodec, EveryTruncationIsRejected) {
  for (const Record& record : one_of_each()) {
    std::vector<std::uint8_t> wire;
    encode(record, wire);
    for (std::size_t n = 0; n < wire.size(); ++n) {
      std::span<const std::uint8_t> in(wire.data(), n);
      EXPECT_FALSE(decode(in).has_value()) << "record " << record.index() << ", prefix of " << n;
    }
  }
}

// tag 13, version 0, 19 bytes | group "g", topic id, partition 1
TEST(RecordCodec, TheFormIsTheOneThatIsStored) {
  std::vector<std::uint8_t> wire;
  encode(OffsetDeleted{.group_id = "g", .topic_id = uuid(3), .partition = 1}, wire);
  EXPECT_EQ(base::hex_encode(wire),
            "0d0013"
            "0167"
            "03030303030303030303030303030303"
            "02");
}

TEST(RecordCodec, FiveThousandPartitionsInTwoPlacesTakeAByteEach) {
  TopicCreated topic{.name = "t"};
  for (int i = 0; i < 5000; ++i)
    topic.partitions.push_back({.leader = BrokerId(1), .directory = uuid(static_cast<std::uint8_t>(i % 2))});
  std::vector<std::uint8_t> wire;
  encode(topic, wire);
  EXPECT_LT(wire.size(), 5100U);
  std::span<const std::uint8_t> in(wire);
  EXPECT_EQ(decode(in), Record(topic));
}

TEST(RecordCodec, FieldsOfALaterReleaseArePassedOver) {
  const auto wire = base::hex_decode(
      "0f0003"
      "0167"
      "aa");
  std::span<const std::uint8_t> in(*wire);
  EXPECT_EQ(decode(in), Record(GroupDeleted{.group_id = "g"}));
}

TEST(RecordCodec, AFieldThatTheBodyEndsBeforeKeepsItsDefault) {
  const auto wire = base::hex_decode(
      "0b0004"
      "0163"
      "08"
      "0c");  // no expires_ms
  std::span<const std::uint8_t> in(*wire);
  EXPECT_EQ(decode(in), Record(LeaseChanged{.name = "c", .owner = BrokerId(4), .epoch = 6, .expires_ms = -1}));
}

TEST(RecordCodec, WhatThisReleaseDoesNotKnowIsRefused) {
  for (const char* hex : {"63000101",    // tag 99
                          "0f01020167",  // GroupDeleted in version 1
                          "080004"
                          "06000000",  // a config of resource type 3
                          "03000402"
                          "02"
                          "02",  // size beyond the end
                          "0300030202"
                          "02"}) {  // a bool of 2
    const auto wire = base::hex_decode(hex);
    std::span<const std::uint8_t> in(*wire);
    EXPECT_FALSE(decode(in).has_value()) << hex;
  }
}

TEST(RecordCodec, ACountBeyondTheBytesLeftReservesNothing) {
  // PartitionsAdded with one placement and 2^40 partitions.
  const auto wire = base::hex_decode(
      "050028"
      "03030303030303030303030303030303"
      "01"
      "02"
      "07070707070707070707070707070707"
      "808080808020");
  std::span<const std::uint8_t> in(*wire);
  EXPECT_FALSE(decode(in).has_value());
}

TEST(RecordCodec, AFaultSaysWhereInTheRunItIs) {
  std::vector<std::uint8_t> wire = encode_all(std::vector<Record>{GroupDeleted{.group_id = "g"}});
  const std::size_t first = wire.size();
  wire.insert(wire.end(), {0x63, 0, 0});
  const auto decoded = decode_all(wire);
  ASSERT_FALSE(decoded.has_value());
  EXPECT_EQ(decoded.error().position, first + 3);
}

}  // namespace
}  // namespace thalweg::records
