#include "inspect/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "base/text.h"

namespace thalweg::inspect {

namespace {

constexpr char32_t kReplacement = 0xfffd;

// The character at the start of `text` and its length; U+FFFD for what is none, with the bytes that it stands for.
char32_t next_character(std::string_view text, std::size_t& length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  length = 1;
  if (lead < 0x80) return lead;
  const std::size_t whole = lead >= 0xc2 && lead < 0xe0   ? 2
                            : lead >= 0xe0 && lead < 0xf0 ? 3
                            : lead >= 0xf0 && lead < 0xf5 ? 4
                                                          : 0;
  if (whole == 0) return kReplacement;
  char32_t character = lead & (0xffU >> (whole + 1));
  for (; length < whole; ++length) {
    if (length == text.size()) return kReplacement;
    const unsigned char c = byte(length);
    // Not the shortest form, a surrogate, or beyond the last character.
    const unsigned lowest = length > 1 ? 0x80 : lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const unsigned highest = length > 1 ? 0xbf : lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (c < lowest || c > highest) return kReplacement;
    character = character << 6 | (c & 0x3fU);
  }
  return character;
}

void append_unit(std::string& json, unsigned unit) { fmt::format_to(std::back_inserter(json), "\\u{:04X}", unit); }

void append_character(std::string& json, char32_t character) {
  switch (character) {
    case '"':
    case '\\':
      json += '\\';
      json += static_cast<char>(character);
      return;
    case '\n':
      json += "\\n";
      return;
    case '\r':
      json += "\\r";
      return;
    case '\t':
      json += "\\t";
      return;
    case '\b':
      json += "\\b";
      return;
    case '\f':
      json += "\\f";
      return;
    default:
      break;
  }
  if (character >= 0x20 && character < 0x7f) {
    json += static_cast<char>(character);
  } else if (character < 0x10000) {
    append_unit(json, character);
  } else {
    append_unit(json, 0xd800 + ((character - 0x10000) >> 10));
    append_unit(json, 0xdc00 + ((character - 0x10000) & 0x3ff));
  }
}

}  // namespace

void append_json_string(std::string& json, std::string_view text) {
  json += '"';
  while (!text.empty()) {
    std::size_t length = 0;
    append_character(json, next_character(text, length));
    text.remove_prefix(length);
  }
  json += '"';
}

void append_json_base64(std::string& json, std::span<const std::uint8_t> bytes) {
  std::string text = base::base64url_encode(bytes);
  std::ranges::replace(text, '-', '+');
  std::ranges::replace(text, '_', '/');
  text.append((4 - text.size() % 4) % 4, '=');
  json.append("\"").append(text).append("\"");
}

void append_json_hex(std::string& json, std::span<const std::uint8_t> bytes) {
  json.append("\"").append(base::hex_encode(bytes)).append("\"");
}

void append_json_double(std::string& json, double value) {
  if (std::isnan(value)) {
    json += "\"NaN\"";
  } else if (std::isinf(value)) {
    json += value < 0 ? "\"-Infinity\"" : "\"Infinity\"";
  } else if (value == 0) {
    json += std::signbit(value) ? "-0.0" : "0.0";
  } else if (std::abs(value) >= 1e-3 && std::abs(value) < 1e7) {
    const std::string text = fmt::format("{}", value);
    json += text;
    if (text.find('.') == std::string::npos) json += ".0";
  } else {
    // The fewest digits that read back as the same number, one behind the point at least.
    std::string text;
    for (int digits = 1; digits <= 16; ++digits) {
      text = fmt::format("{:.{}e}", value, digits);
      if (std::strtod(text.c_str(), nullptr) == value) break;
    }
    const std::size_t e = text.find('e');
    json += fmt::format("{}E{}", text.substr(0, e), std::strtol(text.c_str() + e + 1, nullptr, 10));
  }
}

std::string json_key(std::string_view name) {
  std::string key(name);
  if (!key.empty() && key[0] >= 'A' && key[0] <= 'Z') key[0] = static_cast<char>(key[0] - 'A' + 'a');
  return key;
}

}  // namespace thalweg::inspect
