#include "runtime/random.h"

#include <cstring>

namespace thalweg::runtime {

Random Random::from_machine() {
  std::random_device device;
  return Random((std::uint64_t{device()} << 32) ^ device());
}

base::Uuid Random::next() {
  while (true) {
    const std::uint64_t halves[2] = {engine_(), engine_()};
    base::Uuid uuid;
    std::memcpy(uuid.bytes.data(), halves, sizeof halves);
    uuid.bytes[6] = static_cast<std::uint8_t>((uuid.bytes[6] & 0x0f) | 0x40);
    uuid.bytes[8] = static_cast<std::uint8_t>((uuid.bytes[8] & 0x3f) | 0x80);
    // Tools take an id whose text begins with a dash for an option, so Kafka never makes one.
    if (!uuid.str().starts_with('-')) return uuid;
  }
}

}  // namespace thalweg::runtime
