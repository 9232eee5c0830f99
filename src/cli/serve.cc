#include "cli/serve.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <memory>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "broker/broker.h"
#include "broker/scram_admin.h"
#include "config/config.h"
#include "config/load.h"
#include "config/properties.h"
#include "console/console.h"
#include "console/control_socket.h"
#include "runtime/file.h"
#include "security/scram_file.h"
#include "server/server.h"

namespace thalweg::cli {

namespace {

int refuse(const std::string& line) {
  fmt::print(stderr, "thalweg: {}\n", line);
  return 1;
}

// The command line itself is wrong.
int misused(const std::string& line) {
  fmt::print(stderr, "thalweg: {}\n", line);
  return 2;
}

// Connections and logs need many descriptors; what the machine allows is taken without being asked.
void raise_descriptor_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur == limit.rlim_max) return;
  limit.rlim_cur = limit.rlim_max;
  (void)::setrlimit(RLIMIT_NOFILE, &limit);
}

// Blocks the signals in every thread that is started later, so that one place waits for them.
sigset_t block_signals() {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) sigaddset(&set, signal);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return set;
}

// Until the first SIGTERM or SIGINT. A second one ends the process at once. Meanwhile certificates are read again where
// their files change, and on SIGHUP.
void wait_for_stop(const sigset_t& set, server::Server& server) {
  constexpr timespec kLook{.tv_sec = 5, .tv_nsec = 0};
  while (true) {
    const int signal = sigtimedwait(&set, nullptr, &kLook);
    if (signal < 0) {
      if (errno == EAGAIN) (void)server.reload_tls(server::TlsListener::Force::no);
      continue;
    }
    if (signal == SIGHUP) {
      LOG_INFO("thalweg", "{}",
               server.reload_tls(server::TlsListener::Force::yes) ? "SIGHUP: certificates were read again"
                                                                  : "SIGHUP: nothing to reload");
      continue;
    }
    LOG_INFO("thalweg", "{}: stopping; a second one stops at once", signal == SIGTERM ? "SIGTERM" : "SIGINT");
    for (const int again : {SIGTERM, SIGINT}) std::signal(again, [](int) { ::_exit(1); });
    sigset_t rest;
    sigemptyset(&rest);
    sigaddset(&rest, SIGTERM);
    sigaddset(&rest, SIGINT);
    pthread_sigmask(SIG_UNBLOCK, &rest, nullptr);
    return;
  }
}

bool parse_level(const std::string& name, base::LogLevel& level) {
  static constexpr std::array<std::pair<std::string_view, base::LogLevel>, 6> kLevels = {
      {{"trace", base::LogLevel::trace},
       {"debug", base::LogLevel::debug},
       {"info", base::LogLevel::info},
       {"warn", base::LogLevel::warn},
       {"error", base::LogLevel::error},
       {"off", base::LogLevel::off}}};
  for (const auto& [word, value] : kLevels) {
    if (word != name) continue;
    level = value;
    return true;
  }
  return false;
}

using ScramLines = std::vector<security::ScramLine>;

base::Result<ScramLines, std::string> read_scram_file(const std::optional<std::string>& path) {
  if (!path) return ScramLines();
  const auto fault = [](const std::string& what) { return std::unexpected("--add-scram-file: " + what); };
  const auto text = config::read_text_file(*path);
  if (!text) return fault(text.error());
  auto lines = security::parse_scram_file(*text);
  if (!lines) return fault(*path + ":" + lines.error());
  return std::move(*lines);
}

}  // namespace

int serve(const ServeArguments& arguments) {
  base::LogLevel level = base::LogLevel::info;
  if (!parse_level(arguments.log_level, level))
    return misused("--log-level " + arguments.log_level + ": unknown; allowed: trace, debug, info, warn, error, off");
  for (const std::string& text : arguments.overrides)
    if (const auto entry = config::parse_override(text); !entry) return misused(entry.error());
  base::configure_log(arguments.json_log ? base::LogFormat::json : base::LogFormat::text, level);

  auto config = config::load_broker_config({.file = arguments.config_file, .overrides = arguments.overrides});
  if (!config) return refuse(config.error());
  for (const std::string& line : config::warnings(*config)) LOG_WARN("config", "{}", line);
  auto settings = broker::Settings::read(*config);
  if (!settings) return refuse(settings.error());

  const auto scram_lines = read_scram_file(arguments.scram_file);
  if (!scram_lines) return refuse(scram_lines.error());

  raise_descriptor_limit();
  const sigset_t signals = block_signals();
  const base::SystemClock clock;
  const std::unique_ptr<runtime::FileSystem> files = runtime::make_system_file_system();
  broker::Broker broker({.clock = clock, .files = *files}, std::move(*settings), std::move(*config));
  server::Server server(broker);
  console::ControlSocket control(broker);
  console::Console console(broker, [&server] {
    return console::ConnectionCounts{.open = server.connection_count(),
                                     .tls_handshakes = server.tls_handshakes(),
                                     .tls_handshake_failures = server.tls_handshake_failures()};
  });
  // A taken port is found before anything on disk is touched.
  if (const auto bound = server.bind(); !bound) return refuse(bound.error());
  if (const auto bound = console.bind(); !bound) return refuse(bound.error());
  if (const auto started = broker.start(); !started) return refuse(started.error());
  if (const auto added = broker::add_first_scram_users(broker, *scram_lines); !added) return refuse(added.error());
  LOG_INFO("thalweg", "node {} of cluster {}, {} event loops, data in {}", broker.settings().node_id,
           broker.cluster_id(), broker.core_count(), fmt::join(broker.settings().log_dirs, ", "));
  console.serve();
  control.serve();
  broker.set_ready(true);
  server.serve();

  wait_for_stop(signals, server);
  broker.set_ready(false);
  server.stop();
  control.stop();
  console.stop();
  broker.stop();
  LOG_INFO("thalweg", "stopped");
  return 0;
}

}  // namespace thalweg::cli
