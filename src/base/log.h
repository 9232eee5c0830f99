// Log lines: to stderr, UTC, text or JSON, one area (logger) a subject.
//
//   LOG_INFO("broker", "listening on {}", endpoint);
#pragma once

#include <fmt/format.h>

#include <cstdint>

#include <string>
#include <string_view>

namespace thalweg::base {

enum class LogLevel { trace, debug, info, warn, error, off };
enum class LogFormat { text, json };

// Sets the form of every line and the level of areas that have none of their own.
void configure_log(LogFormat format, LogLevel level);
// Whether a line of `area` at `level` would be written.
bool log_enabled(std::string_view area, LogLevel level);
// Sets the level of one area.
void set_log_level(std::string_view area, LogLevel level);
// Writes one line; safe from any thread.
void log_line(std::string_view area, LogLevel level, std::string_view message);

// Lets one line through in each period and counts the ones held back, so that a fault in a loop cannot flood the log.
class LogLimiter {
 public:
  explicit constexpr LogLimiter(std::int64_t period_ms) : period_ms_(period_ms) {}
  // True where a line may be written at `now_ms`; then `suppressed` is how many were held back before it.
  bool allow(std::int64_t now_ms, std::uint64_t& suppressed);

 private:
  std::int64_t period_ms_;
  std::int64_t next_ms_ = 0;
  std::uint64_t held_back_ = 0;
};

}  // namespace thalweg::base

#define THALWEG_LOG(level, area, ...)                                                                \
  do {                                                                                               \
    if (::thalweg::base::log_enabled(area, ::thalweg::base::LogLevel::level))                        \
      ::thalweg::base::log_line(area, ::thalweg::base::LogLevel::level, ::fmt::format(__VA_ARGS__)); \
  } while (false)
#define LOG_DEBUG(area, ...) THALWEG_LOG(debug, area, __VA_ARGS__)
#define LOG_INFO(area, ...) THALWEG_LOG(info, area, __VA_ARGS__)
#define LOG_WARN(area, ...) THALWEG_LOG(warn, area, __VA_ARGS__)
#define LOG_ERROR(area, ...) THALWEG_LOG(error, area, __VA_ARGS__)
