#include "config/value.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace thalweg::config {
namespace {

using Problem = std::optional<std::string_view>;  // what is wrong with a value

constexpr std::array<std::string_view, 6> kClientAttributes = {"client_id",
                                                               "client_instance_id",
                                                               "client_software_name",
                                                               "client_software_version",
                                                               "client_source_address",
                                                               "client_source_port"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool equal_ignoring_case(std::string_view a, std::string_view b) { return std::ranges::equal(a, b, {}, lower, lower); }

bool among(std::string_view allowed, std::string_view value, bool ignore_case) {
  while (true) {
    const std::size_t comma = allowed.find(',');
    const std::string_view entry = allowed.substr(0, comma);
    if (ignore_case ? equal_ignoring_case(entry, value) : entry == value) return true;
    if (comma == std::string_view::npos) return false;
    allowed.remove_prefix(comma + 1);
  }
}

bool is_host(std::string_view host) {
  return !host.empty() && std::ranges::all_of(host, [](char c) {
    return is_digit(c) || (lower(c) >= 'a' && lower(c) <= 'z') || c == '-' || c == '.' || c == '_' || c == ':' ||
           c == '%';
  });
}

// host:port, where an IPv6 address may stand in brackets.
bool is_host_port(std::string_view text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return false;
  const auto port = parse_integer(text.substr(colon + 1));
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return is_host(host) && port && *port >= 0 && *port <= 65535;
}

bool is_voter(std::string_view text) {
  const std::size_t at = text.find('@');
  if (at == std::string_view::npos) return false;
  const auto id = parse_integer(text.substr(0, at));
  return id && *id >= 0 && *id <= std::numeric_limits<std::int32_t>::max() && is_host_port(text.substr(at + 1));
}

bool is_replica(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return false;
  const auto is_number = [](std::string_view part) { return !part.empty() && std::ranges::all_of(part, is_digit); };
  return is_number(text.substr(0, colon)) && is_number(text.substr(colon + 1));
}

bool is_client_match(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || text.find('=', equals + 1) != std::string_view::npos) return false;
  const std::string_view attribute = trimmed(text.substr(0, equals));
  const std::string_view pattern = trimmed(text.substr(equals + 1));
  if (std::ranges::find(kClientAttributes, attribute) == kClientAttributes.end() || pattern.empty()) return false;
  RE2::Options options;
  options.set_log_errors(false);
  return RE2(re2::StringPiece(pattern.data(), pattern.size()), options).ok();
}

bool is_offset_reset(std::string_view text) {
  constexpr std::string_view kByDuration = "by_duration:";
  if (text == "earliest" || text == "latest") return true;
  if (!text.starts_with(kByDuration)) return false;
  const auto duration = parse_duration_ms(text.substr(kByDuration.size()));
  return duration && *duration >= 0;
}

Problem check_integer(const ConfigKey& key, std::int64_t value) {
  const auto fits = [value]<class T>(T) {
    return value >= std::numeric_limits<T>::min() && value <= std::numeric_limits<T>::max();
  };
  if ((key.type == Type::int_ && !fits(std::int32_t{})) || (key.type == Type::short_ && !fits(std::int16_t{})))
    return "out of range";
  const Validator& valid = key.valid;
  if (valid.rule == Rule::range && (value < valid.min || value > valid.max) && value != valid.also)
    return "out of range";
  return std::nullopt;
}

Problem check_string(const Validator& valid, std::string_view value) {
  switch (valid.rule) {
    case Rule::one_of:
      if (!among(valid.allowed, value, valid.ignore_case)) return "not one of the known values";
      return std::nullopt;
    case Rule::non_empty:
      if (value.empty()) return "empty";
      return std::nullopt;
    case Rule::offset_reset:
      if (!is_offset_reset(value)) return "not an offset reset";
      return std::nullopt;
    case Rule::address_counts:
      if (!parse_address_counts(value)) return "not pairs of address and count";
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// Checks the entries of a list, and drops repeated ones as Kafka does.
Problem check_list(const Validator& valid, std::vector<std::string>& entries) {
  const auto all = [&entries](bool (*is)(std::string_view)) { return std::ranges::all_of(entries, is); };
  switch (valid.rule) {
    case Rule::replicas:
      if (!(entries.size() == 1 && entries[0] == "*") && !all(is_replica)) return "not a list of replicas";
      return std::nullopt;
    case Rule::voters:
      if (!all(is_voter)) return "not a list of voters";
      return std::nullopt;
    case Rule::host_ports:
      if (!all(is_host_port)) return "not a list of addresses";
      return std::nullopt;
    case Rule::client_match:
      if (!all(is_client_match)) return "not a list of patterns";
      return std::nullopt;
    default:
      break;
  }
  if (entries.empty() && !valid.empty_list_allowed) return "empty";
  if (std::ranges::any_of(entries, &std::string::empty)) return "has an empty entry";
  if (valid.rule == Rule::list && !valid.allowed.empty()) {
    const auto known = [&valid](std::string_view entry) { return among(valid.allowed, entry, valid.ignore_case); };
    if (!std::ranges::all_of(entries, known)) return "has an unknown entry";
  }
  if (valid.rule == Rule::list) {
    std::vector<std::string> distinct;
    for (std::string& entry : entries)
      if (std::ranges::find(distinct, entry) == distinct.end()) distinct.push_back(std::move(entry));
    if (distinct.size() < entries.size() && !valid.repetition_allowed) return "has a repeated entry";
    entries = std::move(distinct);
  }
  return std::nullopt;
}

// The value in DescribeConfigs' form, without the rules of its class.
std::expected<std::string, std::string_view> parse_value(const ConfigKey& key, std::string_view value) {
  Problem problem;
  switch (key.type) {
    case Type::boolean:
      if (equal_ignoring_case(value, "true")) return "true";
      if (equal_ignoring_case(value, "false")) return "false";
      return std::unexpected("not a boolean");
    case Type::int_:
    case Type::short_:
    case Type::long_: {
      const auto number = parse_integer(value);
      if (!number) return std::unexpected("not an integer");
      problem = check_integer(key, *number);
      if (problem) return std::unexpected(*problem);
      return fmt::to_string(*number);
    }
    case Type::double_: {
      const auto number = parse_double(value);
      if (!number) return std::unexpected("not a number");
      const Validator& valid = key.valid;
      if (valid.rule == Rule::real_range && (*number < valid.real_min || *number > valid.real_max))
        return std::unexpected("out of range");
      return double_text(*number);
    }
    case Type::list: {
      std::vector<std::string> entries = split_list(value);
      problem = check_list(key.valid, entries);
      if (problem) return std::unexpected(*problem);
      return join_list(entries);
    }
    case Type::unknown:
    case Type::string:
    case Type::class_:
    case Type::password:
      break;
  }
  problem = check_string(key.valid, value);
  if (problem) return std::unexpected(*problem);
  return std::string(value);
}

}  // namespace

std::expected<std::string, std::string> validate_value(const ConfigKey& key, std::string_view value) {
  auto parsed = parse_value(key, trimmed(value));
  if (!parsed) {
    const std::string_view reason = key.reason;
    std::string text = fmt::format("{}; allowed: {}", parsed.error(), allowed_text(key));
    if (!reason.empty()) text += fmt::format(" ({})", reason);
    return std::unexpected(std::move(text));
  }
  if (key.cls == KeyClass::refused && *parsed != key.default_value) {
    const std::string_view fallback = key.default_value.value_or("not set");
    return std::unexpected(fmt::format("not supported: {}; allowed: {}", key.reason,
                                       fallback.empty() ? std::string_view("empty") : fallback));
  }
  return std::move(*parsed);
}

std::string_view trimmed(std::string_view text) {
  const auto is_blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::vector<std::string> split_list(std::string_view text) {
  text = trimmed(text);
  std::vector<std::string> entries;
  if (text.empty()) return entries;
  while (true) {
    const std::size_t comma = text.find(',');
    entries.emplace_back(trimmed(text.substr(0, comma)));
    if (comma == std::string_view::npos) return entries;
    text.remove_prefix(comma + 1);
  }
}

std::string join_list(const std::vector<std::string>& entries) { return fmt::format("{}", fmt::join(entries, ",")); }

std::string append_to_list(std::string_view list, std::string_view entries) {
  std::vector<std::string> result = split_list(list);
  for (const std::string& entry : split_list(entries))
    if (std::ranges::find(result, entry) == result.end()) result.push_back(entry);
  return join_list(result);
}

std::string subtract_from_list(std::string_view list, std::string_view entries) {
  std::vector<std::string> result = split_list(list);
  for (const std::string& entry : split_list(entries)) std::erase(result, entry);
  return join_list(result);
}

std::optional<std::int64_t> parse_integer(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> parse_double(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text.front() == '+' || text.front() == '-')) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (text == "Infinity") return negative ? -HUGE_VAL : HUGE_VAL;
  auto format = std::chars_format::general;
  if (text.size() > 2 && text[0] == '0' && lower(text[1]) == 'x') {
    if (text.find_first_of("pP") == std::string_view::npos) return std::nullopt;
    format = std::chars_format::hex;
    text.remove_prefix(2);
  } else if (text.empty() || (!is_digit(text[0]) && text[0] != '.')) {
    return std::nullopt;  // also inf and nan, which from_chars would take
  }
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, format);
  if (error != std::errc{}) return std::nullopt;
  const std::string_view rest(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const bool has_suffix = rest.size() == 1 && (lower(rest[0]) == 'd' || lower(rest[0]) == 'f');
  if (!rest.empty() && !has_suffix) return std::nullopt;
  return negative ? -value : value;
}

std::string double_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "-Infinity" : "Infinity";
  if (value == 0) return std::signbit(value) ? "-0.0" : "0.0";
  // The shortest digits that read back the same: d.ddde±xx.
  std::array<char, 64> buffer;
  const auto [end, error] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::abs(value), std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<std::size_t>(end - buffer.data()));
  const std::size_t e = text.find('e');
  std::string digits(text.substr(0, e));
  std::erase(digits, '.');
  const auto exponent = static_cast<int>(parse_integer(text.substr(e + 1)).value_or(0));

  std::string result = value < 0 ? "-" : "";
  const auto count = static_cast<int>(digits.size());
  if (exponent >= -3 && exponent < 0) {
    result += "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  } else if (exponent >= 0 && exponent < 7) {
    if (count <= exponent + 1) {
      result += digits + std::string(static_cast<std::size_t>(exponent + 1 - count), '0') + ".0";
    } else {
      const std::size_t point = static_cast<std::size_t>(exponent) + 1;
      result += digits.substr(0, point) + "." + digits.substr(point);
    }
  } else {
    result += digits.substr(0, 1) + "." + (count > 1 ? digits.substr(1) : "0") + "E" + fmt::to_string(exponent);
  }
  return result;
}

std::optional<std::int64_t> parse_duration_ms(std::string_view text) {
  // [+-]P[nD][T[nH][nM][n[.fraction]S]], every n with its own sign, letters in either case.
  static const RE2 pattern(
      R"((?i)([-+]?)P(?:([-+]?[0-9]+)D)?(T(?:([-+]?[0-9]+)H)?(?:([-+]?[0-9]+)M)?(?:([-+]?[0-9]+)(?:[.,]([0-9]{0,9}))?S)?)?)");
  re2::StringPiece sign, days, time, hours, minutes, seconds, fraction;
  if (!RE2::FullMatch(re2::StringPiece(text.data(), text.size()), pattern, &sign, &days, &time, &hours, &minutes,
                      &seconds, &fraction))
    return std::nullopt;
  const bool has_time = !hours.empty() || !minutes.empty() || !seconds.empty();
  if (!has_time && (days.empty() || !time.empty())) return std::nullopt;

  std::int64_t total = 0;
  const auto add = [&total](const re2::StringPiece& digits, std::int64_t unit_ms) {
    if (digits.empty()) return true;
    const auto number = parse_integer({digits.data(), digits.size()});
    std::int64_t product = 0;
    return number && !__builtin_mul_overflow(*number, unit_ms, &product) &&
           !__builtin_add_overflow(total, product, &total);
  };
  if (!add(days, 86'400'000) || !add(hours, 3'600'000) || !add(minutes, 60'000) || !add(seconds, 1000))
    return std::nullopt;
  if (!fraction.empty()) {
    std::string milliseconds(fraction.substr(0, 3));
    milliseconds.resize(3, '0');
    const std::int64_t part = parse_integer(milliseconds).value_or(0);
    total += seconds.starts_with("-") ? -part : part;
  }
  return sign == "-" ? -total : total;
}

std::optional<std::vector<AddressCount>> parse_address_counts(std::string_view text) {
  std::vector<AddressCount> pairs;
  text = trimmed(text);
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    const std::string_view entry = trimmed(text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view{} : trimmed(text.substr(comma + 1));
    const std::size_t colon = entry.rfind(':');
    if (colon == std::string_view::npos) return std::nullopt;
    const std::string_view address = trimmed(entry.substr(0, colon));
    const auto count = parse_integer(trimmed(entry.substr(colon + 1)));
    if (!is_host(address) || !count || *count < 0 || *count > std::numeric_limits<std::int32_t>::max())
      return std::nullopt;
    pairs.push_back({std::string(address), static_cast<std::int32_t>(*count)});
  }
  return pairs;
}

}  // namespace thalweg::config
