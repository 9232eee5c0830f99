#include "inspect/log_selection.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <optional>

#include "base/text.h"

namespace thalweg::inspect {

namespace {

constexpr std::string_view kHex = "hex:";

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// Takes digits off the front, exactly `count` of them, with `before` in front of them.
bool take(std::string_view& text, std::string_view before, std::size_t count, int& number) {
  if (!text.starts_with(before)) return false;
  const std::string_view digits = text.substr(before.size(), count);
  if (digits.size() != count || digits.front() == '-') return false;
  const auto value = whole_number<int>(digits);
  if (!value) return false;
  number = *value;
  text.remove_prefix(before.size() + count);
  return true;
}

}  // namespace

base::Result<OffsetRange, std::string> parse_offsets(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto first = whole_number<std::int64_t>(text.substr(0, dash));
  std::optional<std::int64_t> last = first;
  if (dash != std::string_view::npos) {
    const std::string_view end = text.substr(dash + 1);
    last = end.empty() ? INT64_MAX : whole_number<std::int64_t>(end);
  }
  if (!first || !last || *first < 0 || *last < *first)
    return std::unexpected(fmt::format("{} is no offset: write 42, 42-50, or 42- for all from there on", text));
  return OffsetRange{.first = *first, .last = *last};
}

base::Result<std::int64_t, std::string> parse_time(std::string_view text) {
  if (const auto ms = whole_number<std::int64_t>(text); ms && *ms >= 0) return *ms;
  int year = 0;
  int month = 0;
  int day = 0;
  int hour = 0;
  int minute = 0;
  int second = 0;
  int milli = 0;
  std::string_view left = text;
  bool sound = take(left, "", 4, year) && take(left, "-", 2, month) && take(left, "-", 2, day);
  if (sound && !left.empty()) {
    sound = take(left, left.front() == ' ' ? " " : "T", 2, hour) && take(left, ":", 2, minute);
    if (sound && left.starts_with(':')) sound = take(left, ":", 2, second);
    if (sound && left.starts_with('.')) sound = take(left, ".", 3, milli);
    if (left.starts_with('Z')) left.remove_prefix(1);
  }
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (!sound || !left.empty() || !date.ok() || hour > 23 || minute > 59 || second > 59)
    return std::unexpected(
        fmt::format("{} is no time: write milliseconds since 1970, or 2024-05-01T12:00:00Z, of UTC", text));
  const std::chrono::sys_time<std::chrono::milliseconds> time =
      std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
      std::chrono::seconds(second) + std::chrono::milliseconds(milli);
  return time.time_since_epoch().count();
}

base::Result<std::string, std::string> parse_key(std::string_view text) {
  if (!text.starts_with(kHex)) return std::string(text);
  const auto bytes = base::hex_decode(text.substr(kHex.size()));
  if (!bytes) return std::unexpected(fmt::format("{} has no pairs of hexadecimal digits behind hex:", text));
  return std::string(bytes->begin(), bytes->end());
}

}  // namespace thalweg::inspect
