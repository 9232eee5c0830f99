// The log's areas as Kafka's broker loggers: their levels, described and changed while the broker runs. A restart
// forgets what was changed.
#pragma once

#include <span>
#include <vector>

#include "broker/config_admin.h"
#include "config/effective.h"
#include "protocol/error.h"

namespace thalweg::broker {

// The logger whose level the others have unless they have one of their own.
inline constexpr std::string_view kRootLogger = "root";

// Every logger with its level in force: TRACE, DEBUG, INFO, WARN, ERROR, or FATAL, at which nothing is written.
std::vector<config::Described> describe_loggers();

// Sets levels, or with `delete_` makes loggers follow the root again; all or none. With validate_only it only says
// whether that would go.
//   errors   invalid_config: no such logger or level
//            invalid_request: another operation, or the root's level taken away
protocol::Result<void> alter_loggers(std::span<const ConfigChange> changes, bool validate_only);

}  // namespace thalweg::broker
