#include "inspect/value_text.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "base/text.h"

namespace thalweg::inspect {

namespace {

// Bytes of the UTF-8 character at the start of `text`, 0 where there is none that is whole and in its shortest form.
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  const std::size_t length = first < 0x80                    ? 1
                             : first >= 0xc2 && first < 0xe0 ? 2
                             : first >= 0xe0 && first < 0xf0 ? 3
                             : first >= 0xf0 && first < 0xf5 ? 4
                                                             : 0;
  if (length == 0 || length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i)
    if ((byte(i) & 0xc0) != 0x80) return 0;
  if ((first == 0xe0 && byte(1) < 0xa0) || (first == 0xed && byte(1) >= 0xa0)) return 0;
  if ((first == 0xf0 && byte(1) < 0x90) || (first == 0xf4 && byte(1) >= 0x90)) return 0;
  return length;
}

// Whether a terminal would take the character for a command, or show it as an end of line.
bool is_control(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first < 0x20 || first == 0x7f;
  return (first == 0xc2 && static_cast<unsigned char>(character[1]) < 0xa0) || character == "\u2028" ||
         character == "\u2029";
}

}  // namespace

bool is_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) return false;
    at += length;
  }
  return true;
}

std::string quoted(std::string_view text, std::size_t limit) {
  std::string result = "\"";
  std::size_t at = 0;
  while (at < text.size() && at < limit) {
    const std::size_t length = utf8_length(text.substr(at));
    const std::string_view character = text.substr(at, length == 0 ? 1 : length);
    if (character == "\"" || character == "\\") {
      result.append("\\").append(character);
    } else if (character == "\n") {
      result += "\\n";
    } else if (character == "\t") {
      result += "\\t";
    } else if (length == 0 || is_control(character)) {
      for (const char c : character) result += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else {
      result += character;
    }
    at += character.size();
  }
  result += '"';
  if (at < text.size()) result += fmt::format("... {} bytes", text.size());
  return result;
}

std::string bytes_text(std::span<const std::uint8_t> bytes, std::size_t limit) {
  if (bytes.empty()) return "empty";
  if (bytes.size() <= limit) return base::hex_encode(bytes);
  return fmt::format("{}... {} bytes", base::hex_encode(bytes.first(limit)), bytes.size());
}

std::string content_text(std::span<const std::uint8_t> bytes, std::size_t limit) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = utf8_length(text.substr(at));
    if (length == 0) return bytes_text(bytes, limit);
    const std::string_view character = text.substr(at, length);
    if (is_control(character) && character != "\n" && character != "\t" && character != "\r")
      return bytes_text(bytes, limit);
    at += length;
  }
  return quoted(text, limit);
}

std::string float_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string time_text(std::int64_t ms) {
  constexpr std::int64_t kLast = 253402300799999;  // the end of the year 9999
  if (ms <= 0 || ms > kLast) return {};
  const std::chrono::sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds(ms)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

std::string uuid_text(const base::Uuid& uuid) {
  const std::string hex = base::hex_encode(uuid.bytes);
  return fmt::format("{}-{}-{}-{}-{}", hex.substr(0, 8), hex.substr(8, 4), hex.substr(12, 4), hex.substr(16, 4),
                     hex.substr(20));
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace thalweg::inspect
