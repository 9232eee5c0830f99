#include "console/console.h"

#include <boost/asio/as_tuple.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http.hpp>
#include <chrono>
#include <future>
#include <utility>

#include "base/log.h"
#include "broker/client_telemetry.h"
#include "console/metrics_page.h"

namespace thalweg::console {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using runtime::Awaitable;

namespace {

constexpr std::chrono::seconds kClientTimeout{30};
constexpr std::size_t kMostRequestBytes = 16 * 1024;
constexpr std::size_t kMostClients = 64;

std::string url_of(const tcp::endpoint& endpoint) {
  const std::string host = endpoint.address().to_string();
  return "http://" + (endpoint.address().is_v6() ? "[" + host + "]" : host) + ":" + std::to_string(endpoint.port());
}

}  // namespace

Console::Console(broker::Broker& broker, std::function<ConnectionCounts()> connections)
    : broker_(broker), connections_(std::move(connections)) {}

Console::~Console() = default;

base::Result<void, std::string> Console::bind() {
  for (const config::ConsoleAddress& address : broker_.settings().console) {
    boost::system::error_code error;
    asio::io_context& context = broker_.core(0).context();
    tcp::resolver resolver(context);
    const std::string host = address.host.empty() ? "0.0.0.0" : address.host;
    const auto found = resolver.resolve(host, std::to_string(address.port), tcp::resolver::passive, error);
    auto acceptor = std::make_unique<Acceptor>(context);
    if (!error) {
      const tcp::endpoint endpoint = found.begin()->endpoint();
      acceptor->open(endpoint.protocol(), error);
      if (!error) acceptor->set_option(tcp::acceptor::reuse_address(true), error);
      if (!error) acceptor->bind(endpoint, error);
      if (!error) acceptor->listen(tcp::acceptor::max_listen_connections, error);
    }
    if (!error) {
      acceptors_.push_back(std::move(acceptor));
      continue;
    }
    const std::string what =
        fmt::format("thalweg.console.listeners: http://{}:{}: {}", host, address.port, error.message());
    if (broker_.settings().console_was_set) return std::unexpected(what);
    LOG_WARN("console", "{}; going on without the console", what);
  }
  return {};
}

void Console::serve() {
  for (auto& acceptor : acceptors_) {
    LOG_INFO("console", "console on {}", url_of(acceptor->local_endpoint()));
    broker_.core(0).spawn(accept_loop(*acceptor));
  }
}

Awaitable<void> Console::accept_loop(Acceptor& acceptor) {
  while (acceptor.is_open()) {
    auto [error, socket] = co_await acceptor.async_accept(asio::as_tuple(asio::use_awaitable));
    if (error == asio::error::operation_aborted || !acceptor.is_open()) co_return;
    if (error) {
      co_await runtime::sleep_until(broker_.core(0), broker_.clock().steady() + std::chrono::milliseconds(100));
      continue;
    }
    std::erase_if(clients_, [](const auto& client) { return client.expired(); });
    if (clients_.size() >= kMostClients) continue;  // the socket closes
    auto client = std::make_shared<beast::tcp_stream>(std::move(socket));
    clients_.push_back(client);
    broker_.core(0).spawn(serve_client(std::move(client)));
  }
}

std::string Console::not_ready_because() const {
  if (!broker_.ready()) return "the broker is starting or stopping";
  for (const auto& directory : broker_.log_directories())
    if (directory->offline) return "log directory " + directory->path + " is offline";
  return {};
}

Awaitable<void> Console::serve_client(std::shared_ptr<beast::tcp_stream> client) {
  beast::flat_buffer buffer;
  while (true) {
    client->expires_after(kClientTimeout);
    http::request_parser<http::empty_body> parser;
    parser.header_limit(kMostRequestBytes);
    const auto [read_error, read] =
        co_await http::async_read(*client, buffer, parser, asio::as_tuple(asio::use_awaitable));
    if (read_error) break;
    const auto& request = parser.get();
    http::response<http::string_body> response(http::status::ok, request.version());
    response.keep_alive(request.keep_alive());
    response.set(http::field::content_type, "text/plain; charset=utf-8");
    const std::string_view target(request.target().data(), request.target().size());
    const std::string_view path = target.substr(0, target.find('?'));
    if (request.method() != http::verb::get && request.method() != http::verb::head) {
      response.result(http::status::method_not_allowed);
      response.set(http::field::allow, "GET, HEAD");
      response.body() = "only GET is served here\n";
    } else if (path == "/livez") {
      response.body() = "ok\n";
    } else if (path == "/readyz") {
      const std::string reason = not_ready_because();
      if (!reason.empty()) response.result(http::status::service_unavailable);
      response.body() = reason.empty() ? "ok\n" : reason + "\n";
    } else if (path == "/metrics") {
      response.set(http::field::content_type, "text/plain; version=0.0.4; charset=utf-8");
      response.body() = metrics_page(broker_, connections_());
      response.body() += co_await broker::client_metrics_page(broker_);
    } else {
      response.result(http::status::not_found);
      response.body() = "nothing here; there are /livez, /readyz and /metrics\n";
    }
    response.prepare_payload();
    if (request.method() == http::verb::head) response.body().clear();
    client->expires_after(kClientTimeout);
    const auto [write_error, written] =
        co_await http::async_write(*client, response, asio::as_tuple(asio::use_awaitable));
    if (write_error || !response.keep_alive()) break;
  }
  boost::system::error_code ignored;
  client->socket().shutdown(tcp::socket::shutdown_both, ignored);
}

void Console::stop() {
  std::promise<void> done;
  broker_.core(0).post([&] {
    boost::system::error_code ignored;
    for (auto& acceptor : acceptors_) acceptor->close(ignored);
    for (auto& weak : clients_)
      if (const auto client = weak.lock()) client->close();
    // Behind what the accept loops are told by the close.
    broker_.core(0).post([&] {
      acceptors_.clear();
      clients_.clear();
      done.set_value();
    });
  });
  done.get_future().get();
}

}  // namespace thalweg::console
