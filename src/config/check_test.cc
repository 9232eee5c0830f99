#include "config/check.h"

#include <gtest/gtest.h>

#include <map>

#include "config/load.h"
#include "config/test_data.h"

namespace thalweg::config {
namespace {

// Kafka's node in kafka-4.4-checks.txt, and our leave to listen beyond the loopback interface.
const std::vector<Entry> kBase = {
    {"process.roles", "broker,controller", "base", 1},
    {"node.id", "1", "base", 2},
    {"controller.listener.names", "CONTROLLER", "base", 3},
    {"listeners", "PLAINTEXT://127.0.0.1:21000,CONTROLLER://127.0.0.1:21001", "base", 4},
    {"listener.security.protocol.map",
     "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL", "base", 5},
    {"thalweg.allow.insecure.listeners", "true", "base", 6}};

struct Outcome {
  std::string problem;  // empty: all is well
  std::string value;    // of the first setting
};

// What this broker says to a case of kafka-4.4-checks.txt.
Outcome outcome(const std::string& resource, const std::vector<std::string>& settings) {
  std::vector<Entry> broker = kBase;
  std::vector<Entry> own;
  for (const std::string& setting : settings) {
    Entry entry = parse_override(setting).value();
    const bool of_broker = entry.name.starts_with("B:");
    if (of_broker) entry.name.erase(0, 2);
    (of_broker || resource == "BROKER" ? broker : own).push_back(std::move(entry));
  }
  const auto broker_config = Config::load(broker_table(), broker);
  if (!broker_config) return {broker_config.error(), ""};
  if (resource == "BROKER") {
    if (auto problem = cross_check(*broker_config)) return {*problem, ""};
    const Setting* first = broker_config->find(parse_override(settings.front())->name);
    return {"", first->key == nullptr ? "" : first->value};
  }
  const Table& table = resource == "TOPIC"   ? topic_table()
                       : resource == "GROUP" ? group_table()
                                             : client_metrics_table();
  const auto config = Config::load(table, own);
  if (!config) return {config.error(), ""};
  if (!config->unknown_keys().empty()) return {"unknown key", ""};
  if (resource == "TOPIC") return {check_topic(*config, *broker_config).value_or(""), ""};
  if (resource == "GROUP") return {check_group(*config, *broker_config).value_or(""), ""};
  return {};
}

// `ours:ok` or `ours:refused` in front of Kafka's verdict says where this broker differs, and the last field why.
TEST(Check, SaysWhatKafkaSaysToSettings) {
  int cases = 0;
  for (const auto& fact : test_data("kafka-4.4-checks.txt")) {
    ASSERT_GE(fact.size(), 3u);
    std::vector<std::string> settings(fact.begin() + 2, fact.end());
    std::string expected = fact[1];
    std::optional<std::string> value;
    if (expected.starts_with("ours:")) {
      expected.erase(0, 5);
      ASSERT_TRUE(settings.back().starts_with("why: ")) << settings.back();
      settings.pop_back();
    }
    if (settings.back().starts_with("=> ")) {
      value = settings.back().substr(3);
      settings.pop_back();
    }
    const Outcome got = outcome(fact[0], settings);
    std::string shown;
    for (const std::string& setting : settings) shown += " " + setting;
    EXPECT_EQ(got.problem.empty() ? "ok" : "refused", expected) << fact[0] << shown << ": " << got.problem;
    if (value && got.problem.empty() && !got.value.empty()) EXPECT_EQ(got.value, *value) << shown;
    ++cases;
  }
  EXPECT_GT(cases, 400);
}

std::string problem(std::string_view text) {
  const auto config = Config::load(broker_table(), parse_properties(text, "f").value());
  return config ? cross_check(*config).value_or("none") : config.error();
}

TEST(Check, TheDefaultsAreFine) { EXPECT_EQ(cross_check(Config(broker_table())), std::nullopt); }

TEST(Check, NamesThePlaceTheKeyAndTheRule) {
  EXPECT_EQ(problem("group.consumer.session.timeout.ms=1000"),
            "f:1: group.consumer.session.timeout.ms=1000: must not be less than group.consumer.min.session.timeout.ms "
            "(45000)");
  EXPECT_EQ(problem("\ngroup.consumer.min.session.timeout.ms=60001"),
            "f:2: group.consumer.min.session.timeout.ms=60001: must not be more than "
            "group.consumer.max.session.timeout.ms (60000)");
  EXPECT_EQ(problem("log.cleaner.threads=200"),
            "f:1: log.cleaner.threads=200: each of the 200 cleaner threads needs more than 1 MiB of the 134217728 "
            "bytes");
  EXPECT_EQ(problem("log.retention.hours=0"),
            "f:1: log.retention.hours=0: must be at least 1, or negative for no limit");
  EXPECT_EQ(problem("connections.max.idle.ms=100"),
            "f:1: connections.max.idle.ms=100: connection.failed.authentication.delay.ms (100) must be less than "
            "connections.max.idle.ms (100)");
  EXPECT_EQ(problem("process.roles=controller"),
            "f:1: process.roles=controller: must have broker; there are no separate controllers");
}

TEST(Check, APlainListenerBeyondLoopbackNeedsLeave) {
  const std::string refused =
      "f:1: listeners=PLAINTEXT://:9092: PLAINTEXT lets anyone who reaches it do everything; bind it to a "
      "loopback address, or set thalweg.allow.insecure.listeners=true";
  EXPECT_EQ(problem("listeners=PLAINTEXT://:9092"), refused);
  EXPECT_EQ(problem("listeners=PLAINTEXT://:9092\nthalweg.allow.insecure.listeners=true"), "none");
  // An authorizer makes it safe where it does not let the anonymous do everything.
  const std::string authorizer = "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer";
  const std::string everyone = "\nallow.everyone.if.no.acl.found=true";
  EXPECT_EQ(problem("listeners=PLAINTEXT://:9092\n" + authorizer + everyone), refused);
  EXPECT_EQ(problem("listeners=PLAINTEXT://:9092\n" + authorizer + "\nsuper.users=User:a;User:ANONYMOUS"), refused);
  EXPECT_EQ(problem("listeners=PLAINTEXT://:9092\n" + authorizer + "\nsuper.users=User:a"), "none");
  EXPECT_EQ(problem(authorizer), "none");
  EXPECT_EQ(problem("listeners=PLAINTEXT://localhost:9092"), "none");
  EXPECT_EQ(problem("listeners=PLAINTEXT://[::1]:9092"), "none");
  EXPECT_EQ(problem("listeners=SSL://:9092"), "none");
  // A listener for controllers is not opened.
  EXPECT_EQ(problem("listeners=PLAINTEXT://127.0.0.1:9092,CONTROLLER://:9093\ncontroller.listener.names=CONTROLLER\n"
                    "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT"),
            "none");
}

TEST(Check, GssapiIsNotOffered) {
  EXPECT_EQ(problem("listeners=SASL_PLAINTEXT://:9092"),
            "sasl.enabled.mechanisms=GSSAPI: GSSAPI is not offered (listener SASL_PLAINTEXT); allowed: PLAIN, "
            "SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER");
  EXPECT_EQ(problem("listeners=SASL_PLAINTEXT://:9092\nsasl.enabled.mechanisms=PLAIN"), "none");
  EXPECT_EQ(problem("listeners=SASL_PLAINTEXT://:9092\nlistener.name.sasl_plaintext.sasl.enabled.mechanisms=PLAIN"),
            "none");
}

TEST(Check, TokensMustBeCheckedInFullUnlessToldOtherwise) {
  const std::string base =
      "listeners=SASL_SSL://:9092\nsasl.enabled.mechanisms=OAUTHBEARER\n"
      "sasl.oauthbearer.jwks.endpoint.url=https://id/keys\n";
  EXPECT_EQ(problem(base),
            "f:3: sasl.oauthbearer.jwks.endpoint.url=https://id/keys: needs sasl.oauthbearer.expected.audience, or "
            "sasl.oauthbearer.allow.unverified.audience=true");
  EXPECT_EQ(problem(base + "sasl.oauthbearer.expected.audience=a"),
            "f:3: sasl.oauthbearer.jwks.endpoint.url=https://id/keys: needs sasl.oauthbearer.expected.issuer, or "
            "sasl.oauthbearer.allow.unverified.issuer=true");
  EXPECT_EQ(problem(base + "sasl.oauthbearer.expected.audience=a\nsasl.oauthbearer.expected.issuer=i"), "none");
  EXPECT_EQ(problem(base + "sasl.oauthbearer.allow.unverified.audience=true\n"
                           "sasl.oauthbearer.allow.unverified.issuer=true"),
            "none");
}

TEST(Check, ThreadsAtMostDoubleOrHalveAtOnce) {
  const auto change = [](std::string_view key, std::string_view from, std::string_view to) {
    const auto config = [key](std::string_view value) {
      const std::vector<Entry> entries = {{std::string(key), std::string(value), "f", 1}};
      return Config::load(broker_table(), entries).value();
    };
    return check_live_change(config(from), config(to)).value_or("none");
  };
  EXPECT_EQ(change("log.cleaner.threads", "4", "8"), "none");
  EXPECT_EQ(change("log.cleaner.threads", "4", "2"), "none");
  EXPECT_EQ(change("log.cleaner.threads", "5", "2"), "none");
  EXPECT_EQ(change("num.io.threads", "8", "17"), "f:1: num.io.threads=17: must be at most double of what it is (8)");
  EXPECT_EQ(change("num.network.threads", "8", "3"),
            "f:1: num.network.threads=3: must be at least half of what it is (8)");
}

TEST(Check, ARunningBrokerDoesNotShutOutAllConnections) {
  const auto problem_of = [](std::string_view key, std::string_view to) {
    const std::vector<Entry> entries = {{std::string(key), std::string(to), "f", 1}};
    return check_live_change(Config(broker_table()), Config::load(broker_table(), entries).value()).value_or("none");
  };
  EXPECT_EQ(problem_of("max.connections", "1"), "none");
  EXPECT_EQ(problem_of("max.connections", "0"),
            "f:1: max.connections=0: must be at least 1, or nobody could connect to take it back");
  EXPECT_EQ(problem_of("max.connection.creation.rate", "0"),
            "f:1: max.connection.creation.rate=0: must be at least 1, or nobody could connect to take it back");
}

TEST(Check, ListenersStayAsTheyAreWhileTheBrokerRuns) {
  const auto config = [](std::string_view listeners) {
    const std::vector<Entry> entries = {{"listeners", std::string(listeners), "f", 1}};
    return Config::load(broker_table(), entries).value();
  };
  const Config before = config("PLAINTEXT://127.0.0.1:9092");
  EXPECT_EQ(check_live_change(before, config("PLAINTEXT://127.0.0.1:9092")).value_or("none"), "none");
  EXPECT_EQ(
      check_live_change(before, config("PLAINTEXT://127.0.0.1:9093")).value_or("none"),
      "f:1: listeners=PLAINTEXT://127.0.0.1:9093: cannot be changed while the broker runs; it is read from the file at "
      "the start");
}

TEST(Check, DynamicChangesAreThoseThatKafkaTakes) {
  const auto allowed = [](std::string_view name, ChangeOf what) {
    return !check_dynamic_change(name, what).has_value();
  };
  struct Case {
    std::string_view name;
    bool one_broker;
    bool all;
  };
  for (const Case& c :
       {Case{"log.retention.ms", true, true}, Case{"num.partitions", false, false},
        Case{"log.roll.hours", false, false}, Case{"listeners", true, false}, Case{"ssl.client.auth", true, false},
        Case{"ssl.keystore.password", false, false}, Case{"listener.name.plaintext.ssl.keystore.password", true, false},
        Case{"listener.name.plaintext.connections.max.reauth.ms", true, false},
        Case{"listener.name.plaintext.max.connections", true, true},
        Case{"leader.replication.throttled.rate", true, true}, Case{"group.share.assignor.offload.enable", true, true},
        Case{"foo.bar", true, true}, Case{"listener.name.plaintext.foo.bar", true, false}}) {
    EXPECT_EQ(allowed(c.name, ChangeOf::one_broker), c.one_broker) << c.name;
    EXPECT_EQ(allowed(c.name, ChangeOf::default_of_all), c.all) << c.name;
  }
}

}  // namespace
}  // namespace thalweg::config
