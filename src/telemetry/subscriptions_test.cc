#include "telemetry/subscriptions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace thalweg::telemetry {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ClientFacts some_client() {
  ClientFacts client;
  client.instance_id = *base::Uuid::parse("AAECAwQFBgcICQoLDA0ODw");
  client.client_id = "billing-7";
  client.software_name = "apache-kafka-java";
  client.software_version = "4.4.0";
  client.source_address = "10.0.0.1";
  client.source_port = "51234";
  return client;
}

Subscription subscription(std::vector<std::string> metrics, std::int32_t interval_ms,
                          std::vector<std::string> match = {}) {
  return {.name = "s", .metrics = std::move(metrics), .interval_ms = interval_ms, .match = std::move(match)};
}

bool matches(std::vector<std::string> match) {
  const Subscriptions subscriptions({subscription({"a"}, 1000, std::move(match))});
  return !subscriptions.wanted_by(some_client()).metrics.empty();
}

TEST(Subscriptions, EverySelectorLooksAtItsAttribute) {
  EXPECT_TRUE(matches({"client_instance_id=AAECAwQFBgcICQoLDA0ODw"}));
  EXPECT_TRUE(matches({"client_id=billing-[0-9]"}));
  EXPECT_TRUE(matches({"client_software_name=apache-kafka-.*"}));
  EXPECT_TRUE(matches({"client_software_version=4\\.4\\..*"}));
  EXPECT_TRUE(matches({"client_source_address=10\\..*"}));
  EXPECT_TRUE(matches({"client_source_port=51234"}));
  for (const char* const attribute : {"client_instance_id", "client_id", "client_software_name",
                                      "client_software_version", "client_source_address", "client_source_port"})
    EXPECT_FALSE(matches({std::string(attribute) + "=nobody"})) << attribute;
}

TEST(Subscriptions, APatternMustMatchAllOfTheText) {
  EXPECT_FALSE(matches({"client_id=billing"}));
  EXPECT_FALSE(matches({"client_id=illing.*"}));
  EXPECT_TRUE(matches({" client_id = billing.* "}));
}

TEST(Subscriptions, AllSelectorsMustHoldAndTheLastOfTheSameAttributeCounts) {
  EXPECT_FALSE(matches({"client_id=billing.*", "client_source_port=1"}));
  EXPECT_TRUE(matches({"client_id=nobody", "client_id=billing.*"}));
}

TEST(Subscriptions, AClientIdThatWasNotSentIsAnEmptyOne) {
  ClientFacts silent = some_client();
  silent.client_id.clear();
  EXPECT_THAT(Subscriptions({subscription({"a"}, 1000, {"client_id=.*"})}).wanted_by(silent).metrics, ElementsAre("a"));
  EXPECT_THAT(Subscriptions({subscription({"a"}, 1000, {"client_id=.+"})}).wanted_by(silent).metrics, IsEmpty());
}

TEST(Subscriptions, ASelectorThatDoesNotExistMatchesNobody) { EXPECT_FALSE(matches({"client_shoe_size=.*"})); }

TEST(Subscriptions, TheMetricsOfAllThatMatchAreWantedAtTheShortestInterval) {
  const Subscriptions subscriptions(
      {subscription({"b", "a"}, 5000), subscription({"c", "a"}, 2000), subscription({"z"}, 100, {"client_id=nobody"})});
  const Wanted wanted = subscriptions.wanted_by(some_client());
  EXPECT_THAT(wanted.metrics, ElementsAre("a", "b", "c"));
  EXPECT_EQ(wanted.interval_ms, 2000);
}

TEST(Subscriptions, OneThatWantsAllMakesItAll) {
  const Subscriptions subscriptions({subscription({"a"}, 5000), subscription({"*", "b"}, 9000)});
  EXPECT_THAT(subscriptions.wanted_by(some_client()).metrics, ElementsAre("*"));
}

TEST(Subscriptions, NoneMeansNoMetricsEveryFiveMinutes) {
  EXPECT_EQ(Subscriptions().wanted_by(some_client()), (Wanted{.metrics = {}, .interval_ms = 300'000}));
  // Kafka's default is also the longest interval that a client is given.
  EXPECT_EQ(Subscriptions({subscription({"a"}, 3'600'000)}).wanted_by(some_client()).interval_ms, 300'000);
}

TEST(Subscriptions, TheDefaultIsForThoseWhomNobodyElseMeans) {
  const Subscriptions subscriptions({subscription({"a"}, 5000, {"client_id=other"})}, subscription({"d"}, 60'000));
  EXPECT_EQ(subscriptions.wanted_by(some_client()), (Wanted{.metrics = {"d"}, .interval_ms = 60'000}));
  ClientFacts other = some_client();
  other.client_id = "other";
  EXPECT_EQ(subscriptions.wanted_by(other), (Wanted{.metrics = {"a"}, .interval_ms = 5000}));
}

TEST(Subscriptions, APatternThatCannotBeReadMatchesNobody) { EXPECT_FALSE(matches({"client_id=("})); }

TEST(SubscriptionId, IsKafkasCrcOfWhatIsAskedAndOfWhom) {
  const base::Uuid id = some_client().instance_id;
  // crc32c("[]300000"), and of "[*]1000" and "[a, b]1000", exclusive or the four words of the id (0x00010203 and so
  // on).
  const std::uint32_t words = 0x00010203U ^ 0x04050607U ^ 0x08090a0bU ^ 0x0c0d0e0fU;
  const auto expected = [&](std::uint32_t crc) { return static_cast<std::int32_t>(crc ^ words); };
  EXPECT_EQ(subscription_id({.metrics = {}, .interval_ms = 300'000}, id), expected(0xd4c75bde));
  EXPECT_EQ(subscription_id({.metrics = {"*"}, .interval_ms = 1000}, id), expected(0x328bb2b9));
  EXPECT_EQ(subscription_id({.metrics = {"a", "b"}, .interval_ms = 1000}, id), expected(0x264ec4ea));
}

TEST(SubscriptionId, DiffersForEachClientAndEachRequest) {
  const Wanted wanted{.metrics = {"a"}, .interval_ms = 1000};
  ClientFacts other = some_client();
  other.instance_id.bytes[3] ^= 1;
  EXPECT_NE(subscription_id(wanted, some_client().instance_id), subscription_id(wanted, other.instance_id));
  EXPECT_NE(subscription_id(wanted, other.instance_id),
            subscription_id({.metrics = {"a"}, .interval_ms = 1001}, other.instance_id));
}

TEST(ReservedIds, AreZeroAndOne) {
  base::Uuid id;
  EXPECT_TRUE(is_reserved(id));
  id.bytes[15] = 1;
  EXPECT_TRUE(is_reserved(id));
  id.bytes[15] = 2;
  EXPECT_FALSE(is_reserved(id));
}

}  // namespace
}  // namespace thalweg::telemetry
