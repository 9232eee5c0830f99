// Rules between keys: what must hold of several values together.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "config/config.h"

namespace thalweg::config {

// Checks a broker's settings together; the rules are those that stop Kafka's start and hold here too, and our own.
//   returns  nothing where all is well, else one line: place, key, value, what must hold
std::optional<std::string> cross_check(const Config& broker);

// Checks a topic's settings together with what it takes from the broker. `topic` is loaded over topic_table().
std::optional<std::string> check_topic(const Config& topic, const Config& broker);

// Checks a group's own settings against the broker's bounds. `group` is loaded over group_table().
std::optional<std::string> check_group(const Config& group, const Config& broker);

// Checks a change of what is in force while a broker runs: how many threads there are at most doubles or halves at
// once and connections are not all shut out, as in Kafka, and listeners are opened at the start alone.
//   returns  nothing where it may be, else one line
std::optional<std::string> check_live_change(const Config& before, const Config& after);

// Checks whether a broker key may be changed while brokers run, for one of them or as the default of all. A name that
// no table knows may: Kafka keeps those for plug-ins.
//   returns  nothing where it may, else why not
enum class ChangeOf : std::uint8_t { one_broker, default_of_all };
std::optional<std::string> check_dynamic_change(std::string_view name, ChangeOf what);

}  // namespace thalweg::config
