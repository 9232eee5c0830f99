// A connection over a stream in memory, served by a real broker in a temporary folder: for tests.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/endian.h"
#include "broker/broker.h"
#include "config/load.h"
#include "protocol/wire.h"
#include "server/connection.h"

namespace thalweg::server {

// What a client writes and reads, without a socket. All on one core, but for what the test waits for.
class MemoryStream final : public runtime::Stream {
 public:
  runtime::Awaitable<bool> readable() override {
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
    const base::Bytes bytes = chain.flatten().slice(from);
    const std::size_t n = std::min(bytes.size(), takes_);
    takes_ -= n;
    output_.append(bytes.first(n).view());
    if (on_output_) on_output_();
    return n;
  }
  runtime::Awaitable<bool> writable() override {
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

// The machine's time, which a test can set forward.
class ShiftedClock final : public base::Clock {
 public:
  [[nodiscard]] base::SteadyTime steady() const override { return machine_.steady() + shift_.load(); }
  [[nodiscard]] std::int64_t wall_ms() const override { return machine_.wall_ms() + shift_.load().count(); }
  void set_forward(std::chrono::milliseconds by) { shift_ = shift_.load() + by; }

 private:
  base::SystemClock machine_;
  std::atomic<std::chrono::milliseconds> shift_{std::chrono::milliseconds(0)};
};

class ConnectionTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "thalweg-connection-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
    std::vector<std::string> overrides = {"log.dirs=" + folder_, "thalweg.cores=2", "num.partitions=4"};
    for (const std::string& override : more_overrides()) overrides.push_back(override);
    auto config = config::load_broker_config({.file = std::nullopt, .overrides = overrides});
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
    // A connection that is served holds itself, and ends only once it is closed.
    for (const auto& connection : connections_) {
      on_core([&] {
        if (const auto open = connection.lock()) open->close();
      });
      while (!connection.expired()) on_core([] {});
    }
    if (broker_) broker_->stop();
    broker_.reset();
    std::filesystem::remove_all(folder_);
  }

  // Settings of a test's own.
  [[nodiscard]] virtual std::vector<std::string> more_overrides() const { return {}; }

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
    connections_.push_back(client.connection);
    broker_->core(0).spawn(serve(client.connection));
    return client;
  }
  static runtime::Awaitable<void> serve(std::shared_ptr<Connection> connection) { co_await connection->serve(); }
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

  std::vector<std::weak_ptr<Connection>> connections_;
  ShiftedClock clock_;
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
inline std::vector<std::int32_t> answers(const std::string& output) {
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

}  // namespace thalweg::server
