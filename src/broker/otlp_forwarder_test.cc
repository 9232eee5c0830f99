#include "broker/otlp_forwarder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <future>
#include <mutex>
#include <thread>
#include <vector>

namespace thalweg::broker {
namespace {

namespace http = boost::beast::http;
using boost::asio::ip::tcp;
using testing::ElementsAre;

TEST(OtlpEndpoint, ReadsWhatIsAllowedAndNothingElse) {
  const auto read = [](std::string_view url) {
    const auto endpoint = OtlpEndpoint::parse(url);
    return endpoint ? endpoint->host + "|" + endpoint->port + "|" + endpoint->target : "refused";
  };
  EXPECT_EQ(read("http://localhost"), "localhost|4318|/v1/metrics");
  EXPECT_EQ(read("http://localhost/"), "localhost|4318|/v1/metrics");
  EXPECT_EQ(read("http://10.0.0.1:80/otlp?x=1"), "10.0.0.1|80|/otlp?x=1");
  EXPECT_EQ(read("http://[::1]:4318/v1/metrics"), "::1|4318|/v1/metrics");
  EXPECT_EQ(read("http://[::1]"), "::1|4318|/v1/metrics");
  for (const char* const wrong :
       {"", "localhost", "https://localhost", "http://", "http://:80", "http://a:", "http://a:b", "http://a:123456",
        "http://[::1", "http://[::1]x", "http://a b", "http://a/\r\nHost: b"})
    EXPECT_EQ(read(wrong), "refused") << wrong;
}

// Answers one request after the other with the statuses it is told, on a thread of its own.
class Collector {
 public:
  explicit Collector(std::vector<unsigned> statuses) : statuses_(std::move(statuses)), thread_([this] { serve(); }) {}
  ~Collector() { thread_.join(); }
  [[nodiscard]] OtlpEndpoint endpoint() const {
    return {.host = "127.0.0.1", .port = std::to_string(acceptor_.local_endpoint().port()), .target = "/v1/metrics"};
  }
  // Waits for the end; the bodies that came.
  std::vector<std::string> bodies() {
    done_.get_future().wait();
    return bodies_;
  }

 private:
  void serve() {
    while (bodies_.size() < statuses_.size()) {
      tcp::socket socket = acceptor_.accept();
      boost::beast::flat_buffer buffer;
      http::request<http::string_body> request;
      boost::system::error_code error;
      http::read(socket, buffer, request, error);
      if (error) continue;
      EXPECT_EQ(request.target(), "/v1/metrics");
      EXPECT_EQ(request[http::field::content_type], "application/x-protobuf");
      http::response<http::string_body> answer(static_cast<http::status>(statuses_[bodies_.size()]), 11);
      answer.keep_alive(false);
      answer.prepare_payload();
      bodies_.push_back(request.body());
      http::write(socket, answer, error);
    }
    done_.set_value();
  }

  boost::asio::io_context context_;
  tcp::acceptor acceptor_{context_, {tcp::v4(), 0}};
  std::vector<unsigned> statuses_;
  std::vector<std::string> bodies_;
  std::promise<void> done_;
  std::thread thread_;
};

class OtlpForwarderTest : public testing::Test {
 protected:
  ~OtlpForwarderTest() override {
    if (!forwarder_) return;
    on_core([this] { forwarder_->stop(); });
    core_.stop();
  }
  void start(OtlpEndpoint endpoint) {
    core_.start("test");
    forwarder_.emplace(core_, std::move(endpoint), 1);
    on_core([this] { forwarder_->start(); });
  }
  void on_core(const std::function<void()>& work) {
    std::promise<void> done;
    core_.post([&] {
      work();
      done.set_value();
    });
    done.get_future().wait();
  }
  // Waits until as many pushes have come to their end.
  void settled(std::int64_t pushes) {
    const OtlpForwarder::Metrics& metrics = forwarder_->metrics();
    while (metrics.sent.value() + metrics.dropped.value() < pushes) on_core([] {});
  }

  base::SystemClock clock_;
  std::optional<OtlpForwarder> forwarder_;
  runtime::Core core_{0, clock_};
};

TEST_F(OtlpForwarderTest, WhatGathersGoesOutTogether) {
  Collector collector({200});
  start(collector.endpoint());
  on_core([this] {
    for (const char* const part : {"a", "b", "c"}) forwarder_->add(part);
  });
  EXPECT_THAT(collector.bodies(), ElementsAre("abc"));
  settled(3);
  EXPECT_EQ(forwarder_->metrics().sent.value(), 3);
  EXPECT_EQ(forwarder_->metrics().queued_bytes.load(), 0);
}

TEST_F(OtlpForwarderTest, ACollectorThatCannotNowIsAskedAgain) {
  Collector collector({503, 429, 200});
  start(collector.endpoint());
  on_core([this] { forwarder_->add("a"); });
  EXPECT_THAT(collector.bodies(), ElementsAre("a", "a", "a"));
  settled(1);
  EXPECT_EQ(forwarder_->metrics().retries.value(), 2);
  EXPECT_EQ(forwarder_->metrics().sent.value(), 1);
}

TEST_F(OtlpForwarderTest, WhatTheCollectorRefusesIsDroppedAndTheNextIsSent) {
  Collector collector({400, 200});
  start(collector.endpoint());
  on_core([this] { forwarder_->add("a"); });
  settled(1);
  on_core([this] { forwarder_->add("b"); });
  EXPECT_THAT(collector.bodies(), ElementsAre("a", "b"));
  settled(2);
  EXPECT_EQ(forwarder_->metrics().dropped.value(), 1);
  EXPECT_EQ(forwarder_->metrics().sent.value(), 1);
}

TEST_F(OtlpForwarderTest, TheQueueIsBoundedAndWhatIsBeyondIsCounted) {
  // Nobody listens there: the port was free a moment ago.
  boost::asio::io_context context;
  const auto port = tcp::acceptor(context, {tcp::v4(), 0}).local_endpoint().port();
  start({.host = "127.0.0.1", .port = std::to_string(port), .target = "/"});
  on_core([this] {
    for (int i = 0; i < 20; ++i) forwarder_->add(std::string(1 << 20, 'x'));
  });
  EXPECT_EQ(forwarder_->metrics().dropped.value(), 4);
  EXPECT_LE(forwarder_->metrics().queued_bytes.load(), 16 << 20);
}

}  // namespace
}  // namespace thalweg::broker
