#include "security/scram_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "security/scram_credential.h"

namespace thalweg::security {

namespace {

using base::Result;

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

std::unexpected<std::string> wrong(std::string_view what) { return std::unexpected(std::string(what)); }

// Takes a value, in quotation marks or up to the next comma, off `text`.
std::optional<std::string> take_value(std::string_view& text) {
  if (!text.starts_with('"')) {
    const std::size_t comma = text.find(',');
    std::string value(trimmed(text.substr(0, comma)));
    text.remove_prefix(std::min(comma, text.size()));
    return value;
  }
  const std::size_t end = text.find('"', 1);
  if (end == std::string_view::npos) return std::nullopt;
  std::string value(text.substr(1, end - 1));
  text.remove_prefix(end + 1);
  text = trimmed(text);
  return value;
}

Result<void, std::string> set_field(ScramLine& line, std::string_view key, std::string value) {
  const auto bytes = [&](std::string& into) -> Result<void, std::string> {
    auto decoded = base64_decode(value);
    if (!decoded || decoded->empty()) return wrong(fmt::format("{} is not base64", key));
    into = std::move(*decoded);
    return {};
  };
  if (key == "name") {
    line.key.user = std::move(value);
  } else if (key == "password") {
    line.password = std::move(value);
  } else if (key == "salt") {
    return bytes(line.salt);
  } else if (key == "saltedpassword") {
    return bytes(line.salted_password);
  } else if (key == "iterations") {
    const auto read = std::from_chars(value.data(), value.data() + value.size(), line.iterations);
    if (read.ec != std::errc() || read.ptr != value.data() + value.size()) return wrong("iterations is no number");
  } else {
    return wrong("a key that is none; allowed: name, password, salt, saltedpassword, iterations");
  }
  return {};
}

Result<void, std::string> check(const ScramLine& line) {
  if (line.key.user.empty()) return wrong("name is missing");
  if (line.password.empty() == line.salted_password.empty()) return wrong("one of password and saltedpassword belongs");
  if (!line.salted_password.empty() && line.salt.empty()) return wrong("saltedpassword needs its salt");
  if (!line.salted_password.empty() && line.salted_password.size() != hash_size(hash_of(line.key.mechanism)))
    return wrong("saltedpassword is not of the mechanism's size");
  if (line.iterations < kLeastScramIterations || line.iterations > kMostScramIterations)
    return wrong(fmt::format("iterations must be from {} to {}", kLeastScramIterations, kMostScramIterations));
  return {};
}

Result<ScramLine, std::string> parse_line(std::string_view text) {
  const std::size_t equals = text.find('=');
  const auto mechanism = scram_mechanism(trimmed(text.substr(0, equals)));
  if (!mechanism) return wrong("a line begins with SCRAM-SHA-256= or SCRAM-SHA-512=");
  text = trimmed(text.substr(equals + 1));
  if (!text.starts_with('[') || !text.ends_with(']')) return wrong("behind the mechanism belongs [key=value,...]");
  text = text.substr(1, text.size() - 2);
  ScramLine line{.key = {.user = {}, .mechanism = *mechanism}, .iterations = kLeastScramIterations};
  while (!text.empty()) {
    const std::size_t at = text.find('=');
    if (at == std::string_view::npos) return wrong("behind the mechanism belongs [key=value,...]");
    const std::string_view key = trimmed(text.substr(0, at));
    text = trimmed(text.substr(at + 1));
    auto value = take_value(text);
    if (!value) return wrong("a quotation mark is not closed");
    if (!text.empty() && text.front() != ',') return wrong("a comma belongs between two keys");
    if (!text.empty()) text.remove_prefix(1);
    TRY(set_field(line, key, std::move(*value)));
  }
  TRY(check(line));
  return line;
}

}  // namespace

Result<std::vector<ScramLine>, std::string> parse_scram_file(std::string_view text) {
  std::vector<ScramLine> lines;
  for (int number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (line.empty() || line.starts_with('#')) continue;
    auto parsed = parse_line(line);
    if (!parsed) return std::unexpected(fmt::format("{}: {}", number, parsed.error()));
    lines.push_back(std::move(*parsed));
  }
  return lines;
}

records::ScramCredential credential_of(const ScramLine& line, std::string_view salt) {
  const std::string_view used = line.salt.empty() ? salt : std::string_view(line.salt);
  if (!line.salted_password.empty())
    return credential_of_salted(line.key.mechanism, line.salted_password, used, line.iterations);
  return credential_of(line.key.mechanism, line.password, used, line.iterations);
}

}  // namespace thalweg::security
