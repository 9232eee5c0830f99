#include "config/listeners.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace thalweg::config {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Config load(std::string_view text) { return Config::load(broker_table(), parse_properties(text, "f").value()).value(); }

std::string problem(std::string_view text) {
  const auto listeners = parse_listeners(load(text));
  return listeners ? "none" : listeners.error();
}

TEST(Listeners, TheDefaultIsLoopback) {
  const auto listeners = parse_listeners(Config(broker_table()));
  ASSERT_TRUE(listeners.has_value()) << listeners.error();
  const Endpoint expected{"PLAINTEXT", SecurityProtocol::plaintext, "127.0.0.1", 9092};
  EXPECT_THAT(listeners->bound, ElementsAre(expected));
  EXPECT_THAT(listeners->advertised, ElementsAre(expected));
  EXPECT_EQ(listeners->inter_broker, "PLAINTEXT");
}

TEST(Listeners, NamesAreComparedWithoutCaseAndControllersAreLeftOut) {
  const auto listeners =
      parse_listeners(load("listeners=Internal://:0, external://[::1]:9093,CONTROLLER://:9094\n"
                           "advertised.listeners=EXTERNAL://kafka.example.com:443,INTERNAL://10.0.0.1:9092\n"
                           "listener.security.protocol.map=INTERNAL:sasl_ssl , external : SSL,controller:PLAINTEXT\n"
                           "controller.listener.names=controller\ninter.broker.listener.name=internal\n"));
  ASSERT_TRUE(listeners.has_value()) << listeners.error();
  EXPECT_THAT(listeners->bound, ElementsAre(Endpoint{"INTERNAL", SecurityProtocol::sasl_ssl, "", 0},
                                            Endpoint{"EXTERNAL", SecurityProtocol::ssl, "::1", 9093}));
  EXPECT_THAT(listeners->advertised, ElementsAre(Endpoint{"EXTERNAL", SecurityProtocol::ssl, "kafka.example.com", 443},
                                                 Endpoint{"INTERNAL", SecurityProtocol::sasl_ssl, "10.0.0.1", 9092}));
  EXPECT_EQ(listeners->inter_broker, "INTERNAL");
}

TEST(Listeners, FaultsAreOneLine) {
  EXPECT_EQ(problem("listeners=PLAINTEXT:9092"),
            "f:1: listeners=PLAINTEXT:9092: \"PLAINTEXT:9092\" is not of the form NAME://host:port, port 0 to 65535");
  EXPECT_EQ(problem("listeners=FOO://:9092"),
            "f:1: listeners=FOO://:9092: listener FOO has no protocol in listener.security.protocol.map");
  EXPECT_THAT(problem("listeners=SSL://:1,ssl://:2"), HasSubstr("listener SSL appears twice"));
  EXPECT_THAT(problem("listeners=PLAINTEXT://:1,SSL://:1"), HasSubstr("two listeners have one port"));
  EXPECT_EQ(problem("listeners=PLAINTEXT://0.0.0.0:9092"),
            "f:1: listeners=PLAINTEXT://0.0.0.0:9092: clients cannot reach 0.0.0.0; advertised.listeners needs a host "
            "they can reach");
  EXPECT_EQ(problem("listener.security.protocol.map=PLAINTEXT:PLAIN"),
            "f:1: listener.security.protocol.map=PLAINTEXT:PLAIN: \"PLAINTEXT:PLAIN\" names no protocol; allowed: "
            "PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL");
  EXPECT_THAT(problem("controller.listener.names=PLAINTEXT"),
              HasSubstr("all of them are in controller.listener.names"));
  EXPECT_EQ(problem("inter.broker.listener.name=SSL"),
            "f:1: inter.broker.listener.name=SSL: not among the advertised listeners");
}

TEST(Listeners, OnePortServesAnIpv4AndAnIpv6Address) {
  EXPECT_EQ(problem("listeners=PLAINTEXT://127.0.0.1:9092,SSL://[::1]:9092"), "none");
  EXPECT_EQ(problem("listeners=PLAINTEXT://[::1]:9092,SSL://127.0.0.1:9092"), "none");
  EXPECT_THAT(problem("listeners=PLAINTEXT://127.0.0.1:9092,SSL://127.0.0.2:9092"), HasSubstr("one port"));
  EXPECT_THAT(problem("listeners=PLAINTEXT://127.0.0.1:9092,SSL://[::1]:9092,SASL_SSL://[::2]:9092"),
              HasSubstr("one port"));
  EXPECT_EQ(problem("listeners=PLAINTEXT://127.0.0.1:0,SSL://127.0.0.1:0"), "none");
}

TEST(Listeners, ASingleBrokerNeedsNoInterBrokerListener) {
  const auto listeners = parse_listeners(load("listeners=SASL_SSL://127.0.0.1:9092"));
  ASSERT_TRUE(listeners.has_value()) << listeners.error();
  EXPECT_EQ(listeners->inter_broker, "");
}

TEST(Listeners, TheConsoleListensOnHttp) {
  EXPECT_THAT(parse_console_listeners(Config(broker_table())).value(), ElementsAre(ConsoleAddress{"127.0.0.1", 8080}));
  EXPECT_THAT(parse_console_listeners(load("thalweg.console.listeners=")).value(), IsEmpty());
  EXPECT_THAT(parse_console_listeners(load("thalweg.console.listeners=http://:0,http://[::1]:80")).value(),
              ElementsAre(ConsoleAddress{"", 0}, ConsoleAddress{"::1", 80}));
  EXPECT_EQ(
      parse_console_listeners(load("thalweg.console.listeners=https://a:1")).error(),
      "f:1: thalweg.console.listeners=https://a:1: \"https://a:1\" is not of the form http://host:port, port 0 to "
      "65535");
}

TEST(Listeners, LoopbackIsTheWholeOf127) {
  for (const std::string_view host : {"127.0.0.1", "127.1.2.3", "localhost", "::1"}) EXPECT_TRUE(is_loopback(host));
  for (const std::string_view host : {"", "0.0.0.0", "::", "10.0.0.1", "127.evil.example", "example.com"})
    EXPECT_FALSE(is_loopback(host)) << host;
}

}  // namespace
}  // namespace thalweg::config
