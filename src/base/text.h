// Bytes as text: hexadecimal and URL-safe base64.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::base {

// Two small digits a byte.
std::string hex_encode(std::span<const std::uint8_t> bytes);
// Nothing where a character is no hexadecimal digit or a digit is missing; white space is passed over.
std::optional<std::vector<std::uint8_t>> hex_decode(std::string_view text);

// URL-safe alphabet (- and _), no padding.
std::string base64url_encode(std::span<const std::uint8_t> bytes);
// Nothing where a character is not of the alphabet or the length is impossible. Padding is refused.
std::optional<std::vector<std::uint8_t>> base64url_decode(std::string_view text);

}  // namespace thalweg::base
