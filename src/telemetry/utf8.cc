#include "telemetry/utf8.h"

#include <algorithm>
#include <cstdint>

namespace thalweg::telemetry {

std::size_t character_bytes(std::string_view text, std::size_t at) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  const std::uint8_t first = byte(at);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || at + size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((byte(at + i) & 0xc0) != 0x80) return 0;
  const std::uint8_t second = byte(at + 1);
  // Forms that are longer than they need be, surrogates, and what lies beyond the last character.
  if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) || (first == 0xf0 && second < 0x90) ||
      (first == 0xf4 && second > 0x8f))
    return 0;
  return size;
}

std::string sound_utf8(std::string_view text) {
  std::string sound;
  sound.reserve(text.size());
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = character_bytes(text, i);
    if (size == 0) {
      sound += '?';
    } else {
      sound += text.substr(i, size);
    }
    i += std::max<std::size_t>(size, 1);
  }
  return sound;
}

}  // namespace thalweg::telemetry
