#include "config/effective.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "config/test_data.h"

namespace thalweg::config {
namespace {

using testing::ElementsAre;

std::string_view source_name(Source source) {
  switch (source) {
    case Source::unknown:
      return "UNKNOWN";
    case Source::dynamic_topic:
      return "DYNAMIC_TOPIC_CONFIG";
    case Source::dynamic_broker:
      return "DYNAMIC_BROKER_CONFIG";
    case Source::dynamic_default_broker:
      return "DYNAMIC_DEFAULT_BROKER_CONFIG";
    case Source::static_broker:
      return "STATIC_BROKER_CONFIG";
    case Source::default_:
      return "DEFAULT_CONFIG";
    case Source::dynamic_broker_logger:
      return "DYNAMIC_BROKER_LOGGER_CONFIG";
    case Source::client_metrics:
      return "DYNAMIC_CLIENT_METRICS_CONFIG";
    case Source::group:
      return "DYNAMIC_GROUP_CONFIG";
  }
  return "";
}

std::string flags(const Described& d) { return std::string(d.read_only ? " ro" : "") + (d.sensitive ? " sens" : ""); }

// As kafka-4.4-describe.txt writes it.
std::string told(const Described& d) {
  std::string text = fmt::format("{}=[{}] {} {}{} {{", d.name, d.value.value_or("null"), type_name(d.type),
                                 source_name(d.source), flags(d));
  for (const Synonym& s : d.synonyms)
    text += fmt::format("{}:{}=[{}];", source_name(s.source), s.name, s.value.value_or("null"));
  return text + "}";
}

std::string told_of_created(const Described& d) {
  return fmt::format("{}=[{}] {}{}", d.name, d.value.value_or("null"), source_name(d.source), flags(d));
}

// One case of kafka-4.4-describe.txt.
struct Recorded {
  std::vector<Entry> file;
  Overrides cluster, broker, own;
  std::string resource;
  std::vector<std::string> answers;
};

std::vector<Recorded> recorded() {
  std::vector<Recorded> cases;
  for (const auto& fields : test_data("kafka-4.4-describe.txt")) {
    if (fields.size() == 1) {
      cases.emplace_back();
      continue;
    }
    Recorded& current = cases.back();
    if (fields[0] == "kafka") {
      current.resource = fields[1];
      current.answers.push_back(fields[2]);
      continue;
    }
    const Entry entry = parse_override(fields[1]).value();
    if (fields[0] == "file") current.file.push_back(entry);
    if (fields[0] == "cluster") current.cluster[entry.name] = entry.value;
    if (fields[0] == "broker") current.broker[entry.name] = entry.value;
    if (fields[0] == "own") current.own[entry.name] = entry.value;
  }
  return cases;
}

std::vector<std::string> ours(const Recorded& c, const Config& file) {
  const BrokerLayers layers{file, c.cluster, c.broker};
  std::vector<Described> described;
  if (c.resource == "broker") described = describe_broker(layers);
  if (c.resource == "cluster_default") described = describe_cluster_default(layers);
  if (c.resource == "topic") described = describe_topic(c.own, layers);
  if (c.resource == "group") described = describe_group(c.own, layers);
  if (c.resource == "client_metrics") described = describe_client_metrics(c.own);
  if (c.resource == "created") described = describe_created_topic(c.own, layers);
  std::vector<std::string> lines;
  lines.reserve(described.size());
  for (const Described& d : described) lines.push_back(c.resource == "created" ? told_of_created(d) : told(d));
  return lines;
}

TEST(Effective, DescribesWhatKafkaDescribes) {
  std::size_t compared = 0;
  for (const Recorded& c : recorded()) {
    const auto file = Config::load(broker_table(), c.file);
    ASSERT_TRUE(file.has_value()) << file.error();
    const std::vector<std::string> lines = ours(c, *file);
    for (const std::string& answer : c.answers) {
      ++compared;
      const std::string start = answer.substr(0, answer.find('=') + 1);
      const auto line = std::ranges::find_if(lines, [&start](const std::string& l) { return l.starts_with(start); });
      ASSERT_NE(line, lines.end()) << c.resource << " " << start;
      EXPECT_EQ(*line, answer) << c.resource;
    }
  }
  EXPECT_GT(compared, 150u);
}

TEST(Effective, ListsAsManyKeysAsKafkaAndOurOwn) {
  const Config file(broker_table());
  const BrokerLayers layers{file, {}, {}};
  EXPECT_EQ(describe_broker(layers).size(), 350u + 14u);
  EXPECT_EQ(describe_cluster_default(layers).size(), 0u);
  EXPECT_EQ(describe_topic({}, layers).size(), 37u);
  EXPECT_EQ(describe_topic({{"internal.segment.bytes", "100"}}, layers).size(), 38u);
  EXPECT_EQ(describe_group({}, layers).size(), 21u);
  EXPECT_EQ(describe_client_metrics({}).size(), 3u);
  EXPECT_EQ(describe_created_topic({}, layers).size(), 37u);
}

TEST(Effective, SecretsHaveNoValueAnywhere) {
  const auto file = Config::load(broker_table(), parse_properties("ssl.key.password=geheim\nplugin.token=geheim\n"
                                                                  "listener.name.a.plain.sasl.jaas.config=geheim",
                                                                  "f")
                                                     .value());
  const Overrides cluster = {{"other.token", "geheim"}};
  const Overrides broker = {{"listener.name.a.ssl.keystore.password", "geheim"}};
  const BrokerLayers layers{*file, cluster, broker};
  std::vector<Described> all = describe_broker(layers);
  for (Described& d : describe_cluster_default(layers)) all.push_back(std::move(d));
  int secrets = 0;
  for (const Described& d : all) {
    EXPECT_THAT(told(d), testing::Not(testing::HasSubstr("geheim")));
    secrets += d.sensitive && d.source != Source::default_ ? 1 : 0;
  }
  EXPECT_EQ(secrets, 6);
}

TEST(Effective, TopicsTakeTheBrokersSettingsInTheirOwnUnits) {
  const auto broker = Config::load(broker_table(), parse_properties("log.retention.minutes=5\nlog.roll.hours=2\n"
                                                                    "log.flush.scheduler.interval.ms=77\n"
                                                                    "message.max.bytes=100\nlog.cleanup.policy=compact",
                                                                    "f")
                                                       .value());
  const auto own = Config::load(topic_table(), parse_properties("segment.bytes=2000000", "f").value());
  const Config topic = effective_topic(*own, *broker);
  EXPECT_EQ(topic.get_long("retention.ms"), 300'000);
  EXPECT_EQ(topic.get_long("segment.ms"), 7'200'000);
  EXPECT_EQ(topic.get_long("segment.jitter.ms"), 0);
  EXPECT_EQ(topic.get_long("flush.ms"), 77);
  EXPECT_EQ(topic.get_int("max.message.bytes"), 100);
  EXPECT_THAT(topic.get_list("cleanup.policy"), ElementsAre("compact"));
  EXPECT_EQ(topic.get_int("segment.bytes"), 2'000'000);
  EXPECT_EQ(topic.find_int("internal.segment.bytes"), std::nullopt);
  EXPECT_TRUE(topic.is_set("segment.bytes"));
  EXPECT_FALSE(topic.is_set("retention.ms"));
}

TEST(Effective, NegativeRetentionOfAnyUnitIsWithoutLimit) {
  for (const std::string_view text : {"log.retention.ms=-5", "log.retention.minutes=-5", "log.retention.hours=-5"}) {
    const auto broker = Config::load(broker_table(), parse_properties(text, "f").value());
    EXPECT_EQ(log_defaults(*broker).retention_ms, -1) << text;
  }
  const auto large = Config::load(broker_table(), parse_properties("log.retention.hours=2147483647", "f").value());
  EXPECT_EQ(log_defaults(*large).retention_ms, 2147483647LL * 3'600'000);
}

TEST(Effective, GroupsAreKeptWithinTheBrokersBounds) {
  const auto broker = Config::load(
      broker_table(), parse_properties("group.consumer.max.session.timeout.ms=50000\n"
                                       "group.share.heartbeat.interval.ms=6000\ngroup.streams.assignors=sticky",
                                       "f")
                          .value());
  const auto own = Config::load(group_table(), parse_properties("consumer.session.timeout.ms=55000\n"
                                                                "share.delivery.count.limit=3\n"
                                                                "streams.num.standby.replicas=9",
                                                                "f")
                                                   .value());
  const Config group = effective_group(*own, *broker);
  EXPECT_EQ(group.get_int("consumer.session.timeout.ms"), 50'000);
  EXPECT_EQ(group.get_int("share.delivery.count.limit"), 3);
  EXPECT_EQ(group.get_int("streams.num.standby.replicas"), 2);
  EXPECT_EQ(group.get_int("share.heartbeat.interval.ms"), 6000);
  EXPECT_EQ(group.get_string("streams.assignor.name"), "sticky");
  EXPECT_EQ(group.get_string("share.isolation.level"), "read_uncommitted");
}

TEST(Effective, LogDirsFallBackToLogDir) {
  EXPECT_THAT(log_dirs(Config(broker_table())), ElementsAre("./thalweg-data"));
  const auto one = Config::load(broker_table(), parse_properties("log.dir=/a", "f").value());
  EXPECT_THAT(log_dirs(*one), ElementsAre("/a"));
  const auto both = Config::load(broker_table(), parse_properties("log.dir=/a\nlog.dirs=/b,/c", "f").value());
  EXPECT_THAT(log_dirs(*both), ElementsAre("/b", "/c"));
}

}  // namespace
}  // namespace thalweg::config
