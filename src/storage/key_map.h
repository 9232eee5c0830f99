// KeyMap: the last offset of every key that a compaction has met, in bounded memory.
//
// Keys are kept as 128 bits of SipHash-2-4 with a secret, so that nobody can make two keys that are taken for one
// another. An entry takes 24 bytes; the table grows from small to its limit, open addressing, probed one by one.
//
// source: Aumasson and Bernstein, SipHash: a fast short-input PRF, with the 128-bit output of its authors
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace thalweg::storage {

using KeySecret = std::array<std::uint64_t, 2>;
using KeyHash = std::array<std::uint64_t, 2>;

KeyHash hash_key(std::span<const std::uint8_t> key, const KeySecret& secret);

class KeyMap {
 public:
  struct Limits {
    std::size_t most_bytes = std::size_t{128} << 20;
    double load_factor = 0.9;  // how full the table may get
  };
  // At least one key is held, whatever the limits.
  KeyMap(const Limits& limits, const KeySecret& secret);

  // Notes the offset for the key, in place of any before; false where there is no room for another key.
  bool put(std::span<const std::uint8_t> key, std::int64_t offset);
  [[nodiscard]] std::optional<std::int64_t> find(std::span<const std::uint8_t> key) const;
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t size_bytes() const { return slots_.size() * sizeof(Slot); }

 private:
  struct Slot {
    KeyHash hash{};
    std::int64_t offset = -1;  // -1: empty
  };
  [[nodiscard]] std::size_t slot_of(const KeyHash& hash) const;
  void grow();

  KeySecret secret_;
  double load_factor_;
  std::size_t most_slots_;
  std::size_t size_ = 0;
  std::vector<Slot> slots_;
};

}  // namespace thalweg::storage
