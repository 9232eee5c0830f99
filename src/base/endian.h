// Big-endian loads and stores at any address: the byte order of the Kafka protocol and of its files.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace thalweg::base {

template <class T>
T load_be(const std::uint8_t* p) {
  static_assert(std::is_integral_v<T>);
  T value;
  std::memcpy(&value, p, sizeof value);
  if constexpr (sizeof(T) > 1 && std::endian::native == std::endian::little) value = std::byteswap(value);
  return value;
}

template <class T>
void store_be(std::uint8_t* p, T value) {
  static_assert(std::is_integral_v<T>);
  if constexpr (sizeof(T) > 1 && std::endian::native == std::endian::little) value = std::byteswap(value);
  std::memcpy(p, &value, sizeof value);
}

}  // namespace thalweg::base
