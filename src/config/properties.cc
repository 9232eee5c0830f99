#include "config/properties.h"

#include <fmt/format.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <system_error>

#include "config/value.h"

namespace thalweg::config {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }

void append_utf8(std::string& out, std::uint32_t code) {
  const auto byte = [&out](std::uint32_t value) { out += static_cast<char>(value); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xc0 | code >> 6);
    byte(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    byte(0xe0 | code >> 12);
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  } else {
    byte(0xf0 | code >> 18);
    byte(0x80 | (code >> 12 & 0x3f));
    byte(0x80 | (code >> 6 & 0x3f));
    byte(0x80 | (code & 0x3f));
  }
}

std::optional<std::uint32_t> four_hex_digits(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  std::uint32_t code = 0;
  for (const char c : text.substr(0, 4)) {
    std::uint32_t digit = 0;
    if (c >= '0' && c <= '9')
      digit = static_cast<std::uint32_t>(c - '0');
    else if (c >= 'a' && c <= 'f')
      digit = static_cast<std::uint32_t>(c - 'a' + 10);
    else if (c >= 'A' && c <= 'F')
      digit = static_cast<std::uint32_t>(c - 'A' + 10);
    else
      return std::nullopt;
    code = code << 4 | digit;
  }
  return code;
}

// The text with its escapes replaced; nothing where a \u lacks its four digits.
std::optional<std::string> unescaped(std::string_view text) {
  constexpr std::uint32_t kReplacement = 0xfffd;
  std::string out;
  while (!text.empty()) {
    const char c = text.front();
    text.remove_prefix(1);
    if (c != '\\') {
      out += c;
      continue;
    }
    if (text.empty()) break;
    const char escaped = text.front();
    text.remove_prefix(1);
    switch (escaped) {
      case 't':
        out += '\t';
        break;
      case 'n':
        out += '\n';
        break;
      case 'r':
        out += '\r';
        break;
      case 'f':
        out += '\f';
        break;
      case 'u': {
        auto code = four_hex_digits(text);
        if (!code) return std::nullopt;
        text.remove_prefix(4);
        if (*code >= 0xd800 && *code < 0xe000) {
          // A character beyond U+FFFF is written as two escapes.
          const auto low = *code < 0xdc00 && text.starts_with("\\u") ? four_hex_digits(text.substr(2)) : std::nullopt;
          if (low && *low >= 0xdc00 && *low < 0xe000) {
            text.remove_prefix(6);
            code = 0x10000 + ((*code - 0xd800) << 10) + (*low - 0xdc00);
          } else {
            code = kReplacement;
          }
        }
        append_utf8(out, *code);
        break;
      }
      default:
        out += escaped;
    }
  }
  return out;
}

// Reads natural lines, and counts them.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  bool at_end() const { return rest_.empty(); }
  int number() const { return number_; }

  std::string_view next() {
    ++number_;
    const std::size_t end = rest_.find_first_of("\r\n");
    const std::string_view line = rest_.substr(0, end);
    if (end == std::string_view::npos) {
      rest_ = {};
    } else {
      rest_.remove_prefix(end + (rest_.substr(end).starts_with("\r\n") ? 2 : 1));
    }
    return line;
  }

 private:
  std::string_view rest_;
  int number_ = 0;
};

std::string_view without_leading_blanks(std::string_view line) {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  return line;
}

bool continues(std::string_view line) {
  std::size_t backslashes = 0;
  while (backslashes < line.size() && line[line.size() - 1 - backslashes] == '\\') ++backslashes;
  return backslashes % 2 == 1;
}

struct KeyAndValue {
  std::string_view key;
  std::string_view value;
};

// Splits a logical line at the first separator that is not escaped.
KeyAndValue split_line(std::string_view line) {
  std::size_t end = 0;
  while (end < line.size() && line[end] != '=' && line[end] != ':' && !is_blank(line[end]))
    end += line[end] == '\\' && end + 1 < line.size() ? 2 : 1;
  std::string_view value = without_leading_blanks(line.substr(end));
  if (!value.empty() && (value.front() == '=' || value.front() == ':')) value = without_leading_blanks(value.substr(1));
  return {line.substr(0, end), value};
}

}  // namespace

std::string Entry::where() const { return line > 0 ? fmt::format("{}:{}: ", origin, line) : origin + " "; }

std::expected<std::vector<Entry>, std::string> parse_properties(std::string_view text, std::string_view origin) {
  std::vector<Entry> entries;
  Lines lines(text);
  while (!lines.at_end()) {
    std::string line(without_leading_blanks(lines.next()));
    const int number = lines.number();
    if (line.empty() || line.front() == '#' || line.front() == '!') continue;
    while (continues(line)) {
      line.pop_back();
      if (lines.at_end()) break;
      line += without_leading_blanks(lines.next());
    }
    const KeyAndValue raw = split_line(line);
    auto key = unescaped(raw.key);
    auto value = unescaped(raw.value);
    if (!key || !value)
      return std::unexpected(fmt::format("{}:{}: \\u without four hexadecimal digits", origin, number));
    if (key->empty()) return std::unexpected(fmt::format("{}:{}: no key before the value", origin, number));
    entries.push_back({std::move(*key), std::move(*value), std::string(origin), number});
  }
  return entries;
}

std::expected<std::string, std::string> read_text_file(const std::string& path) {
  const auto failed = [&path] {
    return std::unexpected(fmt::format("{}: cannot be read: {}", path, std::generic_category().message(errno)));
  };
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "rb"), std::fclose);
  if (!file) return failed();
  std::string text;
  std::array<char, 16 * 1024> buffer;
  while (const std::size_t n = std::fread(buffer.data(), 1, buffer.size(), file.get())) text.append(buffer.data(), n);
  if (std::ferror(file.get()) != 0) return failed();  // a directory opens, and fails only here
  return text;
}

std::expected<std::vector<Entry>, std::string> read_properties(const std::string& path) {
  auto text = read_text_file(path);
  if (!text) return std::unexpected(std::move(text).error());
  return parse_properties(*text, path);
}

std::expected<Entry, std::string> parse_override(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view name = trimmed(text.substr(0, equals));
  if (equals == std::string_view::npos || name.empty())
    return std::unexpected(fmt::format("-o {}: not of the form key=value", text));
  return Entry{std::string(name), std::string(text.substr(equals + 1)), "-o", 0};
}

}  // namespace thalweg::config
