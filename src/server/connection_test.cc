// A connection over a stream in memory, served by a real broker in a temporary folder.
#include "server/connection.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <future>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "broker/broker.h"
#include "config/load.h"
#include "protocol/messages/api_versions_request.h"
#include "protocol/messages/api_versions_response.h"
#include "protocol/messages/metadata_request.h"
#include "protocol/messages/produce_request.h"
#include "protocol/messages/produce_response.h"
#include "protocol/record_batch_builder.h"

namespace thalweg::server {
namespace {

using protocol::Bytes;
using runtime::Awaitable;

// What a client writes and reads, without a socket. All on one core, but for what the test waits for.
class MemoryStream final : public runtime::Stream {
 public:
  Awaitable<bool> readable() override {
    if (!input_.empty() || ended_) co_return !closed_;
    co_return co_await runtime::suspend<bool>([this](runtime::Resume<bool> resume) { reader_ = std::move(resume); });
  }
  runtime::StreamResult<std::size_t> read_now(std::span<std::uint8_t> into) override {
    if (input_.empty() && ended_) return std::unexpected(runtime::StreamFault{"end of stream"});
    const std::size_t n = std::min(into.size(), input_.size());
    std::memcpy(into.data(), input_.data(), n);
    input_.erase(0, n);
    return n;
  }
  runtime::StreamResult<std::uint64_t> write_now(const base::BufferChain& chain, std::uint64_t from) override {
    const Bytes bytes = chain.flatten().slice(from);
    const std::size_t n = std::min(bytes.size(), takes_);
    takes_ -= n;
    output_.append(bytes.first(n).view());
    if (on_output_) on_output_();
    return n;
  }
  Awaitable<bool> writable() override {
    co_return co_await runtime::suspend<bool>([this](runtime::Resume<bool> resume) { writer_ = std::move(resume); });
  }
  void close() override {
    closed_ = ended_ = true;
    if (reader_) std::exchange(reader_, nullptr)(false);
    if (writer_) std::exchange(writer_, nullptr)(false);
    if (on_output_) on_output_();
  }
  [[nodiscard]] const std::string& peer() const override { return peer_; }
  [[nodiscard]] const std::string& peer_host() const override { return host_; }

  void push(std::string_view bytes) {
    input_ += bytes;
    if (reader_) std::exchange(reader_, nullptr)(true);
  }
  void end() {
    ended_ = true;
    if (reader_) std::exchange(reader_, nullptr)(true);
  }
  // How many bytes the peer takes from now on.
  void take(std::size_t bytes) {
    takes_ = bytes;
    if (writer_) std::exchange(writer_, nullptr)(true);
  }
  [[nodiscard]] const std::string& output() const { return output_; }
  [[nodiscard]] bool closed() const { return closed_; }
  void on_output(std::function<void()> callback) { on_output_ = std::move(callback); }

 private:
  std::string input_;
  std::string output_;
  bool ended_ = false;
  bool closed_ = false;
  std::size_t takes_ = SIZE_MAX;
  runtime::Resume<bool> reader_;
  runtime::Resume<bool> writer_;
  std::function<void()> on_output_;
  const std::string peer_ = "test:1";
  const std::string host_ = "test";
};

class ConnectionTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "thalweg-connection-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    auto config = config::load_broker_config(
        {.file = std::nullopt, .overrides = {"log.dirs=" + folder_, "thalweg.cores=2", "num.partitions=4"}});
    ASSERT_TRUE(config) << config.error();
    auto settings = broker::Settings::read(*config);
    ASSERT_TRUE(settings) << settings.error();
    files_ = runtime::make_system_file_system();
    broker_ = std::make_unique<broker::Broker>(broker::Broker::Environment{clock_, *files_}, std::move(*settings),
                                               std::move(*config));
    const auto started = broker_->start();
    ASSERT_TRUE(started) << started.error();
    broker_->set_advertised({{.listener = "PLAINTEXT", .host = "localhost", .port = 9092}});
    in_flight_ = std::make_unique<InFlightBytes>(1 << 20, broker_->core(0), broker_->shard(0).metrics());
  }
  void TearDown() override {
    if (broker_) broker_->stop();
    broker_.reset();
    std::filesystem::remove_all(folder_);
  }

  // Runs `work(stream)` on the core once a connection serves it, then waits until `done(stream)` says so.
  struct Client {
    MemoryStream* stream = nullptr;
    std::shared_ptr<Connection> connection;
  };
  Client connect() {
    auto stream = std::make_unique<MemoryStream>();
    Client client{.stream = stream.get(), .connection = nullptr};
    client.connection = std::make_shared<Connection>(broker_->shard(0), *in_flight_, Connection::Limits{}, listener_,
                                                     std::move(stream));
    broker_->core(0).spawn(serve(client.connection));
    return client;
  }
  static Awaitable<void> serve(std::shared_ptr<Connection> connection) { co_await connection->serve(); }
  void on_core(const std::function<void()>& work) {
    std::promise<void> done;
    broker_->core(0).post([&] {
      work();
      done.set_value();
    });
    done.get_future().get();
  }
  // Waits until the condition holds, looking whenever something was written.
  void wait_until(Client& client, const std::function<bool()>& condition) {
    std::promise<void> done;
    bool told = false;
    on_core([&] {
      const auto look = [&] {
        if (!told && condition()) {
          told = true;
          done.set_value();
        }
      };
      client.stream->on_output(look);
      look();
    });
    const auto status = done.get_future().wait_for(std::chrono::seconds(20));
    on_core([&] { client.stream->on_output(nullptr); });
    ASSERT_EQ(status, std::future_status::ready);
  }
  void hang_up(Client& client) {
    on_core([&] { client.stream->end(); });
    wait_until(client, [&] { return client.stream->closed(); });
  }

  base::SystemClock clock_;
  std::string folder_;
  std::unique_ptr<runtime::FileSystem> files_;
  std::unique_ptr<broker::Broker> broker_;
  std::unique_ptr<InFlightBytes> in_flight_;
  broker::ListenerInfo listener_{.name = "PLAINTEXT", .security_protocol = "PLAINTEXT"};
};

template <class Request>
std::string frame(const Request& request, int version, std::int32_t correlation_id) {
  protocol::Writer writer;
  writer.fixed(std::int32_t{0});
  writer.fixed(static_cast<std::int16_t>(Request::kApiKey));
  writer.fixed(static_cast<std::int16_t>(version));
  writer.fixed(correlation_id);
  writer.string("test", false);
  if (version >= Request::kFirstFlexibleVersion) writer.uvarint(0);
  request.encode(writer, version);
  writer.patch_first_int32(static_cast<std::int32_t>(writer.size() - 4));
  return std::string(std::move(writer).finish().flatten().view());
}

// Correlation ids of the whole answers in a stream of them.
std::vector<std::int32_t> answers(const std::string& output) {
  std::vector<std::int32_t> ids;
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(output.data());
  for (std::size_t at = 0; at + 8 <= output.size();) {
    const std::size_t size = 4 + static_cast<std::size_t>(base::load_be<std::int32_t>(bytes + at));
    if (at + size > output.size()) break;
    ids.push_back(base::load_be<std::int32_t>(bytes + at + 4));
    at += size;
  }
  return ids;
}

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
