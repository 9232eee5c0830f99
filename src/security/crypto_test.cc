#include "security/crypto.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace thalweg::security {
namespace {

std::string hex(std::string_view bytes) {
  return base::hex_encode({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
}

TEST(Crypto, HashesAreThoseOfTheStandards) {
  // FIPS 180-4 and RFC 4231, test case 2
  EXPECT_EQ(hex(digest(Hash::sha_256, "abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(hex(hmac(Hash::sha_256, "Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(
      hex(hmac(Hash::sha_512, "Jefe", "what do ya want for nothing?")),
      "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b"
      "4b636e070a38bce737");
  // RFC 7914, section 11, its first 32 bytes
  EXPECT_EQ(hex(pbkdf2(Hash::sha_256, "passwd", "salt", 1)),
            "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc");
  EXPECT_EQ(hmac(Hash::sha_256, "", "").size(), 32U);
}

TEST(Crypto, SecretsAreEqualOnlyWhole) {
  EXPECT_TRUE(equal_secrets("", ""));
  EXPECT_TRUE(equal_secrets("ab", "ab"));
  EXPECT_FALSE(equal_secrets("ab", "ac"));
  EXPECT_FALSE(equal_secrets("ab", "abc"));
  EXPECT_FALSE(equal_secrets("", "a"));
}

TEST(Crypto, Base64IsTakenInOneFormOnly) {
  for (std::string bytes; bytes.size() < 9; bytes.push_back('\xfb')) {
    const auto back = base64_decode(base64_encode(bytes));
    ASSERT_TRUE(back);
    EXPECT_EQ(*back, bytes);
  }
  EXPECT_EQ(base64_encode("n,,"), "biws");
  for (const char* bad :
       {"biw", "biws=", "bi s", " biws", "biws\n", "b===", "YR==", "YWF=", "====", "YQ==YQ==", "bi-_"})
    EXPECT_FALSE(base64_decode(bad)) << bad;
}

}  // namespace
}  // namespace thalweg::security
