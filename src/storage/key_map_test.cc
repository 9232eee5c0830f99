#include "storage/key_map.h"

#include <gtest/gtest.h>

#include <string>
#include <unordered_map>

namespace thalweg::storage {
namespace {

std::span<const std::uint8_t> bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// The first of the vectors that come with SipHash's reference implementation, for a 128-bit output: key 00 01 .. 0f,
// input empty, 00, 00 01, ... and one of 63 bytes.
TEST(KeyMap, HashMatchesReferenceVectors) {
  const KeySecret secret{0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL};
  const auto hash_of = [&](std::size_t size) {
    std::string input;
    for (std::size_t i = 0; i < size; ++i) input.push_back(static_cast<char>(i));
    return hash_key(bytes(input), secret);
  };
  EXPECT_EQ(hash_of(0), (KeyHash{0xe6a825ba047f81a3ULL, 0x930255c71472f66dULL}));
  EXPECT_EQ(hash_of(1), (KeyHash{0x44af996bd8c187daULL, 0x45fc229b11597634ULL}));
  EXPECT_EQ(hash_of(2), (KeyHash{0xc75da4a48d227781ULL, 0xe4ff0af6de8ba3fcULL}));
}

TEST(KeyMap, RemembersTheLastOffsetOfEveryKey) {
  KeyMap map({.most_bytes = 1 << 20, .load_factor = 0.9}, {1, 2});
  std::unordered_map<std::string, std::int64_t> model;
  for (std::int64_t offset = 0; offset < 40'000; ++offset) {
    const std::string key = "key-" + std::to_string(offset * 7919 % 9973);
    ASSERT_TRUE(map.put(bytes(key), offset));
    model[key] = offset;
  }
  EXPECT_EQ(map.size(), model.size());
  for (const auto& [key, offset] : model) ASSERT_EQ(map.find(bytes(key)), offset) << key;
  EXPECT_EQ(map.find(bytes("key-10000")), std::nullopt);
  EXPECT_EQ(map.find(bytes("")), std::nullopt);
}

TEST(KeyMap, StaysWithinItsMemoryAndRefusesNewKeysOnly) {
  KeyMap map({.most_bytes = 24 * 5000, .load_factor = 0.5}, {1, 2});
  std::int64_t offset = 0;
  while (map.put(bytes("key-" + std::to_string(offset)), offset)) ++offset;
  EXPECT_EQ(offset, 2500);
  EXPECT_LE(map.size_bytes(), 24U * 5000);
  EXPECT_TRUE(map.put(bytes("key-17"), 99'999));
  EXPECT_EQ(map.find(bytes("key-17")), 99'999);
  EXPECT_EQ(map.find(bytes("key-2500")), std::nullopt);
}

TEST(KeyMap, HoldsOneKeyHoweverSmallItMayBe) {
  KeyMap map({.most_bytes = 0, .load_factor = 0}, {1, 2});
  EXPECT_TRUE(map.put(bytes("a"), 1));
  EXPECT_FALSE(map.put(bytes("b"), 2));
  EXPECT_EQ(map.find(bytes("a")), 1);
}

}  // namespace
}  // namespace thalweg::storage
