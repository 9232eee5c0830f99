#include "server/server.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/ip/v6_only.hpp>
#include <chrono>
#include <future>
#include <thread>
#include <utility>

#include "base/log.h"
#include "runtime/tcp_stream.h"

namespace thalweg::server {

namespace asio = boost::asio;
using asio::ip::tcp;
using runtime::Awaitable;

namespace {

constexpr std::string_view kArea = "server";

std::string machine_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? std::string(name.data()) : "localhost";
}

std::string url_of(const broker::ListenerInfo& info, const std::string& host, std::uint16_t port) {
  const bool six = host.find(':') != std::string::npos;
  return info.name + "://" + (six ? "[" + host + "]" : host) + ":" + std::to_string(port);
}

base::LogLimiter& handshake_limiter() {
  static thread_local base::LogLimiter limiter(1000);
  return limiter;
}

void log_failed_handshake(const runtime::TlsStream& stream, const std::string& listener, const std::string& why,
                          std::int64_t now_ms) {
  // Who connects and says nothing looks whether the port is open.
  if (!stream.heard_anything()) {
    LOG_DEBUG(kArea, "{} ({}): no TLS handshake: {}", stream.peer(), listener, why);
    return;
  }
  std::uint64_t suppressed = 0;
  if (handshake_limiter().allow(now_ms, suppressed))
    LOG_INFO(kArea, "TLS handshake with {} ({}) failed: {}{}", stream.peer(), listener, why,
             suppressed == 0 ? std::string() : fmt::format(" ({} more not shown)", suppressed));
}

}  // namespace

Server::Server(broker::Broker& broker) : broker_(broker) {}

Server::~Server() = default;

base::Result<void, std::string> Server::bind() {
  for (const config::Endpoint& endpoint : broker_.settings().listeners.bound) TRY(bind_one(endpoint));
  std::vector<broker::AdvertisedEndpoint> advertised;
  for (const config::Endpoint& endpoint : broker_.settings().listeners.advertised) {
    const auto bound = std::ranges::find_if(
        listeners_, [&](const auto& listener) { return listener->info.name == endpoint.listener; });
    if (bound == listeners_.end()) continue;
    std::int32_t port = endpoint.port;
    if (port == 0) port = (*bound)->acceptor.local_endpoint().port();
    advertised.push_back(
        {.listener = endpoint.listener, .host = endpoint.host.empty() ? machine_name() : endpoint.host, .port = port});
  }
  broker_.set_advertised(std::move(advertised));
  return {};
}

base::Result<void, std::string> Server::bind_one(const config::Endpoint& endpoint) {
  const broker::ListenerInfo info{.name = endpoint.listener,
                                  .security_protocol = std::string(config::protocol_name(endpoint.protocol))};
  const auto fault = [&](const std::string& what) {
    return std::unexpected("listeners: " + url_of(info, endpoint.host, endpoint.port) + ": " + what);
  };
  std::unique_ptr<TlsListener> tls;
  std::shared_ptr<SSL_CTX> tls_context;
  if (config::uses_tls(endpoint.protocol)) {
    ASSIGN_OR_RETURN(tls, TlsListener::open(broker_.file_config(), endpoint, broker_.clock()));
    tls_context = tls->context();
  }

  boost::system::error_code error;
  asio::io_context& context = broker_.core(0).context();
  tcp::endpoint address;
  if (endpoint.host.empty()) {
    address = tcp::endpoint(tcp::v6(), endpoint.port);
  } else {
    tcp::resolver resolver(context);
    const auto found = resolver.resolve(endpoint.host, std::to_string(endpoint.port), tcp::resolver::passive, error);
    if (error || found.empty()) return fault("cannot be resolved: " + error.message());
    address = found.begin()->endpoint();
  }
  Acceptor acceptor(context);
  acceptor.open(address.protocol(), error);
  if (error && endpoint.host.empty()) {  // a machine without IPv6
    address = tcp::endpoint(tcp::v4(), endpoint.port);
    acceptor.open(address.protocol(), error);
  }
  if (error) return fault(error.message());
  acceptor.set_option(tcp::acceptor::reuse_address(true), error);
  if (address.address().is_v6())
    acceptor.set_option(asio::ip::v6_only(!endpoint.host.empty() && endpoint.host != "::"), error);
  if (broker_.settings().receive_buffer_bytes > 0)
    acceptor.set_option(asio::socket_base::receive_buffer_size(broker_.settings().receive_buffer_bytes), error);
  if (broker_.settings().send_buffer_bytes > 0)
    acceptor.set_option(asio::socket_base::send_buffer_size(broker_.settings().send_buffer_bytes), error);
  acceptor.bind(address, error);
  if (error) return fault(error.message());
  acceptor.listen(std::max(broker_.settings().listen_backlog, 1), error);
  if (error) return fault(error.message());
  listeners_.push_back(std::make_shared<BoundListener>(
      BoundListener{info, std::move(acceptor), endpoint.host, std::move(tls), std::move(tls_context)}));
  return {};
}

void Server::serve() {
  for (int i = 0; i < broker_.core_count(); ++i)
    cores_.push_back(std::make_unique<CoreState>(
        broker_.shard(i), std::max<std::int64_t>(1, broker_.settings().max_bytes_in_flight / broker_.core_count())));
  for (auto& state : cores_) {
    CoreState* core = state.get();
    core->shard.core().post([this, core] { sweep_idle(*core); });
  }
  broker_.core(0).post([this] { broker_.shard(0).on_live_settings([this] { limits_changed(); }); });
  for (auto& listener : listeners_) {
    broker_.core(0).spawn(accept_loop(listener));
    const std::string host = listener->host.empty() ? "0.0.0.0" : listener->host;
    LOG_INFO(kArea, "listening on {}", url_of(listener->info, host, listener->acceptor.local_endpoint().port()));
    if (listener->tls != nullptr) listener->tls->log_state("");
  }
}

bool Server::reload_tls(TlsListener::Force force) {
  bool any = false;
  for (auto& listener : listeners_) {
    if (listener->tls == nullptr) continue;
    any = true;
    auto context = listener->tls->reload(force);
    if (context == nullptr) continue;
    broker_.core(0).post(
        [&listener = *listener, context = std::move(context)]() mutable { listener.tls_context = std::move(context); });
  }
  return any;
}

Connection::Limits Server::limits() const {
  return {.frame_bytes = static_cast<std::size_t>(broker_.settings().request_max_bytes),
          .login_frame_bytes = static_cast<std::size_t>(std::max(broker_.settings().login_max_bytes, 0)),
          .unstable_versions = broker_.settings().unstable_api_versions};
}

bool Server::admit(const std::string& host) {
  const broker::LiveSettings::Connections& limits = broker_.shard(0).live().connections;
  std::int32_t limit = limits.most_per_ip;
  for (const auto& [address, count] : limits.most_of_ip)
    if (address == host) limit = count;
  std::int32_t& count = connections_by_host_[host];
  if (count >= limit) return false;
  ++count;
  connections_total_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

void Server::forget(const std::string& host) {
  const auto it = connections_by_host_.find(host);
  if (it != connections_by_host_.end() && --it->second == 0) connections_by_host_.erase(it);
  connections_total_.fetch_sub(1, std::memory_order_relaxed);
  wake_waiting();
}

void Server::wake_waiting() {
  for (runtime::Resume<int>& resume : std::exchange(waiting_for_room_, {})) resume(0);
}

Awaitable<void> Server::room(BoundListener& listener) {
  while (connection_count() >= broker_.shard(0).live().connections.most && listener.acceptor.is_open())
    co_await runtime::suspend<int>(
        [this](runtime::Resume<int> resume) { waiting_for_room_.push_back(std::move(resume)); });
}

Awaitable<void> Server::within_rate(BoundListener& listener) {
  const base::Clock& clock = broker_.clock();
  while (listener.acceptor.is_open()) {
    const std::int32_t rate = broker_.shard(0).live().connections.most_a_second;
    const auto wait = rate == INT32_MAX ? std::chrono::nanoseconds(0) : accept_rate_.take(clock.steady(), rate);
    if (wait == std::chrono::nanoseconds(0)) co_return;
    co_await runtime::sleep_until(broker_.core(0), clock.steady() + wait);
  }
}

void Server::limits_changed() {
  wake_waiting();
  if (closing_excess_ || connection_count() <= broker_.shard(0).live().connections.most) return;
  closing_excess_ = true;
  broker_.core(0).spawn(close_excess());
}

Awaitable<void> Server::close_excess() {
  struct Open {
    base::SteadyTime last_active;
    CoreState* state;
    std::weak_ptr<Connection> connection;  // it must not end here, but on its own core
  };
  std::vector<Open> open;
  for (const auto& state : cores_) {
    CoreState* const core = state.get();
    auto there = co_await runtime::call_on(core->shard.core(), [core] {
      std::vector<Open> found;
      for (const auto& connection : core->connections) found.push_back({connection->last_active(), core, connection});
      return found;
    });
    for (Open& one : there) open.push_back(std::move(one));
  }
  std::ranges::sort(open, {}, &Open::last_active);
  const auto limit = static_cast<std::size_t>(broker_.shard(0).live().connections.most);
  const std::size_t excess = open.size() > limit ? open.size() - limit : 0;
  if (excess > 0) LOG_INFO(kArea, "closing {} of {} connections: max.connections is {}", excess, open.size(), limit);
  open.resize(excess);
  for (Open& one : open)
    one.state->shard.core().post([weak = std::move(one.connection)] {
      if (const auto connection = weak.lock()) connection->close();
    });
  closing_excess_ = false;
}

Awaitable<void> Server::accept_loop(std::shared_ptr<BoundListener> bound) {
  BoundListener& listener = *bound;
  while (listener.acceptor.is_open()) {
    // With max.connections reached, the next one waits in the listen queue.
    co_await room(listener);
    CoreState& state = *cores_[next_core_++ % cores_.size()];
    auto [error, socket] =
        co_await listener.acceptor.async_accept(state.shard.core().context(), asio::as_tuple(asio::use_awaitable));
    if (error == asio::error::operation_aborted || !listener.acceptor.is_open()) co_return;
    if (error) {
      LOG_WARN(kArea, "accept on {}: {}", listener.info.name, error.message());
      co_await runtime::sleep_until(broker_.core(0), broker_.clock().steady() + std::chrono::milliseconds(100));
      continue;
    }
    co_await within_rate(listener);
    // The limit may have come down while nobody came.
    co_await room(listener);
    if (!listener.acceptor.is_open()) co_return;
    auto stream = std::make_unique<runtime::TcpStream>(std::move(socket));
    const std::string host = stream->peer_host();
    if (!admit(host)) {
      broker_.shard(0).metrics().connections_refused.add();
      LOG_DEBUG(kArea, "refused {}: max.connections.per.ip", stream->peer());
      continue;
    }
    if (listener.tls_context != nullptr) {
      auto tls = std::make_unique<runtime::TlsStream>(std::move(stream), listener.tls_context.get());
      state.shard.core().post([this, &state, &listener, tls = std::move(tls)]() mutable {
        state.shard.core().spawn(serve_tls(state, listener, std::move(tls)));
      });
      continue;
    }
    auto connection =
        std::make_shared<Connection>(state.shard, state.in_flight, limits(), listener.info, std::move(stream));
    state.shard.core().post([this, &state, connection = std::move(connection)]() mutable {
      state.shard.core().spawn(serve_connection(state, std::move(connection)));
    });
  }
}

Awaitable<std::optional<broker::Principal>> Server::shake_hands(CoreState& state, const BoundListener& listener,
                                                                runtime::TlsStream& stream) {
  runtime::Core& core = state.shard.core();
  const auto close_in = [&core, &stream](std::chrono::milliseconds time) {
    return core.at(core.clock().steady() + time, [&stream] { stream.close(); });
  };
  std::optional<runtime::Core::TimerId> limit;
  if (const std::int64_t idle_ms = broker_.settings().connections_max_idle_ms; idle_ms >= 0)
    limit = close_in(std::chrono::milliseconds(idle_ms));
  const auto agreed = co_await stream.handshake();
  if (limit) core.cancel(*limit);
  std::string why;
  if (agreed) {
    auto principal = listener.tls->principal_of(stream.peer_certificate().get());
    if (principal) {
      tls_handshakes_.fetch_add(1, std::memory_order_relaxed);
      LOG_DEBUG(kArea, "{} ({}): {} {}, {}", stream.peer(), listener.info.name, stream.protocol(), stream.cipher(),
                principal->str());
      co_return std::move(*principal);
    }
    why = principal.error();
  } else {
    why = agreed.error().what;
  }
  tls_handshake_failures_.fetch_add(1, std::memory_order_relaxed);
  log_failed_handshake(stream, listener.info.name, why, state.shard.now_ms());
  // The alert that says why is lost where the socket is closed with something unread.
  constexpr std::chrono::milliseconds kDrain{1000};
  limit = close_in(kDrain);
  co_await stream.drain();
  core.cancel(*limit);
  co_return std::nullopt;
}

Awaitable<void> Server::serve_tls(CoreState& state, const BoundListener& listener,
                                  std::unique_ptr<runtime::TlsStream> stream) {
  state.shaking_hands.insert(stream.get());
  if (state.stopping) stream->close();
  std::optional<broker::Principal> principal = co_await shake_hands(state, listener, *stream);
  state.shaking_hands.erase(stream.get());
  if (!principal) {
    stream->close();
    state.shard.metrics().connections_accepted.add();
    state.shard.metrics().connections_closed.add();
    broker_.core(0).post([this, host = stream->peer_host()] { forget(host); });
    co_return;
  }
  auto connection =
      std::make_shared<Connection>(state.shard, state.in_flight, limits(), listener.info, std::move(stream));
  connection->set_principal(std::move(*principal));
  co_await serve_connection(state, std::move(connection));
}

Awaitable<void> Server::serve_connection(CoreState& state, std::shared_ptr<Connection> connection) {
  state.shard.metrics().connections_accepted.add();
  state.connections.insert(connection);
  if (state.stopping) connection->close();
  co_await connection->serve();
  state.connections.erase(connection);
  if (const broker::ConnectionInfo& info = connection->info(); info.telemetry_serial != 0)
    broker::telemetry_connection_ended(broker_, info.telemetry_instance, info.telemetry_serial);
  state.shard.metrics().connections_closed.add();
  broker_.core(0).post([this, host = connection->info().peer_host] { forget(host); });
}

void Server::sweep_idle(CoreState& state) {
  const std::int64_t idle_ms = broker_.settings().connections_max_idle_ms;
  if (idle_ms < 0 || state.stopping) return;
  runtime::Core& core = state.shard.core();
  const auto limit = core.clock().steady() - std::chrono::milliseconds(idle_ms);
  std::vector<std::shared_ptr<Connection>> due;
  for (const auto& connection : state.connections)
    if (connection->idle() && connection->last_active() < limit) due.push_back(connection);
  for (const auto& connection : due) {
    LOG_DEBUG(kArea, "closing {}: idle for connections.max.idle.ms", connection->info().peer);
    connection->close();
  }
  const auto next = std::chrono::milliseconds(std::clamp<std::int64_t>(idle_ms / 10, 10, 10'000));
  core.at(core.clock().steady() + next, [this, &state] { sweep_idle(state); });
}

void Server::stop() {
  std::promise<void> closed;
  broker_.core(0).post([&] {
    boost::system::error_code ignored;
    for (auto& listener : listeners_) listener->acceptor.close(ignored);
    broker_.shard(0).on_live_settings(nullptr);
    wake_waiting();
    closed.set_value();
  });
  closed.get_future().get();
  std::vector<std::future<void>> waits;
  for (auto& state : cores_) {
    auto done = std::make_shared<std::promise<void>>();
    waits.push_back(done->get_future());
    state->shard.core().post([&state = *state, done] {
      state.stopping = true;
      state.shard.stop_waiting();
      const std::vector<std::shared_ptr<Connection>> open(state.connections.begin(), state.connections.end());
      for (const auto& connection : open) connection->close();
      for (runtime::TlsStream* stream : state.shaking_hands) stream->close();
      done->set_value();
    });
  }
  for (auto& wait : waits) wait.get();
  // Connections end by themselves now; a request that waits (a long poll) has its deadline, but is not waited for
  // longer than a graceful stop may take.
  constexpr std::chrono::seconds kGrace{5};
  const auto deadline = broker_.clock().steady() + kGrace;
  while (connection_count() > 0 && broker_.clock().steady() < deadline) {
    std::promise<void> turn;
    broker_.core(0).at_any_thread(std::chrono::milliseconds(2), [&turn] { turn.set_value(); });
    turn.get_future().get();
  }
  // The acceptors go while their loop is there; their accept loops have seen the end by now.
  std::promise<void> gone;
  broker_.core(0).post([&] {
    listeners_.clear();
    gone.set_value();
  });
  gone.get_future().get();
}

}  // namespace thalweg::server
