#include "config/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace thalweg::config {
namespace {

// Sources in which `server.properties` has this text and nothing else exists.
ProviderSources with_file(std::string text) {
  return {.environment = [](const std::string& name) -> std::optional<std::string> {
            return name == "RACK" ? std::optional<std::string>("r1") : std::nullopt;
          },
          .read_file = [text = std::move(text)](const std::string& path) -> std::expected<std::string, std::string> {
            if (path == "server.properties") return text;
            return std::unexpected(path + ": cannot be read");
          }};
}

std::expected<Config, std::string> load(std::string text, std::vector<std::string> overrides = {}) {
  return load_broker_config({.file = "server.properties", .overrides = std::move(overrides)},
                            with_file(std::move(text)));
}

TEST(Load, NeitherFileNorOverridesAreNeeded) {
  const auto config = load_broker_config({.file = std::nullopt, .overrides = {}}, with_file(""));
  ASSERT_TRUE(config.has_value()) << config.error();
  EXPECT_EQ(config->get_int("node.id"), 1);
  EXPECT_TRUE(config->settings().empty());
}

TEST(Load, OverridesWinOverTheFileAndValuesAreProvided) {
  const auto config = load("num.partitions=2\nbroker.rack=${env:RACK}", {"num.partitions=3", "num.partitions=4"});
  ASSERT_TRUE(config.has_value()) << config.error();
  EXPECT_EQ(config->get_int("num.partitions"), 4);
  EXPECT_EQ(config->get_string("broker.rack"), "r1");
}

TEST(Load, NodeIdAndBrokerIdAreOneSetting) {
  EXPECT_EQ(load("node.id=7")->get_int("broker.id"), 7);
  EXPECT_EQ(load("broker.id=7")->get_int("node.id"), 7);
  EXPECT_EQ(load("node.id=7", {"node.id=8"})->get_int("broker.id"), 8);
  EXPECT_EQ(load("node.id=7\nbroker.id=8").error(), "server.properties:2: broker.id=8: must equal node.id (7)");
}

TEST(Load, EveryFaultIsOneLine) {
  EXPECT_EQ(load("\nlog.segment.bytes=abc").error(),
            "server.properties:2: log.segment.bytes=abc: not an integer; allowed: 1048576 to 2147483647");
  EXPECT_EQ(load("", {"log.roll.ms=0"}).error(), "-o log.roll.ms=0: must be at least 1");
  EXPECT_EQ(load("", {"log.roll.ms"}).error(), "-o log.roll.ms: not of the form key=value");
  EXPECT_EQ(load("a=${env:X}").error(), "server.properties:1: a: environment variable X is not set");
  EXPECT_EQ(load_broker_config({.file = "other", .overrides = {}}, with_file("")).error(), "other: cannot be read");
}

// The server.properties that Kafka ships for one node, with the comments left out.
TEST(Load, TakesAFileWrittenForKafka) {
  const auto config = load(
      "process.roles=broker,controller\nnode.id=1\ncontroller.quorum.bootstrap.servers=localhost:9093\n"
      "listeners=PLAINTEXT://:9092,CONTROLLER://:9093\ninter.broker.listener.name=PLAINTEXT\n"
      "advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093\n"
      "controller.listener.names=CONTROLLER\n"
      "listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,"
      "SASL_SSL:SASL_SSL\nnum.network.threads=3\nnum.io.threads=8\nsocket.send.buffer.bytes=102400\n"
      "socket.receive.buffer.bytes=102400\nsocket.request.max.bytes=104857600\nlog.dirs=/tmp/kraft-combined-logs\n"
      "num.partitions=1\nnum.recovery.threads.per.data.dir=2\noffsets.topic.replication.factor=1\n"
      "share.coordinator.state.topic.replication.factor=1\nshare.coordinator.state.topic.min.isr=1\n"
      "transaction.state.log.replication.factor=1\ntransaction.state.log.min.isr=1\nlog.retention.hours=168\n"
      "log.segment.bytes=1073741824\nlog.retention.check.interval.ms=300000\n",
      {"thalweg.allow.insecure.listeners=true"});
  ASSERT_TRUE(config.has_value()) << config.error();
  EXPECT_THAT(warnings(*config),
              testing::ElementsAre("accepted without effect: controller.quorum.bootstrap.servers, num.io.threads, "
                                   "num.network.threads, offsets.topic.replication.factor, process.roles, "
                                   "share.coordinator.state.topic.min.isr, "
                                   "share.coordinator.state.topic.replication.factor, transaction.state.log.min.isr, "
                                   "transaction.state.log.replication.factor"));
}

}  // namespace
}  // namespace thalweg::config
