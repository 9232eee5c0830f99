// Uuid: 16 bytes, as topic ids and directory ids use them. Its text form is URL-safe base64 without padding.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/text.h"

namespace thalweg::base {

struct Uuid {
  std::array<std::uint8_t, 16> bytes{};

  [[nodiscard]] bool is_zero() const { return *this == Uuid{}; }
  [[nodiscard]] std::string str() const { return base64url_encode(bytes); }
  // 32 hexadecimal digits in groups of 8, 4, 4, 4 and 12, the way UUIDs are usually written.
  [[nodiscard]] std::string dashed() const {
    std::string text = hex_encode(bytes);
    for (const std::size_t place : {20, 16, 12, 8}) text.insert(place, 1, '-');
    return text;
  }
  // Nothing where the text is not 22 characters of URL-safe base64.
  static std::optional<Uuid> parse(std::string_view text) {
    const auto decoded = base64url_decode(text);
    if (!decoded || decoded->size() != 16) return std::nullopt;
    Uuid uuid;
    std::memcpy(uuid.bytes.data(), decoded->data(), 16);
    return uuid;
  }
  friend bool operator==(const Uuid&, const Uuid&) = default;
  friend auto operator<=>(const Uuid&, const Uuid&) = default;
};

// Makes ids; injected, so that a seeded run repeats.
class UuidSource {
 public:
  virtual ~UuidSource() = default;
  // A random (version 4) id; never zero, and its text never begins with a dash, which tools take for an option.
  virtual Uuid next() = 0;
};

}  // namespace thalweg::base

template <>
struct std::hash<thalweg::base::Uuid> {
  std::size_t operator()(const thalweg::base::Uuid& uuid) const {
    std::uint64_t halves[2];
    std::memcpy(halves, uuid.bytes.data(), sizeof halves);
    return halves[0] ^ (halves[1] * 0x9e3779b97f4a7c15ULL);
  }
};
