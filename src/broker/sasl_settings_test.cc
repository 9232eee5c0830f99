#include "broker/sasl_settings.h"

#include <gtest/gtest.h>

#include "broker/settings.h"
#include "config/load.h"

namespace thalweg::broker {
namespace {

constexpr const char* kPlain =
    "org.apache.kafka.common.security.plain.PlainLoginModule required user_alice=\"secret\";";

base::Result<SaslListeners, std::string> read(std::vector<std::string> overrides) {
  overrides.emplace_back("log.dirs=unused");
  const auto config = config::load_broker_config({.file = std::nullopt, .overrides = overrides});
  if (!config) return std::unexpected(config.error());
  auto settings = Settings::read(*config);
  if (!settings) return std::unexpected(settings.error());
  return settings->sasl;
}

const std::string kListeners = "listeners=PLAINTEXT://127.0.0.1:0,INSIDE://127.0.0.1:0";
const std::string kMap = "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,INSIDE:SASL_PLAINTEXT";

std::string fault(std::vector<std::string> overrides) {
  overrides.insert(overrides.begin(), {kListeners, kMap});
  const auto sasl = read(std::move(overrides));
  return sasl ? "none" : sasl.error();
}

TEST(SaslSettings, AListenerHasItsMechanismsUsersAndLimits) {
  const auto sasl =
      read({kListeners, kMap, "sasl.enabled.mechanisms=SCRAM-SHA-512",
            "listener.name.inside.sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256",
            std::string("listener.name.inside.plain.sasl.jaas.config=") + kPlain, "connections.max.reauth.ms=5000",
            "listener.name.inside.plain.connections.max.reauth.ms=7000"});
  ASSERT_TRUE(sasl) << sasl.error();
  ASSERT_EQ(sasl->size(), 1U);
  const SaslListener& inside = *sasl->at("INSIDE");
  ASSERT_EQ(inside.mechanisms.size(), 2U);
  EXPECT_EQ(inside.find("PLAIN")->max_reauth_ms, 7000);
  EXPECT_EQ(inside.find("SCRAM-SHA-256")->max_reauth_ms, 5000);
  EXPECT_EQ(inside.find("SCRAM-SHA-512"), nullptr);
  EXPECT_TRUE(inside.plain_users.check("alice", "secret"));
  EXPECT_FALSE(inside.plain_users.check("alice", "secret "));
}

TEST(SaslSettings, ScramNeedsNoLineOfItsOwn) {
  EXPECT_EQ(fault({"sasl.enabled.mechanisms=SCRAM-SHA-256"}), "none");
  EXPECT_EQ(fault({"sasl.enabled.mechanisms=SCRAM-SHA-256",
                   "listener.name.inside.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram."
                   "ScramLoginModule required username=\"admin\" password=\"hunter2\";"}),
            "none");
}

TEST(SaslSettings, WhatStopsTheStartIsSaidInOneLine) {
  EXPECT_EQ(
      fault({"sasl.enabled.mechanisms=PLAIN"}),
      "listener.name.inside.plain.sasl.jaas.config is not set: PLAIN on listener INSIDE needs its users there, as "
      "org.apache.kafka.common.security.plain.PlainLoginModule required user_NAME=\"PASSWORD\";");
  // A line for every listener is for none.
  EXPECT_TRUE(fault({"sasl.enabled.mechanisms=PLAIN", std::string("sasl.jaas.config=") + kPlain})
                  .starts_with("listener.name.inside.plain.sasl.jaas.config is not set"));
  const auto with_line = [](std::string_view line) {
    return fault({"sasl.enabled.mechanisms=PLAIN", "listener.name.inside.plain.sasl.jaas.config=" + std::string(line)});
  };
  EXPECT_EQ(with_line("com.example.Mine required password=\"hunter2\";"),
            "-o listener.name.inside.plain.sasl.jaas.config: the login module com.example.Mine is not known; Java "
            "classes cannot be loaded");
  EXPECT_EQ(with_line("org.apache.kafka.common.security.scram.ScramLoginModule required;"),
            "-o listener.name.inside.plain.sasl.jaas.config: its login module is for SCRAM-SHA-256, SCRAM-SHA-512, not "
            "for PLAIN");
  EXPECT_EQ(with_line("org.apache.kafka.common.security.plain.PlainLoginModule required user_a=\"\";"),
            "-o listener.name.inside.plain.sasl.jaas.config: user_a needs a name and a password");
  EXPECT_EQ(with_line("org.apache.kafka.common.security.plain.PlainLoginModule required user_=\"hunter2\";"),
            "-o listener.name.inside.plain.sasl.jaas.config: user_ needs a name and a password");
  EXPECT_EQ(fault({"sasl.enabled.mechanisms=OAUTHBEARER"}),
            "-o sasl.enabled.mechanisms: OAUTHBEARER on listener INSIDE is not served by this release; allowed: PLAIN, "
            "SCRAM-SHA-256, SCRAM-SHA-512");
  EXPECT_EQ(fault({"sasl.enabled.mechanisms="}),
            "-o sasl.enabled.mechanisms: listener INSIDE needs one of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512");
  EXPECT_TRUE(fault({}).contains("GSSAPI"));
}

}  // namespace
}  // namespace thalweg::broker
