#include "storage/key_map.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace thalweg::storage {

namespace {

// The four words of SipHash and its round.
struct Sip {
  std::uint64_t v0, v1, v2, v3;

  void rounds(int count) {
    for (int i = 0; i < count; ++i) {
      v0 += v1;
      v2 += v3;
      v1 = std::rotl(v1, 13) ^ v0;
      v3 = std::rotl(v3, 16) ^ v2;
      v0 = std::rotl(v0, 32);
      v2 += v1;
      v0 += v3;
      v1 = std::rotl(v1, 17) ^ v2;
      v3 = std::rotl(v3, 21) ^ v0;
      v2 = std::rotl(v2, 32);
    }
  }
  void absorb(std::uint64_t word) {
    v3 ^= word;
    rounds(2);
    v0 ^= word;
  }
  [[nodiscard]] std::uint64_t folded() const { return v0 ^ v1 ^ v2 ^ v3; }
};

std::uint64_t load_le(const std::uint8_t* from, std::size_t count) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < count; ++i) word |= std::uint64_t{from[i]} << (8 * i);
  return word;
}

constexpr std::size_t kFirstSlots = 1024;

}  // namespace

KeyHash hash_key(std::span<const std::uint8_t> key, const KeySecret& secret) {
  Sip sip{.v0 = secret[0] ^ 0x736f6d6570736575ULL,
          .v1 = secret[1] ^ 0x646f72616e646f6dULL ^ 0xee,
          .v2 = secret[0] ^ 0x6c7967656e657261ULL,
          .v3 = secret[1] ^ 0x7465646279746573ULL};
  std::size_t at = 0;
  for (; at + 8 <= key.size(); at += 8) sip.absorb(load_le(key.data() + at, 8));
  sip.absorb(load_le(key.data() + at, key.size() - at) | std::uint64_t{key.size()} << 56);
  sip.v2 ^= 0xee;
  sip.rounds(4);
  const std::uint64_t low = sip.folded();
  sip.v1 ^= 0xdd;
  sip.rounds(4);
  return {low, sip.folded()};
}

KeyMap::KeyMap(const Limits& limits, const KeySecret& secret)
    : secret_(secret),
      load_factor_(std::clamp(limits.load_factor, 0.01, 0.95)),
      most_slots_(std::max<std::size_t>(limits.most_bytes / sizeof(Slot), 4)),
      slots_(std::min(kFirstSlots, most_slots_)) {}

std::size_t KeyMap::slot_of(const KeyHash& hash) const {
  std::size_t slot = hash[0] % slots_.size();
  while (slots_[slot].offset >= 0 && slots_[slot].hash != hash) slot = slot + 1 < slots_.size() ? slot + 1 : 0;
  return slot;
}

void KeyMap::grow() {
  std::vector<Slot> before = std::exchange(slots_, std::vector<Slot>(std::min(slots_.size() * 2, most_slots_)));
  for (const Slot& slot : before)
    if (slot.offset >= 0) slots_[slot_of(slot.hash)] = slot;
}

bool KeyMap::put(std::span<const std::uint8_t> key, std::int64_t offset) {
  const KeyHash hash = hash_key(key, secret_);
  std::size_t slot = slot_of(hash);
  if (slots_[slot].offset < 0) {
    const auto has_room = [this] {
      return size_ == 0 || static_cast<double>(size_ + 1) <= static_cast<double>(slots_.size()) * load_factor_;
    };
    if (!has_room()) {
      if (slots_.size() == most_slots_) return false;
      grow();
      if (!has_room()) return false;
      slot = slot_of(hash);
    }
    ++size_;
  }
  slots_[slot] = {.hash = hash, .offset = offset};
  return true;
}

std::optional<std::int64_t> KeyMap::find(std::span<const std::uint8_t> key) const {
  const Slot& slot = slots_[slot_of(hash_key(key, secret_))];
  if (slot.offset < 0) return std::nullopt;
  return slot.offset;
}

}  // namespace thalweg::storage
