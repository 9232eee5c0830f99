// thalweg_floor: what the benchmark's workloads cost when the bytes are moved and nothing else is done. The broker is
// judged by how far above this it stands.
//
//   thalweg_floor produce  --dir DIR [--flush] [--port N]
//   thalweg_floor fetch    --dir DIR [--port N]
//   thalweg_floor requests --dir DIR [--port N]
//   thalweg_floor commits  --dir DIR [--port N]
//
// It prints "listening on 127.0.0.1:PORT" on stderr, and at SIGTERM one line of JSON on stdout.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>

#include "floor/coroutine_server.h"
#include "floor/epoll_server.h"
#include "floor/usage.h"

namespace {

// Of each partition's log, for Fetch: together more than a processor caches, and soon written.
constexpr std::uint64_t kLogBytes = 32 << 20;

int usage_error() {
  fmt::print(stderr, "usage: thalweg_floor produce|fetch|requests|commits --dir DIR [--flush] [--port N]\n");
  return 2;
}

struct Arguments {
  std::string mode;
  thalweg::floor::EpollOptions options;
};

bool parse(int count, char** values, Arguments& arguments) {
  if (count < 2) return false;
  arguments.mode = values[1];
  constexpr std::string_view kModes[] = {"produce", "fetch", "requests", "commits"};
  if (std::ranges::find(kModes, arguments.mode) == std::ranges::end(kModes)) return false;
  for (int i = 2; i < count; ++i) {
    const std::string_view name = values[i];
    if (name == "--flush") {
      arguments.options.flush = true;
      continue;
    }
    if (i + 1 == count) return false;
    const std::string_view value = values[++i];
    if (name == "--dir") {
      arguments.options.folder = value;
    } else if (name == "--port") {
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), arguments.options.port);
      if (error != std::errc{} || end != value.data() + value.size()) return false;
    } else {
      return false;
    }
  }
  // Only what is written and awaited can be flushed.
  return !arguments.options.folder.empty() && (!arguments.options.flush || arguments.mode == "produce");
}

}  // namespace

int main(int count, char** values) {
  Arguments arguments;
  if (!parse(count, values, arguments)) return usage_error();
  std::signal(SIGPIPE, SIG_IGN);  // sendfile has no flag for it
  thalweg::floor::Usage usage;
  try {
    const bool commits = arguments.mode == "commits";
    if (commits || arguments.mode == "requests") {
      thalweg::floor::serve_requests(
          {.folder = arguments.options.folder, .port = arguments.options.port, .commits = commits}, usage);
    } else {
      if (arguments.mode == "fetch") arguments.options.log_bytes = kLogBytes;
      thalweg::floor::serve_bytes(arguments.options, usage);
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "thalweg_floor: {}\n", error.what());
    return 1;
  }
  fmt::print("{}\n", usage.report(arguments.mode));
  return 0;
}
