#include "base/text.h"

#include <gtest/gtest.h>

#include "base/uuid.h"

namespace thalweg::base {
namespace {

TEST(Text, HexGoesThereAndBack) {
  const auto bytes = hex_decode("00 ff\n7A");
  ASSERT_TRUE(bytes);
  EXPECT_EQ(hex_encode(*bytes), "00ff7a");
  EXPECT_FALSE(hex_decode("0"));
  EXPECT_FALSE(hex_decode("0g"));
}

TEST(Text, Base64UrlGoesThereAndBackForEveryLength) {
  std::vector<std::uint8_t> bytes;
  for (int n = 0; n < 40; ++n) {
    const auto back = base64url_decode(base64url_encode(bytes));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, bytes);
    bytes.push_back(static_cast<std::uint8_t>(n * 37 + 251));
  }
  EXPECT_FALSE(base64url_decode("A"));
  EXPECT_FALSE(base64url_decode("AA=="));
}

TEST(Uuid, TextIsTwentyTwoCharacters) {
  Uuid uuid;
  EXPECT_EQ(uuid.str(), "AAAAAAAAAAAAAAAAAAAAAA");
  uuid.bytes[0] = 0xfb;
  uuid.bytes[15] = 1;
  EXPECT_EQ(Uuid::parse(uuid.str()), uuid);
  EXPECT_FALSE(Uuid::parse("short"));
}

}  // namespace
}  // namespace thalweg::base
