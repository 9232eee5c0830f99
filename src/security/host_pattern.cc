#include "security/host_pattern.h"

#include <fmt/format.h>

#include <charconv>
#include <vector>

namespace thalweg::security {

namespace {

constexpr int kV4Bits = 32;
constexpr int kV6Bits = 128;

// A whole number of at most `digits` digits, or nothing.
std::optional<int> number(std::string_view text, std::size_t digits, int base) {
  if (text.empty() || text.size() > digits) return std::nullopt;
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || text.front() == '-') return std::nullopt;
  return value;
}

std::optional<Address> parse_v4(std::string_view text) {
  Address address;
  for (std::size_t i = 0; i < 4; ++i) {
    const std::size_t dot = text.find('.');
    if ((dot == std::string_view::npos) != (i == 3)) return std::nullopt;
    const auto part = number(text.substr(0, dot), 3, 10);
    if (!part || *part > 255) return std::nullopt;
    address.bytes[i] = static_cast<std::uint8_t>(*part);
    text.remove_prefix(i == 3 ? text.size() : dot + 1);
  }
  return address;
}

// The groups of one side of `::`, appended as bytes. An IPv4 address may stand for the last two.
bool append_groups(std::string_view text, std::vector<std::uint8_t>& out) {
  while (!text.empty()) {
    const std::size_t colon = text.find(':');
    const std::string_view part = text.substr(0, colon);
    if (colon == std::string_view::npos && part.contains('.')) {
      const auto v4 = parse_v4(part);
      if (!v4) return false;
      out.insert(out.end(), v4->bytes.begin(), v4->bytes.begin() + 4);
      return true;
    }
    const auto group = number(part, 4, 16);
    if (!group) return false;
    out.push_back(static_cast<std::uint8_t>(*group >> 8));
    out.push_back(static_cast<std::uint8_t>(*group));
    if (colon == std::string_view::npos) return true;
    text.remove_prefix(colon + 1);
    if (text.empty()) return false;
  }
  return true;
}

std::optional<Address> parse_v6(std::string_view text) {
  const std::size_t gap = text.find("::");
  const bool has_gap = gap != std::string_view::npos;
  std::vector<std::uint8_t> head;
  std::vector<std::uint8_t> tail;
  if (!append_groups(text.substr(0, gap), head)) return std::nullopt;
  if (has_gap && !append_groups(text.substr(gap + 2), tail)) return std::nullopt;
  Address address{.bytes = {}, .is_v6 = true};
  const std::size_t given = head.size() + tail.size();
  if (has_gap ? given >= address.bytes.size() : given != address.bytes.size()) return std::nullopt;
  std::copy(head.begin(), head.end(), address.bytes.begin());
  std::copy(tail.begin(), tail.end(), address.bytes.end() - static_cast<std::ptrdiff_t>(tail.size()));
  return address;
}

bool same_network(const Address& a, const Address& b, int bits) {
  if (a.is_v6 != b.is_v6) return false;
  std::size_t i = 0;
  for (; bits >= 8; ++i, bits -= 8)
    if (a.bytes[i] != b.bytes[i]) return false;
  return bits == 0 || ((a.bytes[i] ^ b.bytes[i]) >> (8 - bits)) == 0;
}

struct Range {
  Address address;
  int bits = 0;
};

std::optional<Range> parse_range(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = parse_address(text.substr(0, slash));
  const auto bits = number(text.substr(slash + 1), 3, 10);
  if (!address || !bits || *bits > (address->is_v6 ? kV6Bits : kV4Bits)) return std::nullopt;
  return Range{.address = *address, .bits = *bits};
}

}  // namespace

std::optional<Address> parse_address(std::string_view text) {
  return text.contains(':') ? parse_v6(text) : parse_v4(text);
}

HostPattern HostPattern::parse(std::string_view text) {
  HostPattern pattern;
  pattern.text_ = text;
  if (text == "*") {
    pattern.kind_ = Kind::any;
  } else if (text.contains('/')) {
    if (const auto range = parse_range(text)) {
      pattern.kind_ = Kind::range;
      pattern.address_ = range->address;
      pattern.bits_ = range->bits;
    }
  } else if (const auto address = parse_address(text); address && address->is_v6) {
    pattern.kind_ = Kind::address;
    pattern.address_ = *address;
  }
  return pattern;
}

base::Result<void, std::string> HostPattern::validate(std::string_view text) {
  if (text.empty()) return std::unexpected("The host must not be empty");
  if (text.contains('/') && !parse_range(text))
    return std::unexpected(fmt::format("The host '{}' is no range of addresses; write ADDRESS/BITS", text));
  return {};
}

bool HostPattern::covers(std::string_view host) const {
  switch (kind_) {
    case Kind::any:
      return true;
    case Kind::text:
      return host == text_;
    case Kind::address:
      return host == text_ || parse_address(host) == address_;
    case Kind::range: {
      const auto address = parse_address(host);
      return address && same_network(*address, address_, bits_);
    }
  }
  return false;
}

}  // namespace thalweg::security
