#include "storage/batch_check.h"

#include <gtest/gtest.h>

#include "storage/test_batch.h"

namespace thalweg::storage {
namespace {

std::vector<std::uint8_t> three_batches() {
  std::vector<std::uint8_t> bytes;
  for (std::int64_t offset = 0; offset < 6; offset += 2) {
    const auto batch = test::make_batch({.records = 2, .base_offset = offset});
    bytes.insert(bytes.end(), batch.begin(), batch.end());
  }
  return bytes;
}

TEST(BatchCheck, FindsNothingInSoundBatchesWhereverTheyAreCutOff) {
  const auto bytes = three_batches();
  for (std::size_t size = 0; size <= bytes.size(); ++size)
    EXPECT_FALSE(find_unsound_batch(std::span(bytes).first(size))) << size;
}

TEST(BatchCheck, FindsEveryFlippedBitThatTheCrcCovers) {
  auto bytes = three_batches();
  const std::size_t size = bytes.size() / 3;
  for (std::size_t at = size + protocol::kCrcPosition; at < 2 * size; ++at) {
    bytes[at] ^= 0x10;
    const auto found = find_unsound_batch(bytes);
    ASSERT_TRUE(found) << at;
    EXPECT_EQ(found->position, size);
    EXPECT_EQ(found->base_offset, 2);
    bytes[at] ^= 0x10;
  }
}

TEST(BatchCheck, NamesALengthOrAMagicThatCannotBe) {
  auto bytes = three_batches();
  bytes[protocol::kMagicPosition] = 1;
  EXPECT_EQ(find_unsound_batch(bytes).value().what, "magic 1");
  bytes[protocol::kMagicPosition] = 2;
  base::store_be(bytes.data() + 8, std::int32_t{7});
  EXPECT_EQ(find_unsound_batch(bytes).value().what, "batch length 7");
}

}  // namespace
}  // namespace thalweg::storage
