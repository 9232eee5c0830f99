#include "base/log.h"

#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <shared_mutex>
#include <utility>

#include "base/log_levels.h"

namespace thalweg::base {

namespace {

spdlog::level::level_enum to_spdlog(LogLevel level) {
  switch (level) {
    case LogLevel::trace:
      return spdlog::level::trace;
    case LogLevel::debug:
      return spdlog::level::debug;
    case LogLevel::info:
      return spdlog::level::info;
    case LogLevel::warn:
      return spdlog::level::warn;
    case LogLevel::error:
      return spdlog::level::err;
    case LogLevel::off:
      return spdlog::level::off;
  }
  return spdlog::level::info;
}

struct State {
  std::shared_ptr<spdlog::sinks::stderr_sink_mt> sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  std::atomic<LogLevel> level{LogLevel::info};
  std::atomic<LogFormat> format{LogFormat::text};
  std::atomic<bool> any_area{false};
  std::shared_mutex mutex;
  std::map<std::string, LogLevel, std::less<>> areas;

  State() { set_pattern(); }
  void set_pattern() {
    const char* pattern = format == LogFormat::json
                              ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l","area":"%n","message":%v})"
                              : "%Y-%m-%dT%H:%M:%S.%eZ %-5l [%n] %v";
    sink->set_formatter(std::make_unique<spdlog::pattern_formatter>(pattern, spdlog::pattern_time_type::utc));
  }
};

constexpr auto kAreas = std::to_array<std::string_view>(
    {"authorizer", "backup",       "broker",    "cleaner",  "config",  "connection", "console", "fetch",
     "group",      "list-offsets", "login",     "metadata", "produce", "retention",  "runtime", "scram",
     "server",     "storage",      "telemetry", "thalweg",  "tls",     "tokens"});

// Never destroyed: lines may be written while the process ends.
State& state() {
  static State* const instance = new State;
  return *instance;
}

std::string json_quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20) {
      out += fmt::format("\\u{:04x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

}  // namespace

void configure_log(LogFormat format, LogLevel level) {
  state().format = format;
  state().level = level;
  state().set_pattern();
}

bool log_enabled(std::string_view area, LogLevel level) {
  State& s = state();
  if (s.any_area.load(std::memory_order_relaxed)) {
    const std::shared_lock lock(s.mutex);
    if (const auto it = s.areas.find(area); it != s.areas.end()) return level >= it->second;
  }
  return level >= s.level.load(std::memory_order_relaxed);
}

void set_log_level(std::string_view area, LogLevel level) {
  State& s = state();
  const std::unique_lock lock(s.mutex);
  s.areas.insert_or_assign(std::string(area), level);
  s.any_area = true;
}

std::span<const std::string_view> log_areas() { return kAreas; }

LogLevel log_level() { return state().level; }

void set_log_level(LogLevel level) { state().level = level; }

LogLevel log_level_of(std::string_view area) {
  State& s = state();
  const std::shared_lock lock(s.mutex);
  const auto own = s.areas.find(area);
  return own != s.areas.end() ? own->second : s.level.load();
}

void clear_log_level(std::string_view area) {
  State& s = state();
  const std::unique_lock lock(s.mutex);
  if (const auto own = s.areas.find(area); own != s.areas.end()) s.areas.erase(own);
  s.any_area = !s.areas.empty();
}

void log_line(std::string_view area, LogLevel level, std::string_view message) {
  State& s = state();
  std::string quoted;
  if (s.format == LogFormat::json) {
    quoted = json_quote(message);
    message = quoted;
  }
  const spdlog::details::log_msg line(spdlog::string_view_t(area.data(), area.size()), to_spdlog(level),
                                      spdlog::string_view_t(message.data(), message.size()));
  s.sink->log(line);
  s.sink->flush();
}

bool LogLimiter::allow(std::int64_t now_ms, std::uint64_t& suppressed) {
  if (now_ms < next_ms_) {
    ++held_back_;
    return false;
  }
  next_ms_ = now_ms + period_ms_;
  suppressed = std::exchange(held_back_, 0);
  return true;
}

}  // namespace thalweg::base
