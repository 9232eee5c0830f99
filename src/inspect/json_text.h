// Values as the reference prints them in JSON: what `decode --format json` is made of. Nothing here throws.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace thalweg::inspect {

// Appends `text` in quotes, in ASCII alone. Bytes that are not UTF-8 become U+FFFD where Java puts it, one for each
// longest beginning of a character.
void append_json_string(std::string& json, std::string_view text);
// Appends the bytes in quotes, as base64 with padding.
void append_json_base64(std::string& json, std::span<const std::uint8_t> bytes);
// Appends the bytes in quotes, in hexadecimal.
void append_json_hex(std::string& json, std::span<const std::uint8_t> bytes);
// Appends a number that has a point, with an exponent where Java writes one; NaN and the infinities in quotes.
void append_json_double(std::string& json, double value);
// The name with a small first letter.
std::string json_key(std::string_view name);

}  // namespace thalweg::inspect
