// Reading and writing single values as Kafka does.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/key.h"

namespace thalweg::config {

// Checks a value against its key, for files, CreateTopics and IncrementalAlterConfigs alike.
//   returns  the value as DescribeConfigs shows it: trimmed, numbers in their shortest form, lists without spaces
//   errors   what is wrong and what is allowed, in words: "not an integer; allowed: 1 to 9"
std::expected<std::string, std::string> validate_value(const ConfigKey& key, std::string_view value);

// The text without the spaces and control characters around it.
std::string_view trimmed(std::string_view text);

// The entries between the commas, each trimmed; none for a blank text.
std::vector<std::string> split_list(std::string_view text);

// Entries with commas between them.
std::string join_list(const std::vector<std::string>& entries);

// What IncrementalAlterConfigs makes of a list: APPEND adds the entries that are not there yet, SUBTRACT takes out
// those that are. A list that was not set starts from its key's default in the table, not from the broker's setting.
std::string append_to_list(std::string_view list, std::string_view entries);
std::string subtract_from_list(std::string_view list, std::string_view entries);

// A whole decimal number with an optional sign; nothing for anything else or where it does not fit 64 bits.
std::optional<std::int64_t> parse_integer(std::string_view text);

// A number in Java's notation; nothing for anything else, NaN included.
std::optional<double> parse_double(std::string_view text);

// A number in Java's notation: 0.5, 1.0E-4, 1.7976931348623157E308, Infinity.
std::string double_text(double value);

// Milliseconds of an ISO 8601 duration such as P1DT2H3.5S; nothing for anything else or where it does not fit.
std::optional<std::int64_t> parse_duration_ms(std::string_view text);

// The pairs of `max.connections.per.ip.overrides`; nothing where the text is something else.
struct AddressCount {
  std::string address;
  std::int32_t count = 0;
};
std::optional<std::vector<AddressCount>> parse_address_counts(std::string_view text);

}  // namespace thalweg::config
