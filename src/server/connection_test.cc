// What every connection does, whoever is at its other end.
#include <gtest/gtest.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "protocol/messages/api_versions_request.h"
#include "protocol/messages/api_versions_response.h"
#include "protocol/messages/metadata_request.h"
#include "protocol/messages/produce_request.h"
#include "protocol/messages/produce_response.h"
#include "protocol/record_batch_builder.h"
#include "server/connection_test_util.h"

namespace thalweg::server {
namespace {

using protocol::Bytes;

protocol::ProduceRequest produce_request(std::int32_t partition, std::size_t value_size) {
  protocol::RecordBatchBuilder builder(protocol::BatchOptions{});
  const std::string value(value_size, 'v');
  protocol::RecordInput record;
  record.timestamp = 1'700'000'000'000;
  record.value = std::span(reinterpret_cast<const std::uint8_t*>(value.data()), value.size());
  builder.append(record);
  protocol::ProduceRequest request;
  request.acks = -1;
  request.timeout_ms = 1000;
  auto& topic = request.topic_data.emplace_back();
  topic.name = "t";
  auto& data = topic.partition_data.emplace_back();
  data.index = partition;
  data.records = protocol::Records(builder.build());
  return request;
}

TEST_F(ConnectionTest, AFrameCutAnywhereIsAnsweredTheSame) {
  const std::string request = frame(protocol::ApiVersionsRequest{}, 0, 7);
  std::string whole;
  for (std::size_t cut = 0; cut < request.size(); ++cut) {
    Client client = connect();
    on_core([&] { client.stream->push(std::string_view(request).substr(0, cut)); });
    on_core([&] { client.stream->push(std::string_view(request).substr(cut)); });
    wait_until(client, [&] { return answers(client.stream->output()).size() == 1; });
    if (cut == 0) whole = client.stream->output();
    EXPECT_EQ(client.stream->output(), whole) << "cut at " << cut;
    hang_up(client);
  }
}

TEST_F(ConnectionTest, AnswersLeaveInTheOrderOfTheRequests) {
  Client client = connect();
  protocol::MetadataRequest metadata;
  metadata.topics.emplace().emplace_back().name = protocol::TopicName("t");
  std::string all = frame(metadata, 9, 0);
  for (std::int32_t i = 1; i <= 40; ++i)
    all += i % 10 == 0 ? frame(metadata, 9, i) : frame(produce_request(i % 4, 100), 9, i);
  on_core([&] { client.stream->push(all); });
  wait_until(client, [&] { return answers(client.stream->output()).size() == 41; });
  std::vector<std::int32_t> expected;
  for (std::int32_t i = 0; i <= 40; ++i) expected.push_back(i);
  EXPECT_EQ(answers(client.stream->output()), expected);
  hang_up(client);
}

TEST_F(ConnectionTest, AFrameLargerThanABlockArrivesInPieces) {
  Client client = connect();
  protocol::MetadataRequest metadata;
  metadata.topics.emplace().emplace_back().name = protocol::TopicName("t");
  const std::string large = frame(produce_request(1, 300'000), 9, 2);
  on_core([&] { client.stream->push(frame(metadata, 9, 1)); });
  for (std::size_t at = 0; at < large.size(); at += 50'000)
    on_core([&] { client.stream->push(std::string_view(large).substr(at, 50'000)); });
  wait_until(client, [&] { return answers(client.stream->output()).size() == 2; });
  EXPECT_EQ(broker_->shard(0).metrics().bytes_in_flight.load(), 0);
  hang_up(client);
}

TEST_F(ConnectionTest, APeerThatReadsSlowlyGetsEverythingInTheEnd) {
  Client client = connect();
  on_core([&] {
    client.stream->take(3);
    for (std::int32_t i = 0; i < 5; ++i) client.stream->push(frame(protocol::ApiVersionsRequest{}, 0, i));
  });
  bool all = false;
  for (int i = 0; i < 2000 && !all; ++i) {
    on_core([&] {
      client.stream->take(11);
      all = answers(client.stream->output()).size() == 5;
    });
  }
  wait_until(client, [&] { return answers(client.stream->output()).size() == 5; });
  hang_up(client);
}

TEST_F(ConnectionTest, AFutureApiVersionsIsToldTheRangeAndStays) {
  Client client = connect();
  on_core([&] {
    std::string future = frame(protocol::ApiVersionsRequest{}, 3, 1);
    future[7] = 99;  // the version's low byte
    client.stream->push(future);
  });
  wait_until(client, [&] { return answers(client.stream->output()).size() == 1; });
  const Bytes body = Bytes::copy_of(std::string_view(client.stream->output()).substr(8));
  protocol::Reader reader(body);
  protocol::ApiVersionsResponse response;
  response.decode(reader, 0);
  EXPECT_TRUE(reader.ok());
  EXPECT_EQ(response.error_code, protocol::ErrorCode::unsupported_version);
  ASSERT_EQ(response.api_keys.size(), 1U);
  EXPECT_EQ(response.api_keys[0].api_key, 18);
  on_core([&] { client.stream->push(frame(protocol::ApiVersionsRequest{}, 0, 2)); });
  wait_until(client, [&] { return answers(client.stream->output()).size() == 2; });
  hang_up(client);
}

TEST_F(ConnectionTest, WhatCannotBeReadEndsTheConnection) {
  const std::string good = frame(protocol::MetadataRequest{}, 9, 1);
  for (const std::string& bad : {std::string("\x7f\xff\xff\xff", 4), std::string("\xff\xff\xff\xff", 4),
                                 std::string("\0\0\0\2\0\3", 6), good.substr(0, 4) + "\x7f\x7f" + good.substr(6)}) {
    Client client = connect();
    on_core([&] { client.stream->push(bad); });
    wait_until(client, [&] { return client.stream->closed(); });
    EXPECT_TRUE(client.stream->output().empty());
  }
}

}  // namespace
}  // namespace thalweg::server
