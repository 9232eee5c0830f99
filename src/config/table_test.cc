#include "config/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "config/test_data.h"
#include "config/value.h"

namespace thalweg::config {
namespace {

const std::vector<const Table*> kTables = {&broker_table(), &topic_table(), &group_table(), &client_metrics_table()};

const Table& table_of(std::string_view kind) {
  if (kind == "BROKER") return broker_table();
  if (kind == "TOPIC") return topic_table();
  if (kind == "GROUP") return group_table();
  return client_metrics_table();
}

// Defaults that differ from Kafka's, with the reason.
const std::map<std::string_view, std::string_view> kOtherDefaults = {
    {"listeners", "loopback unless told otherwise"},
    {"log.dir", "the current directory, not one that a reboot empties"},
    {"node.id", "Kafka has none"},
    {"broker.id", "the same setting as node.id"},
};

// Keys that Kafka's definitions do not have.
const std::set<std::string_view> kOwnKeys = {
    "thalweg.console.listeners", "thalweg.allow.insecure.listeners", "thalweg.cores", "thalweg.max.bytes.in.flight",
    "thalweg.offsets.mirror.enable", "thalweg.log.read.verify", "thalweg.log.scrub.bytes.per.second",
    "thalweg.log.dirs.reserved.bytes", "log.flush.acks", "thalweg.telemetry.default.metrics",
    "thalweg.telemetry.interval.ms", "thalweg.telemetry.max.series", "thalweg.telemetry.otlp.endpoint",
    "thalweg.telemetry.topic.enable",
    // Kafka reads these in its authorizer and its quota managers, outside the definitions.
    "super.users", "allow.everyone.if.no.acl.found", "leader.replication.throttled.rate",
    "follower.replication.throttled.rate", "replica.alter.log.dirs.io.max.bytes.per.second"};

std::string mode_of(DynamicMode mode) {
  switch (mode) {
    case DynamicMode::read_only:
      return "read_only";
    case DynamicMode::cluster_wide:
      return "cluster_wide";
    case DynamicMode::per_broker:
      return "per_broker";
    case DynamicMode::per_listener:
      return "per_listener";
    case DynamicMode::per_resource:
      return "per_resource";
  }
  return "";
}

TEST(Table, HasEveryKeyOfKafkaWithItsTypeDefaultImportanceAndMode) {
  std::map<std::string, int> listed;
  std::map<std::string, int> in_kafka;
  for (const auto& fact : test_data("kafka-4.4-keys.txt")) {
    ASSERT_EQ(fact.size(), 8u);
    const std::string& name = fact[1];
    ++in_kafka[fact[0]];
    if (fact[6] == "listed") ++listed[fact[0]];
    const ConfigKey* key = table_of(fact[0]).find(name);
    ASSERT_NE(key, nullptr) << fact[0] << " " << name;
    EXPECT_EQ(type_name(key->type), fact[2]) << name;
    if (!kOtherDefaults.contains(name)) EXPECT_EQ(key->default_value.value_or("null"), fact[3]) << name;
    EXPECT_EQ(importance_name(key->importance), fact[4]) << name;
    EXPECT_EQ(mode_of(key->dynamic), fact[5]) << name;
    EXPECT_EQ(key->hidden, fact[6] == "hidden") << name;
    EXPECT_EQ(key->broker_synonym.empty() ? "-" : key->broker_synonym, fact[7]) << name;
  }
  // What DescribeConfigs of a plain Kafka 4.4 node lists.
  EXPECT_EQ(listed["BROKER"], 350);
  EXPECT_EQ(listed["TOPIC"], 37);
  EXPECT_EQ(listed["GROUP"], 21);
  EXPECT_EQ(listed["CLIENT_METRICS"], 3);
  EXPECT_EQ(broker_table().keys().size(), in_kafka["BROKER"] + kOwnKeys.size());
  EXPECT_EQ(topic_table().keys().size(), static_cast<std::size_t>(in_kafka["TOPIC"]));
  EXPECT_EQ(group_table().keys().size(), static_cast<std::size_t>(in_kafka["GROUP"]));
  EXPECT_EQ(client_metrics_table().keys().size(), static_cast<std::size_t>(in_kafka["CLIENT_METRICS"]));
}

TEST(Table, HasTheKeysThatAreOurOwn) {
  for (const std::string_view name : kOwnKeys) EXPECT_NE(broker_table().find(name), nullptr) << name;
}

TEST(Table, NamesAreUniqueAndOrdered) {
  for (const Table* table : kTables)
    for (std::size_t i = 1; i < table->keys().size(); ++i)
      EXPECT_LT(table->keys()[i - 1]->name, table->keys()[i]->name);
}

TEST(Table, EveryDefaultIsAllowedAndInItsOwnForm) {
  for (const Table* table : kTables)
    for (const ConfigKey* key : table->keys())
      if (key->default_value) EXPECT_EQ(validate_value(*key, *key->default_value), *key->default_value) << key->name;
}

TEST(Table, EveryKeyIsDocumentedInSentences) {
  for (const Table* table : kTables)
    for (const ConfigKey* key : table->keys()) {
      EXPECT_GE(key->doc.size(), 15u) << key->name;
      EXPECT_TRUE(key->doc.ends_with('.')) << key->name;
    }
}

TEST(Table, EveryRefusalHasAReason) {
  for (const Table* table : kTables)
    for (const ConfigKey* key : table->keys())
      if (key->cls == KeyClass::refused) EXPECT_FALSE(key->reason.empty()) << key->name;
}

TEST(Table, BrokerSynonymsAreBrokerKeys) {
  for (const Table* table : kTables)
    for (const ConfigKey* key : table->keys())
      if (!key->broker_synonym.empty()) EXPECT_NE(broker_table().find(key->broker_synonym), nullptr) << key->name;
}

TEST(Table, NearestNamesATypingErrorAndNothingFarAway) {
  EXPECT_EQ(broker_table().nearest("log.segment.byte"), "log.segment.bytes");
  EXPECT_EQ(broker_table().nearest("log.dirss"), "log.dirs");
  EXPECT_EQ(broker_table().nearest("num.partition"), "num.partitions");
  EXPECT_EQ(broker_table().nearest("auto.create.topic.enable"), "auto.create.topics.enable");
  EXPECT_EQ(topic_table().nearest("retentionms"), "retention.ms");
  EXPECT_EQ(broker_table().nearest("zookeeper.connect"), "");
  EXPECT_EQ(broker_table().nearest(""), "");
}

TEST(Table, ListenerPrefixesLeadToTheKeyTheyOverride) {
  const auto key_of = [](std::string_view name) {
    const ConfigKey* key = find_broker_key(name);
    return key == nullptr ? std::string_view("none") : key->name;
  };
  EXPECT_EQ(key_of("ssl.client.auth"), "ssl.client.auth");
  EXPECT_EQ(key_of("listener.name.internal.ssl.client.auth"), "ssl.client.auth");
  EXPECT_EQ(key_of("listener.name.internal.plain.sasl.jaas.config"), "sasl.jaas.config");
  EXPECT_EQ(key_of("listener.name.internal.scram-sha-256.sasl.jaas.config"), "sasl.jaas.config");
  EXPECT_EQ(key_of("listener.name.internal.sasl.jaas.config"), "sasl.jaas.config");
  EXPECT_EQ(key_of("listener.name.internal.plain.ssl.client.auth"), "none");
  EXPECT_EQ(key_of("listener.name.internal.foo"), "none");
  EXPECT_EQ(key_of("listener.name.internal"), "none");
}

TEST(Table, SynonymsComeFinestUnitFirst) {
  using testing::ElementsAre;
  EXPECT_THAT(broker_synonyms("log.retention.hours"),
              ElementsAre("log.retention.ms", "log.retention.minutes", "log.retention.hours"));
  EXPECT_THAT(broker_synonyms("log.roll.ms"), ElementsAre("log.roll.ms", "log.roll.hours"));
  EXPECT_THAT(broker_synonyms("log.flush.scheduler.interval.ms"), ElementsAre("log.flush.scheduler.interval.ms"));
  EXPECT_THAT(broker_synonyms("listener.name.a.max.connections"),
              ElementsAre("listener.name.a.max.connections", "max.connections"));
}

}  // namespace
}  // namespace thalweg::config
