#include "base/varint.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace thalweg::base {
namespace {

TEST(Varint, EveryLengthGoesThereAndBack) {
  for (unsigned bit = 0; bit < 64; ++bit) {
    for (const std::uint64_t value : {(1ULL << bit) - 1, 1ULL << bit, (1ULL << bit) + 1}) {
      std::array<std::uint8_t, kMaxVarint64Bytes> buffer{};
      const auto* end = put_uvarint(buffer.data(), value);
      EXPECT_EQ(static_cast<std::size_t>(end - buffer.data()), uvarint_size(value));
      std::uint64_t back = 0;
      EXPECT_EQ(get_uvarint64(buffer.data(), end, back), end);
      EXPECT_EQ(back, value);
      EXPECT_EQ(get_uvarint64(buffer.data(), end - 1, back), nullptr);
    }
  }
}

TEST(Varint, SixBytesAreRefusedAndSpareBitsPass) {
  std::uint32_t value = 0;
  const std::array<std::uint8_t, 6> six = {0x80, 0x80, 0x80, 0x80, 0x80, 0x00};
  EXPECT_EQ(get_uvarint32(six.data(), six.data() + six.size(), value), nullptr);
  const std::array<std::uint8_t, 5> spare = {0xff, 0xff, 0xff, 0xff, 0x7f};
  EXPECT_NE(get_uvarint32(spare.data(), spare.data() + spare.size(), value), nullptr);
  EXPECT_EQ(value, std::numeric_limits<std::uint32_t>::max());
}

TEST(Varint, ZigZagKeepsTheExtremes) {
  for (const std::int64_t v : {std::numeric_limits<std::int64_t>::min(), std::int64_t{-1}, std::int64_t{0},
                               std::numeric_limits<std::int64_t>::max()})
    EXPECT_EQ(zigzag_decode64(zigzag_encode64(v)), v);
  EXPECT_EQ(zigzag_encode32(-1), 1U);
}

}  // namespace
}  // namespace thalweg::base
