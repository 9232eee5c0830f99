// The levels of the log's areas, to be looked at and changed while the process runs.
#pragma once

#include <span>
#include <string_view>

#include "base/log.h"

namespace thalweg::base {

// Every area that lines are written under, by name.
std::span<const std::string_view> log_areas();

// The level of the areas that have none of their own.
LogLevel log_level();
void set_log_level(LogLevel level);

// The level of an area: its own, or else that of all.
LogLevel log_level_of(std::string_view area);
// Takes an area's own level away; no error where it has none.
void clear_log_level(std::string_view area);

}  // namespace thalweg::base
