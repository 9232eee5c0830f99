#include "broker/otlp_forwarder.h"

#include <algorithm>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <utility>

#include "base/log.h"

namespace thalweg::broker {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using runtime::Awaitable;

namespace {

constexpr std::string_view kArea = "telemetry";
constexpr std::size_t kMostQueuedBytes = 16 << 20;
constexpr std::size_t kMostBatchBytes = 1 << 20;
constexpr std::chrono::milliseconds kGather{200};
constexpr std::chrono::seconds kRequestTimeout{10};
constexpr std::chrono::milliseconds kFirstPause{250};
constexpr std::chrono::milliseconds kLongestPause{30'000};
constexpr int kMostAttempts = 12;  // some three minutes
constexpr std::uint64_t kMostAnswerBytes = 64 * 1024;

constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);

}  // namespace

base::Result<OtlpEndpoint, std::string> OtlpEndpoint::parse(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  const auto fault = [] { return std::unexpected(std::string("must be http://HOST[:PORT][/PATH]")); };
  if (!url.starts_with(kScheme)) return fault();
  url.remove_prefix(kScheme.size());
  const std::size_t slash = std::min(url.find('/'), url.size());
  std::string_view authority = url.substr(0, slash);
  const std::string_view path = url.substr(slash);
  OtlpEndpoint endpoint{.host = {}, .port = "4318", .target = std::string(path.size() > 1 ? path : "/v1/metrics")};
  if (authority.starts_with('[')) {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return fault();
    endpoint.host = authority.substr(1, end - 1);
    authority.remove_prefix(end + 1);
  } else {
    const std::size_t colon = std::min(authority.find(':'), authority.size());
    endpoint.host = authority.substr(0, colon);
    authority.remove_prefix(colon);
  }
  if (!authority.empty()) endpoint.port = authority.substr(1);
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const bool is_port = (authority.empty() || authority.front() == ':') && !endpoint.port.empty() &&
                       endpoint.port.size() <= 5 && std::ranges::all_of(endpoint.port, is_digit);
  const auto is_plain = [](char c) { return c > ' ' && c <= '~'; };
  if (endpoint.host.empty() || !is_port || !std::ranges::all_of(endpoint.host, is_plain) ||
      !std::ranges::all_of(endpoint.target, is_plain))
    return fault();
  return endpoint;
}

OtlpForwarder::OtlpForwarder(runtime::Core& core, OtlpEndpoint endpoint, std::uint64_t seed)
    : core_(core), endpoint_(std::move(endpoint)), random_(seed) {}

void OtlpForwarder::start() { core_.spawn(run()); }

void OtlpForwarder::add(std::string metrics) {
  if (stopped_ || static_cast<std::size_t>(metrics_.queued_bytes.load()) + metrics.size() > kMostQueuedBytes)
    return metrics_.dropped.add();
  metrics_.queued_bytes += static_cast<std::int64_t>(metrics.size());
  queue_.push_back(std::move(metrics));
  if (idle_) std::exchange(idle_, nullptr)(0);
}

void OtlpForwarder::stop() {
  stopped_ = true;
  if (const auto stream = stream_.lock()) stream->close();
  if (idle_) std::exchange(idle_, nullptr)(0);
}

Awaitable<void> OtlpForwarder::wait_for_work() {
  if (queue_.empty() && !stopped_)
    co_await runtime::suspend<int>([this](runtime::Resume<int> resume) { idle_ = std::move(resume); });
}

OtlpForwarder::Batch OtlpForwarder::take_batch() {
  // An ExportMetricsServiceRequest is encoded as a MetricsData is, and two behind each other are one with what both
  // hold.
  Batch batch;
  while (!queue_.empty() && (batch.pushes == 0 || batch.body.size() + queue_.front().size() <= kMostBatchBytes)) {
    batch.body += queue_.front();
    metrics_.queued_bytes -= static_cast<std::int64_t>(queue_.front().size());
    queue_.pop_front();
    ++batch.pushes;
  }
  return batch;
}

Awaitable<void> OtlpForwarder::run() {
  std::shared_ptr<Stream> stream;
  while (!stopped_) {
    co_await wait_for_work();
    if (stopped_) break;
    co_await runtime::sleep_until(core_, core_.clock().steady() + kGather);
    const Batch batch = take_batch();
    if (batch.pushes > 0) co_await send(batch, stream);
  }
}

Awaitable<void> OtlpForwarder::send(const Batch& batch, std::shared_ptr<Stream>& stream) {
  std::chrono::milliseconds pause = kFirstPause;
  for (int attempts = 1; !stopped_; ++attempts) {
    const Outcome outcome = co_await attempt(batch.body, stream);
    if (outcome == Outcome::taken) {
      metrics_.sent.add(batch.pushes);
      if (std::exchange(failing_, false)) LOG_INFO(kArea, "the OTLP collector takes metrics again");
      co_return;
    }
    if (outcome == Outcome::refused || attempts == kMostAttempts) break;
    metrics_.retries.add();
    // Between half and the whole of it, so that brokers do not come back all at once.
    const auto half = static_cast<std::uint64_t>(pause.count()) / 2;
    const std::chrono::milliseconds wait(static_cast<std::int64_t>(half + random_.below(half + 1)));
    co_await runtime::sleep_until(core_, core_.clock().steady() + wait);
    pause = std::min(pause * 2, kLongestPause);
  }
  metrics_.dropped.add(batch.pushes);
}

void OtlpForwarder::log_once(const std::string& what) {
  if (stopped_ || std::exchange(failing_, true)) return;
  LOG_WARN(kArea, "the OTLP collector http://{}:{}{} does not take metrics: {}", endpoint_.host, endpoint_.port,
           endpoint_.target, what);
}

Awaitable<bool> OtlpForwarder::connect(Stream& stream) {
  tcp::resolver resolver(core_.context());
  const auto [unknown, found] = co_await resolver.async_resolve(endpoint_.host, endpoint_.port, kAsTuple);
  if (unknown) {
    log_once(unknown.message());
    co_return false;
  }
  const auto [refused, where] = co_await stream.async_connect(found, kAsTuple);
  if (refused) log_once(refused.message());
  co_return !refused;
}

Awaitable<OtlpForwarder::Outcome> OtlpForwarder::attempt(const std::string& body, std::shared_ptr<Stream>& stream) {
  const bool is_reused = stream != nullptr;
  if (!is_reused) {
    stream = std::make_shared<Stream>(core_.context());
    stream_ = stream;
    stream->expires_after(kRequestTimeout);
    if (!co_await connect(*stream)) {
      stream.reset();
      co_return Outcome::later;
    }
  }
  http::request<http::string_body> request(http::verb::post, endpoint_.target, 11, body);
  request.set(http::field::host, endpoint_.host + ":" + endpoint_.port);
  request.set(http::field::user_agent, "thalweg");
  request.set(http::field::content_type, "application/x-protobuf");
  request.prepare_payload();
  stream->expires_after(kRequestTimeout);
  const auto [not_sent, sent] = co_await http::async_write(*stream, request, kAsTuple);
  beast::flat_buffer buffer;
  http::response_parser<http::string_body> answer;
  answer.body_limit(kMostAnswerBytes);
  boost::system::error_code error = not_sent;
  if (!error) {
    const auto [not_read, read] = co_await http::async_read(*stream, buffer, answer, kAsTuple);
    error = not_read;
  }
  if (error) {
    stream.reset();
    // A connection that was idle may have ended meanwhile, which is nobody's fault.
    if (is_reused && !stopped_) co_return co_await attempt(body, stream);
    log_once(error.message());
    co_return Outcome::later;
  }
  if (!answer.get().keep_alive()) stream.reset();
  const unsigned status = answer.get().result_int();
  if (status / 100 == 2) co_return Outcome::taken;
  log_once("HTTP status " + std::to_string(status));
  const bool may_try_again = status == 429 || status == 502 || status == 503 || status == 504;
  co_return may_try_again ? Outcome::later : Outcome::refused;
}

}  // namespace thalweg::broker
