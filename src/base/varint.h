// Variable-length integers of the Kafka protocol: base 128, least significant group first; signed ones zig-zag.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace thalweg::base {

inline constexpr std::size_t kMaxVarint32Bytes = 5;
inline constexpr std::size_t kMaxVarint64Bytes = 10;

constexpr std::uint32_t zigzag_encode32(std::int32_t v) {
  return (static_cast<std::uint32_t>(v) << 1) ^ static_cast<std::uint32_t>(v >> 31);
}
constexpr std::int32_t zigzag_decode32(std::uint32_t v) {
  return static_cast<std::int32_t>(v >> 1) ^ -static_cast<std::int32_t>(v & 1);
}
constexpr std::uint64_t zigzag_encode64(std::int64_t v) {
  return (static_cast<std::uint64_t>(v) << 1) ^ static_cast<std::uint64_t>(v >> 63);
}
constexpr std::int64_t zigzag_decode64(std::uint64_t v) {
  return static_cast<std::int64_t>(v >> 1) ^ -static_cast<std::int64_t>(v & 1);
}

// Bytes that `value` takes, 1 .. 10.
constexpr std::size_t uvarint_size(std::uint64_t value) {
  return (static_cast<std::size_t>(std::bit_width(value | 1)) + 6) / 7;
}

// Writes `value` at `out`, which must have room for uvarint_size(value) bytes. Returns one past the last byte.
constexpr std::uint8_t* put_uvarint(std::uint8_t* out, std::uint64_t value) {
  while (value >= 0x80) {
    *out++ = static_cast<std::uint8_t>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<std::uint8_t>(value);
  return out;
}

// Reads an unsigned varint of at most five bytes from [p, end). Overlong forms and spare high bits of the fifth byte
// pass, as in the Java reference. Returns one past the last byte read, or nullptr where it is cut off or too long.
constexpr const std::uint8_t* get_uvarint32(const std::uint8_t* p, const std::uint8_t* end, std::uint32_t& value) {
  std::uint32_t result = 0;
  for (unsigned shift = 0; shift < 35; shift += 7) {
    if (p == end) return nullptr;
    const std::uint8_t byte = *p++;
    result |= static_cast<std::uint32_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      value = result;
      return p;
    }
  }
  return nullptr;
}

// The same for up to ten bytes.
constexpr const std::uint8_t* get_uvarint64(const std::uint8_t* p, const std::uint8_t* end, std::uint64_t& value) {
  std::uint64_t result = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    if (p == end) return nullptr;
    const std::uint8_t byte = *p++;
    result |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) {
      value = result;
      return p;
    }
  }
  return nullptr;
}

}  // namespace thalweg::base
