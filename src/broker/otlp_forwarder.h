// OtlpForwarder: hands what clients push on to a collector, by OTLP over HTTP. One of the broker; it lives on the first
// core and is touched nowhere else, but for its counters.
//
// Pushes gather for a moment and go out together. What the collector cannot take now is tried again, ever more slowly;
// meanwhile a bounded queue fills, and beyond that pushes are dropped and counted. Clients notice nothing of it.
//
// source: the OTLP specification, section OTLP/HTTP
#pragma once

#include <atomic>
#include <boost/beast/core/tcp_stream.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "broker/metrics.h"
#include "broker/otlp_endpoint.h"
#include "runtime/await.h"
#include "runtime/core.h"
#include "runtime/random.h"

namespace thalweg::broker {

class OtlpForwarder {
 public:
  struct Metrics {
    Counter sent;     // pushes that the collector has taken
    Counter dropped;  // pushes that it never got: no room, refused, or tried too often
    Counter retries;
    std::atomic<std::int64_t> queued_bytes{0};
  };

  OtlpForwarder(runtime::Core& core, OtlpEndpoint endpoint, std::uint64_t seed);
  OtlpForwarder(const OtlpForwarder&) = delete;
  OtlpForwarder& operator=(const OtlpForwarder&) = delete;

  // Begins to send; on its core.
  void start();
  // Takes an encoded MetricsData; on its core.
  void add(std::string metrics);
  // Ends what is under way, and sends nothing more; on its core.
  void stop();
  [[nodiscard]] const Metrics& metrics() const { return metrics_; }

 private:
  enum class Outcome { taken, refused, later };
  using Stream = boost::beast::tcp_stream;

  struct Batch {
    std::string body;
    std::int64_t pushes = 0;
  };

  runtime::Awaitable<void> run();
  // What has gathered, as far as one request may carry it.
  Batch take_batch();
  // Sends the batch until the collector has taken or refused it.
  runtime::Awaitable<void> send(const Batch& batch, std::shared_ptr<Stream>& stream);
  runtime::Awaitable<Outcome> attempt(const std::string& body, std::shared_ptr<Stream>& stream);
  runtime::Awaitable<bool> connect(Stream& stream);
  runtime::Awaitable<void> wait_for_work();
  void log_once(const std::string& what);

  runtime::Core& core_;
  const OtlpEndpoint endpoint_;
  runtime::Random random_;
  Metrics metrics_;
  std::deque<std::string> queue_;
  runtime::Resume<int> idle_;
  std::weak_ptr<Stream> stream_;  // of run(), to end it
  bool failing_ = false;
  bool stopped_ = false;
};

}  // namespace thalweg::broker
