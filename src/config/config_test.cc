#include "config/config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace thalweg::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

std::expected<Config, std::string> load(std::string_view text, const Table& table = broker_table()) {
  return Config::load(table, parse_properties(text, "server.properties").value());
}

TEST(Config, WithoutSettingsTheDefaultsHold) {
  const Config config(broker_table());
  EXPECT_EQ(config.get_int("num.partitions"), 1);
  EXPECT_EQ(config.get_int("offsets.topic.replication.factor"), 3);
  EXPECT_EQ(config.get_long("thalweg.max.bytes.in.flight"), 268435456);
  EXPECT_EQ(config.get_double("log.cleaner.io.buffer.load.factor"), 0.9);
  EXPECT_EQ(config.get_string("compression.type"), "producer");
  EXPECT_TRUE(config.get_bool("auto.create.topics.enable"));
  EXPECT_THAT(config.get_list("listeners"), ElementsAre("PLAINTEXT://127.0.0.1:9092"));
  EXPECT_EQ(config.find_long("log.retention.ms"), std::nullopt);
  EXPECT_EQ(config.find_password("ssl.key.password"), std::nullopt);
  EXPECT_EQ(config.find_list("log.dirs"), std::nullopt);
  EXPECT_FALSE(config.is_set("num.partitions"));
  EXPECT_EQ(config.source("num.partitions"), Source::default_);
}

TEST(Config, SettingsWinAndTheLaterOfTwoCounts) {
  std::vector<Entry> entries = parse_properties("num.partitions=2\nnum.partitions= 03 ", "server.properties").value();
  auto config = Config::load(broker_table(), entries);
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->get_int("num.partitions"), 3);
  EXPECT_EQ(config->where("num.partitions"), "server.properties:2: ");
  EXPECT_EQ(config->source("num.partitions"), Source::static_broker);
  EXPECT_EQ(config->find("num.partitions")->raw, "03 ");

  entries.push_back(parse_override("num.partitions=4").value());
  config = Config::load(broker_table(), entries);
  EXPECT_EQ(config->get_int("num.partitions"), 4);
  EXPECT_EQ(config->where("num.partitions"), "-o ");
}

TEST(Config, ABadValueIsOneLineWithItsPlace) {
  EXPECT_EQ(load("#\n\nlog.segment.bytes=abc").error(),
            "server.properties:3: log.segment.bytes=abc: not an integer; allowed: 1048576 to 2147483647");
  const std::vector<Entry> entries = {parse_override("log.preallocate=1").value()};
  EXPECT_EQ(Config::load(broker_table(), entries).error(),
            "-o log.preallocate=1: not a boolean; allowed: true or false");
  // One that is replaced later does no harm.
  EXPECT_TRUE(load("num.partitions=x\nnum.partitions=1").has_value());
}

TEST(Config, SecretsAreNotInMessages) {
  const ConfigKey secret{.name = "a.secret", .type = Type::password, .valid = {.rule = Rule::non_empty}, .doc = "A."};
  const std::vector<ConfigKey> keys = {secret};
  const Table table("Test", {{"Test", keys}});
  const auto config = load("a.secret = \t", table);
  EXPECT_EQ(config.error(), "server.properties:1: a.secret=[hidden]: empty; allowed: a string that is not empty");

  const auto unknown = load("ssl.key.passwort=geheim");
  ASSERT_TRUE(unknown.has_value());
  for (const std::string& line : warnings(*unknown)) EXPECT_THAT(line, Not(HasSubstr("geheim")));
}

TEST(Config, ListenersAndMechanismsOverrideKeys) {
  const auto config = load(
      "ssl.client.auth=none\n"
      "listener.name.internal.ssl.client.auth=required\n"
      "listener.name.internal.plain.sasl.jaas.config=plain\n"
      "listener.name.internal.sasl.jaas.config=any\n"
      "sasl.jaas.config=global\n"
      "listener.name.internal.max.connections=5");
  ASSERT_TRUE(config.has_value()) << config.error();
  EXPECT_EQ(config->get_string("ssl.client.auth"), "none");
  EXPECT_EQ(config->get_string("ssl.client.auth", {.listener = "INTERNAL"}), "required");
  EXPECT_EQ(config->get_string("ssl.client.auth", {.listener = "EXTERNAL"}), "none");
  EXPECT_EQ(config->get_int("max.connections", {.listener = "INTERNAL"}), 5);
  EXPECT_EQ(config->get_password("sasl.jaas.config", {.listener = "INTERNAL", .mechanism = "PLAIN"}), "plain");
  EXPECT_EQ(config->get_password("sasl.jaas.config", {.listener = "INTERNAL", .mechanism = "OAUTHBEARER"}), "any");
  EXPECT_EQ(config->get_password("sasl.jaas.config", {.listener = "EXTERNAL", .mechanism = "PLAIN"}), "global");
  EXPECT_EQ(load("listener.name.internal.ssl.client.auth=maybe").error(),
            "server.properties:1: listener.name.internal.ssl.client.auth=maybe: not one of the known values; allowed: "
            "required, requested, none");
}

TEST(Config, WarnsOfUnknownKeysAndNamesThoseWithoutEffect) {
  const auto config = load(
      "num.io.threads=8\nlog.segment.byte=7\nzookeeper.connect=localhost\nprocess.roles=broker\n"
      "listener.name.a.ssl.cleint.auth=none\nconfig.providers.env.class=x\nrsm.config.bucket=b\nnum.partitions=1\n");
  ASSERT_TRUE(config.has_value()) << config.error();
  EXPECT_THAT(warnings(*config),
              ElementsAre("server.properties:5: listener.name.a.ssl.cleint.auth: unknown key",
                          "server.properties:2: log.segment.byte: unknown key, did you mean log.segment.bytes?",
                          "server.properties:3: zookeeper.connect: unknown key",
                          "accepted without effect: num.io.threads, process.roles"));
  EXPECT_TRUE(warnings(Config(broker_table())).empty());
}

TEST(Config, ADynamicLayerReplacesTheSameSettingInOtherUnits) {
  const auto file = load(
      "log.retention.hours=100\nlog.retention.minutes=300\nmax.connections=7\n"
      "listener.name.a.max.connections=8");
  const std::vector<Entry> dynamic = {{"log.retention.ms", "5", "dynamic", 0},
                                      {"listener.name.a.max.connections", "9", "dynamic", 0}};
  const auto config = file->with(dynamic, Source::dynamic_broker);
  ASSERT_TRUE(config.has_value());
  EXPECT_EQ(config->get_long("log.retention.ms"), 5);
  EXPECT_EQ(config->source("log.retention.ms"), Source::dynamic_broker);
  EXPECT_FALSE(config->is_set("log.retention.minutes"));
  EXPECT_FALSE(config->is_set("log.retention.hours"));
  // What is set for one listener leaves the key for all listeners alone.
  EXPECT_EQ(config->get_int("max.connections"), 7);
  EXPECT_EQ(config->get_int("max.connections", {.listener = "A"}), 9);
  // In one file both units stand.
  EXPECT_TRUE(file->is_set("log.retention.hours"));
}

TEST(ConfigDeathTest, AskingForAKeyThatIsNotThereIsABug) {
  const Config config(broker_table());
  EXPECT_DEATH(config.get_int("num.partition"), "num.partition: not in the table");
  EXPECT_DEATH(config.get_int("listeners"), "listeners: asked for another type than LIST");
  EXPECT_DEATH(config.get_string("broker.rack"), "broker.rack: null");
}

}  // namespace
}  // namespace thalweg::config
