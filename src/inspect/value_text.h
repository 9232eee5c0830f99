// Values as the tree shows them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/uuid.h"

namespace thalweg::inspect {

// Whether every byte belongs to a character of UTF-8.
bool is_utf8(std::string_view text);
// In quotes, on one line: control characters, quotes and bytes that are not UTF-8 are escaped. What is longer than
// `limit` bytes is cut, and its end says how long the whole is.
std::string quoted(std::string_view text, std::size_t limit);
// Hexadecimal, cut in the same way; "empty" where there are none.
std::string bytes_text(std::span<const std::uint8_t> bytes, std::size_t limit);
// What applications put into a field: quoted where it is text that can be read, else hexadecimal.
std::string content_text(std::span<const std::uint8_t> bytes, std::size_t limit);
// With a point or an exponent, so that it reads as a float64; NaN, Infinity and -Infinity.
std::string float_text(double value);
// 2024-05-01T12:00:00.000Z; nothing for what is no time of these ages. In milliseconds since 1970.
std::string time_text(std::int64_t ms);
// 8-4-4-4-12 digits.
std::string uuid_text(const base::Uuid& uuid);
// "1 element", "2 elements".
std::string counted(std::uint64_t count, std::string_view noun);

}  // namespace thalweg::inspect
