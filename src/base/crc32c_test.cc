#include "base/crc32c.h"

#include <gtest/gtest.h>

#include <vector>

namespace thalweg::base {
namespace {

// Check values of RFC 3720, appendix B.4.
TEST(Crc32c, MatchesThePublishedCheckValues) {
  const std::vector<std::uint8_t> zeros(32, 0);
  const std::vector<std::uint8_t> ones(32, 0xff);
  EXPECT_EQ(crc32c(zeros), 0x8a9136aaU);
  EXPECT_EQ(crc32c(ones), 0x62a8ab43U);
}

TEST(Crc32c, GoesOnFromASeed) {
  const std::vector<std::uint8_t> data = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  const std::span<const std::uint8_t> all(data);
  for (std::size_t n = 0; n <= data.size(); ++n) EXPECT_EQ(crc32c(all.subspan(n), crc32c(all.first(n))), crc32c(all));
}

}  // namespace
}  // namespace thalweg::base
