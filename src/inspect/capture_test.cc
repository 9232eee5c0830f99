#include "inspect/capture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "inspect/capture_test_util.h"
#include "protocol/messages/api_versions_request.h"
#include "protocol/messages/api_versions_response.h"
#include "protocol/messages/heartbeat_request.h"
#include "protocol/messages/heartbeat_response.h"
#include "protocol/messages/produce_request.h"
#include "protocol/messages/produce_response.h"
#include "protocol/messages/sasl_handshake_request.h"
#include "protocol/messages/sasl_handshake_response.h"

namespace thalweg::inspect {
namespace {

using protocol::ErrorCode;
using test::Conversation;
using test::Octets;
using test::put;
using test::request_frame;
using test::response_frame;
using testing::ElementsAre;

const Endpoint kClient = test::endpoint(1, 40'000);
const Endpoint kBroker = test::endpoint(2, 9092);
constexpr int kClientSays = 0;
constexpr int kBrokerSays = 1;
constexpr int kHeartbeat = 4;  // versions of what is said here
constexpr int kProduce = 9;

struct Collected : ExchangeSink {
  std::vector<Exchange> all;
  void exchange(Exchange& exchange) override { all.push_back(std::move(exchange)); }

  // "12:7" for an answered Heartbeat with correlation id 7, with `?` where there is no answer and `-` where none is
  // due.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const Exchange& e : all) {
      std::string name = std::to_string(e.api_key) + ":" + std::to_string(e.correlation_id);
      if (e.outcome == Exchange::Outcome::unanswered) name += "?";
      if (e.outcome == Exchange::Outcome::unwanted) name += "-";
      names.push_back(name);
    }
    return names;
  }
};

struct Read {
  Collected found;
  CaptureCounts counts;
};

Read read(const std::vector<test::TimedPacket>& packets, CaptureOptions options = {.ports = {9092}}) {
  Read result;
  Capture capture(Catalog::built_in(), std::move(options), result.found);
  for (const test::TimedPacket& packet : packets) capture.packet(packet.time_ns, LinkType::raw_ip, packet.bytes);
  capture.finish();
  result.counts = capture.counts();
  return result;
}

Octets heartbeat(std::int32_t id, std::optional<std::string_view> client = "test") {
  protocol::HeartbeatRequest request;
  request.group_id = "group";
  request.member_id = "member";
  return request_frame(request, kHeartbeat, id, client);
}
Octets heartbeat_answer(std::int32_t id, ErrorCode error = ErrorCode::none) {
  protocol::HeartbeatResponse response;
  response.error_code = error;
  return response_frame(response, kHeartbeat, id);
}
Octets produce(std::int32_t id, std::int16_t acks, std::size_t size) {
  protocol::ProduceRequest request;
  request.acks = acks;
  auto& topic = request.topic_data.emplace_back();
  topic.name = "topic";
  auto& partition = topic.partition_data.emplace_back();
  const Octets records(size, 0x5a);
  partition.records = protocol::Records(base::Bytes::copy_of(records));
  return request_frame(request, kProduce, id);
}
Octets produce_answer(std::int32_t id, ErrorCode error = ErrorCode::none) {
  protocol::ProduceResponse response;
  auto& topic = response.responses.emplace_back();
  topic.name = "topic";
  topic.partition_responses.emplace_back().error_code = error;
  topic.partition_responses.emplace_back().error_code = error;
  return response_frame(response, kProduce, id);
}

Conversation conversation() { return {kClient, kBroker, 1000, 0xfffffff0U}; }

TEST(Capture, AnExchangeHasItsTimesSizesAndErrors) {
  Conversation c = conversation();
  c.open();
  c.say(kClientSays, produce(1, -1, 5000));
  const std::int64_t asked = c.now_ns;
  c.say(kBrokerSays, produce_answer(1, ErrorCode::not_leader_or_follower));
  c.say(kClientSays, heartbeat(2));
  c.say(kBrokerSays, heartbeat_answer(2, ErrorCode::rebalance_in_progress));
  const Read result = read(c.packets);
  ASSERT_THAT(result.found.names(), ElementsAre("0:1", "12:2"));
  const Exchange& first = result.found.all[0];
  EXPECT_EQ(first.client, kClient);
  EXPECT_EQ(first.server, kBroker);
  EXPECT_EQ(*first.client_id, "test");
  EXPECT_EQ(first.version, kProduce);
  EXPECT_EQ(first.request.size, produce(1, -1, 5000).size());
  EXPECT_EQ(first.response.size, produce_answer(1).size());
  EXPECT_EQ(first.request.end_ns, asked);
  EXPECT_EQ(first.latency_ns(), c.step_ns);
  EXPECT_LT(first.request.begin_ns, first.request.end_ns);
  EXPECT_THAT(first.errors, ElementsAre(ErrorCount{.code = 6, .top_level = false, .count = 2}));
  EXPECT_THAT(result.found.all[1].errors, ElementsAre(ErrorCount{.code = 27, .top_level = true, .count = 1}));
  EXPECT_EQ(result.counts.kafka_connections, 1U);
  EXPECT_EQ(result.counts.gaps, 0U);
}

TEST(Capture, RequestsInFlightArePairedInOrder) {
  Conversation c = conversation();
  c.open();
  Octets requests;
  Octets answers;
  for (int i = 0; i < 50; ++i) {
    put(requests, heartbeat(i));
    put(answers, heartbeat_answer(i));
  }
  c.say(kClientSays, requests, 7);
  c.say(kBrokerSays, answers, 3);
  const Read result = read(c.packets);
  ASSERT_EQ(result.found.all.size(), 50U);
  for (int i = 0; i < 50; ++i) {
    EXPECT_EQ(result.found.all[static_cast<std::size_t>(i)].correlation_id, i);
    EXPECT_EQ(result.found.all[static_cast<std::size_t>(i)].outcome, Exchange::Outcome::answered);
  }
}

TEST(Capture, FramesAreKeptWhereTheyAreWanted) {
  Conversation c = conversation();
  c.open();
  const Octets request = produce(1, -1, 5000);
  const Octets answer = produce_answer(1);
  c.say(kClientSays, request, 100);
  c.say(kBrokerSays, answer, 9);
  protocol::ApiVersionsResponse versions;
  versions.error_code = ErrorCode::unsupported_version;
  c.say(kClientSays, request_frame(protocol::ApiVersionsRequest{}, 4, 2));
  c.say(kBrokerSays, response_frame(versions, 0, 2), 9);
  Read result = read(c.packets, {.ports = {9092}, .keep_frames = true});
  ASSERT_EQ(result.found.all.size(), 2U);
  EXPECT_EQ(result.found.all[0].request.frame, request);
  EXPECT_EQ(result.found.all[0].response.frame, answer);
  EXPECT_EQ(result.found.all[1].response.frame, response_frame(versions, 0, 2));
  result = read(c.packets);
  EXPECT_TRUE(result.found.all[0].request.frame.empty());
}

TEST(Capture, ProduceWithoutAcksWantsNoAnswer) {
  Conversation c = conversation();
  c.open();
  c.say(kClientSays, produce(1, 0, 100));
  c.say(kClientSays, produce(2, 0, 10'000));
  c.say(kClientSays, heartbeat(3));
  c.say(kBrokerSays, heartbeat_answer(3));
  EXPECT_THAT(read(c.packets).found.names(), ElementsAre("0:1-", "0:2-", "12:3"));
}

TEST(Capture, WhatGetsNoAnswerIsSaid) {
  Conversation c = conversation();
  c.open();
  c.say(kClientSays, heartbeat(1));
  c.say(kClientSays, heartbeat(2));
  c.say(kClientSays, heartbeat(3));
  c.say(kBrokerSays, heartbeat_answer(2));
  c.reset(kBrokerSays);
  EXPECT_THAT(read(c.packets).found.names(), ElementsAre("12:1?", "12:2", "12:3?"));
}

TEST(Capture, ConnectionsAreFoundByShape) {
  Conversation kafka(kClient, test::endpoint(2, 5000), 1, 1);
  kafka.open();
  kafka.say(kClientSays, heartbeat(1, std::nullopt));
  kafka.say(kBrokerSays, heartbeat_answer(1));
  Conversation web(test::endpoint(3, 50'000), test::endpoint(4, 9092), 1, 1);
  web.open();
  const std::string get = "GET / HTTP/1.1\r\nHost: example\r\n\r\n";
  web.say(kClientSays, std::span(reinterpret_cast<const std::uint8_t*>(get.data()), get.size()));
  Conversation tls(test::endpoint(5, 50'000), test::endpoint(4, 9093), 1, 1);
  tls.open();
  Octets hello(200, 0x11);
  hello[0] = 0x16;
  hello[1] = 0x03;
  hello[2] = 0x01;
  tls.say(kClientSays, hello);
  std::vector<test::TimedPacket> packets = kafka.packets;
  packets.insert(packets.end(), web.packets.begin(), web.packets.end());
  packets.insert(packets.end(), tls.packets.begin(), tls.packets.end());
  const Read result = read(packets, {});
  EXPECT_THAT(result.found.names(), ElementsAre("12:1"));
  EXPECT_EQ(result.found.all[0].client_id, nullptr);
  EXPECT_EQ(result.counts.connections, 3U);
  EXPECT_EQ(result.counts.kafka_connections, 1U);
  EXPECT_EQ(result.counts.tls_connections, 1U);
}

TEST(Capture, ACaptureThatBeginsLaterFindsTheNextFrames) {
  for (const bool by_port : {true, false}) {
    for (std::size_t cut = 0; cut < 400; cut += 7) {
      SCOPED_TRACE(cut);
      Conversation c = conversation();
      const Octets records = produce(1, -1, 400);
      const Octets answer = produce_answer(1);
      c.say(kClientSays, std::span(records).subspan(std::min(cut, records.size() - 1)), 50);
      c.say(kBrokerSays, std::span(answer).subspan(std::min(cut, answer.size() - 1)), 20);
      for (int i = 2; i < 6; ++i) {
        c.say(kClientSays, heartbeat(i), 50);
        c.say(kBrokerSays, heartbeat_answer(i), 20);
      }
      const Read result = read(c.packets, by_port ? CaptureOptions{.ports = {9092}} : CaptureOptions{});
      if (cut == 0) {
        EXPECT_THAT(result.found.names(), ElementsAre("0:1", "12:2", "12:3", "12:4", "12:5"));
      } else {
        EXPECT_THAT(result.found.names(), ElementsAre("12:2", "12:3", "12:4", "12:5"));
      }
    }
  }
}

TEST(Capture, AGapInsideRecordsLosesNothingElse) {
  Conversation c = conversation();
  c.open();
  const Octets request = produce(1, -1, 10'000);
  c.say(kClientSays, std::span(request).first(3000));
  c.skip(kClientSays, 4000);
  c.say(kClientSays, std::span(request).subspan(7000));
  c.say(kBrokerSays, produce_answer(1, ErrorCode::corrupt_message));
  c.say(kClientSays, heartbeat(2));
  c.say(kBrokerSays, heartbeat_answer(2));
  const Read result = read(c.packets);
  ASSERT_THAT(result.found.names(), ElementsAre("0:1", "12:2"));
  EXPECT_EQ(result.found.all[0].request.missing, 4000U);
  EXPECT_EQ(result.found.all[0].request.fault, nullptr);
  EXPECT_EQ(result.counts.resynchronised, 0U);
  EXPECT_EQ(result.counts.missing_bytes, 4000U);
}

TEST(Capture, AfterAGapOverFramesTheNextOnesAreFound) {
  Conversation c = conversation();
  c.open();
  for (int i = 1; i < 4; ++i) {
    c.say(kClientSays, heartbeat(i));
    c.say(kBrokerSays, heartbeat_answer(i));
  }
  // Lost: the end of a request, a whole one, the beginning of a third; and what was said to them.
  const Octets request = produce(4, -1, 3000);
  const Octets third = produce(6, -1, 3000);
  c.say(kClientSays, std::span(request).first(1000));
  c.skip(kClientSays, request.size() - 1000 + produce(5, -1, 3000).size() + 1000);
  c.say(kClientSays, std::span(third).subspan(1000));
  c.skip(kBrokerSays, 3 * produce_answer(4).size());
  for (int i = 7; i < 10; ++i) {
    c.say(kClientSays, heartbeat(i));
    c.say(kBrokerSays, heartbeat_answer(i));
  }
  const Read result = read(c.packets);
  EXPECT_THAT(result.found.names(), ElementsAre("12:1", "12:2", "12:3", "0:4?", "12:7", "12:8", "12:9"));
  EXPECT_EQ(result.counts.resynchronised, 2U);
}

TEST(Capture, AnswersToWhatTheCaptureLacksAreCounted) {
  Conversation c = conversation();
  c.open();
  c.say(kClientSays, heartbeat(1));
  c.say(kBrokerSays, heartbeat_answer(1));
  c.skip(kClientSays, heartbeat(2).size());
  c.say(kClientSays, heartbeat(3));
  c.say(kBrokerSays, heartbeat_answer(2));
  c.say(kBrokerSays, heartbeat_answer(3));
  const Read result = read(c.packets);
  EXPECT_THAT(result.found.names(), ElementsAre("12:1", "12:3"));
  EXPECT_EQ(result.counts.orphans, 1U);
}

TEST(Capture, UnknownApisAndVersionsAreShownAsSuch) {
  Conversation c = conversation();
  c.open();
  c.say(kClientSays, heartbeat(1));
  c.say(kBrokerSays, heartbeat_answer(1));
  Octets strange = heartbeat(2);
  base::store_be<std::int16_t>(strange.data() + 4, 500);
  c.say(kClientSays, strange);
  c.say(kBrokerSays, heartbeat_answer(2, ErrorCode::rebalance_in_progress));
  Octets newer = heartbeat(3);
  base::store_be<std::int16_t>(newer.data() + 6, 77);
  c.say(kClientSays, newer);
  c.say(kBrokerSays, heartbeat_answer(3, ErrorCode::rebalance_in_progress));
  c.say(kClientSays, heartbeat(4));
  c.say(kBrokerSays, heartbeat_answer(4));
  const Read result = read(c.packets);
  EXPECT_THAT(result.found.names(), ElementsAre("12:1", "500:2", "12:3", "12:4"));
  EXPECT_TRUE(result.found.all[1].errors.empty());
  EXPECT_TRUE(result.found.all[2].errors.empty());
  EXPECT_EQ(result.found.all[2].version, 77);
}

TEST(Capture, AnAnswerToANewerApiVersionsIsReadInVersion0) {
  Conversation c = conversation();
  c.open();
  Octets request = request_frame(protocol::ApiVersionsRequest{}, 4, 1);
  base::store_be<std::int16_t>(request.data() + 6, 9);
  c.say(kClientSays, request);
  protocol::ApiVersionsResponse response;
  response.error_code = ErrorCode::unsupported_version;
  response.api_keys.emplace_back();
  c.say(kBrokerSays, response_frame(response, 0, 1));
  const Read result = read(c.packets, {});
  ASSERT_THAT(result.found.names(), ElementsAre("18:1"));
  EXPECT_EQ(result.found.all[0].response_version, 0);
  EXPECT_EQ(result.found.all[0].response.fault, nullptr);
  EXPECT_THAT(result.found.all[0].errors, ElementsAre(ErrorCount{.code = 35, .top_level = true, .count = 1}));
}

TEST(Capture, BareSaslTokensAreLeftOut) {
  Conversation c = conversation();
  c.open();
  protocol::SaslHandshakeRequest handshake;
  handshake.mechanism = "PLAIN";
  c.say(kClientSays, request_frame(handshake, 0, 1));
  c.say(kBrokerSays, response_frame(protocol::SaslHandshakeResponse{}, 0, 1));
  c.say(kClientSays, Octets{0, 0, 0, 4, 0, 'u', 0, 'p'});
  c.say(kBrokerSays, Octets{0, 0, 0, 0});
  Octets token{0, 0, 0, 40};
  token.resize(44, 0xff);
  c.say(kClientSays, token);
  c.say(kBrokerSays, token);
  c.say(kClientSays, heartbeat(2));
  c.say(kBrokerSays, heartbeat_answer(2));
  const Read result = read(c.packets);
  EXPECT_THAT(result.found.names(), ElementsAre("17:1", "12:2"));
  EXPECT_EQ(result.counts.resynchronised, 0U);
}

TEST(Capture, AMessageThatBreaksItsSchemaIsNamed) {
  Conversation c = conversation();
  c.open();
  c.say(kClientSays, heartbeat(1));
  c.say(kBrokerSays, heartbeat_answer(1));
  c.say(kClientSays, heartbeat(2));
  Octets answer = heartbeat_answer(2);
  answer.back() = 1;  // one tagged field, which is not there
  c.say(kBrokerSays, answer);
  c.say(kClientSays, heartbeat(3));
  c.say(kBrokerSays, heartbeat_answer(3));
  const Read result = read(c.packets);
  ASSERT_THAT(result.found.names(), ElementsAre("12:1", "12:2", "12:3"));
  EXPECT_NE(result.found.all[1].response.fault, nullptr);
  EXPECT_EQ(result.found.all[2].response.fault, nullptr);
}

TEST(Capture, PortsThatAreUsedAgainAreAnotherConnection) {
  std::vector<test::TimedPacket> packets;
  for (std::uint32_t i = 0; i < 3; ++i) {
    Conversation c(kClient, kBroker, 1000 + i * 77'777, 5000 + i * 99'999);
    c.open();
    c.say(kClientSays, heartbeat(static_cast<std::int32_t>(i)));
    if (i != 1) c.say(kBrokerSays, heartbeat_answer(static_cast<std::int32_t>(i)));
    if (i == 0) c.close();
    packets.insert(packets.end(), c.packets.begin(), c.packets.end());
  }
  const Read result = read(packets);
  EXPECT_THAT(result.found.names(), ElementsAre("12:0", "12:1?", "12:2"));
  EXPECT_EQ(result.counts.connections, 3U);
}

TEST(Capture, RandomTalkIsReadWholeWhateverHappensToItsPackets) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random(seed);
    Conversation c(kClient, kBroker, static_cast<std::uint32_t>(random()), static_cast<std::uint32_t>(random()));
    c.open();
    std::vector<std::string> expected;
    for (int i = 0; i < 40; ++i) {
      const bool silent = random() % 5 == 0;
      const bool large = silent || random() % 2 == 0;
      const std::size_t most = 1 + random() % 1500;
      c.say(kClientSays, large ? produce(i, silent ? 0 : -1, random() % 4000) : heartbeat(i), most);
      if (!silent) c.say(kBrokerSays, large ? produce_answer(i) : heartbeat_answer(i), 1 + random() % 60);
      expected.push_back((large ? "0:" : "12:") + std::to_string(i) + (silent ? "-" : ""));
    }
    // Sent again, later; the directions keep their distance, as acknowledgements make them.
    std::vector<test::TimedPacket> packets;
    for (std::size_t i = 0; i < c.packets.size(); ++i) {
      packets.push_back(c.packets[i]);
      if (i > 3 && random() % 4 == 0) packets.push_back(c.packets[i - random() % 3]);
      if (i > 3 && random() % 4 == 0) {
        auto& last = packets[packets.size() - 1];
        auto& before = packets[packets.size() - 2];
        // Only of the same direction.
        if (last.bytes[15] == before.bytes[15]) std::swap(last, before);
      }
    }
    const Read whole = read(packets, seed % 2 == 0 ? CaptureOptions{} : CaptureOptions{.ports = {9092}});
    EXPECT_EQ(whole.found.names(), expected);
    EXPECT_EQ(whole.counts.gaps, 0U);
    for (const Exchange& e : whole.found.all) EXPECT_TRUE(e.request.fault == nullptr && e.response.fault == nullptr);

    // With packets lost: what is listed as whole has been said so.
    std::erase_if(packets, [&](const auto&) { return random() % 30 == 0; });
    const Read holed = read(packets);
    std::size_t at = 0;
    for (const std::string& name : holed.found.names()) {
      std::string said = name;
      std::erase(said, '?');
      const auto it =
          std::ranges::find_if(expected, [&](const std::string& e) { return e == said || e == said + "-"; });
      EXPECT_NE(it, expected.end()) << name;
      ++at;
    }
    EXPECT_GT(at, expected.size() / 3);
  }
}

TEST(Capture, ConnectionsAreBounded) {
  Collected found;
  Capture capture(Catalog::built_in(), {.ports = {9092}}, found);
  for (std::uint32_t i = 0; i < Capture::kMostConnections + 10; ++i) {
    Endpoint client = kClient;
    base::store_be(client.address.data() + 12, 0x0a000000U + i);
    capture.packet(1, LinkType::raw_ip,
                   test::tcp_packet(client, kBroker, 1, 1, {}, heartbeat(static_cast<std::int32_t>(i))));
  }
  // The oldest went, and said what it had.
  EXPECT_EQ(found.all.size(), 10U);
  capture.finish();
  EXPECT_EQ(found.all.size(), Capture::kMostConnections + 10);
}

}  // namespace
}  // namespace thalweg::inspect
