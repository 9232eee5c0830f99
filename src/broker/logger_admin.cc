#include "broker/logger_admin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/log.h"
#include "base/log_levels.h"

namespace thalweg::broker {

namespace {

using base::LogLevel;
using protocol::ErrorCode;
using protocol::fail;
using protocol::Result;

struct LevelName {
  LogLevel level;
  std::string_view name;
};
// Kafka's names. No line here is fatal, so at FATAL there is none.
constexpr auto kLevels = std::to_array<LevelName>({{LogLevel::trace, "TRACE"},
                                                   {LogLevel::debug, "DEBUG"},
                                                   {LogLevel::info, "INFO"},
                                                   {LogLevel::warn, "WARN"},
                                                   {LogLevel::error, "ERROR"},
                                                   {LogLevel::off, "FATAL"}});

std::string_view name_of(LogLevel level) { return std::ranges::find(kLevels, level, &LevelName::level)->name; }

std::optional<LogLevel> level_named(std::string_view name) {
  const auto* const found = std::ranges::find(kLevels, name, &LevelName::name);
  return found == kLevels.end() ? std::nullopt : std::optional(found->level);
}

bool exists(std::string_view logger) {
  return logger == kRootLogger || std::ranges::find(base::log_areas(), logger) != base::log_areas().end();
}

Result<void> check(const ConfigChange& change) {
  const bool sets = change.operation == ConfigOperation::set;
  if (!sets && change.operation != ConfigOperation::delete_)
    return fail(ErrorCode::invalid_request, fmt::format("A logger has one level, which is set or deleted; {} is {}",
                                                        change.name, static_cast<int>(change.operation)));
  if (!exists(change.name)) return fail(ErrorCode::invalid_config, fmt::format("There is no logger {}", change.name));
  if (!sets && change.name == kRootLogger)
    return fail(ErrorCode::invalid_request, fmt::format("The level of {} can be changed, not deleted", kRootLogger));
  if (sets && !level_named(*change.value))
    return fail(
        ErrorCode::invalid_config,
        fmt::format("{}={}: no level; allowed: TRACE, DEBUG, INFO, WARN, ERROR, FATAL", change.name, *change.value));
  return {};
}

void apply(const ConfigChange& change) {
  if (change.operation == ConfigOperation::delete_) {
    base::clear_log_level(change.name);
  } else if (change.name == kRootLogger) {
    base::set_log_level(*level_named(*change.value));
  } else {
    base::set_log_level(change.name, *level_named(*change.value));
  }
  LOG_INFO("config", "the log level of {} is {} now", change.name, change.value.value_or("the root's"));
}

config::Described described(std::string_view logger, LogLevel level) {
  config::Described out;
  out.name = logger;
  out.value = std::string(name_of(level));
  out.source = config::Source::dynamic_broker_logger;
  return out;
}

}  // namespace

std::vector<config::Described> describe_loggers() {
  std::vector<config::Described> loggers = {described(kRootLogger, base::log_level())};
  for (const std::string_view area : base::log_areas()) loggers.push_back(described(area, base::log_level_of(area)));
  return loggers;
}

Result<void> alter_loggers(std::span<const ConfigChange> changes, bool validate_only) {
  for (const ConfigChange& change : changes) TRY(check(change));
  if (validate_only) return {};
  for (const ConfigChange& change : changes) apply(change);
  return {};
}

}  // namespace thalweg::broker
