#include "broker/disk_room.h"

#include <gtest/gtest.h>

#include "broker/log_directory.h"

namespace thalweg::broker {
namespace {

TEST(DiskRoom, BeforeTheFirstLookAllIsTaken) {
  DiskRoom room;
  EXPECT_TRUE(room.take(std::uint64_t{1} << 40));
  EXPECT_FALSE(room.full());
  EXPECT_EQ(room.free_bytes(), -1);
}

TEST(DiskRoom, TakesRecordsUpToTheMarginAndNoFurther) {
  DiskRoom room;
  room.found(1000, 400);
  EXPECT_EQ(room.free_bytes(), 1000);
  EXPECT_FALSE(room.full());
  EXPECT_TRUE(room.take(500));
  EXPECT_FALSE(room.take(101));
  EXPECT_TRUE(room.take(100)) << "what was refused takes nothing";
  EXPECT_FALSE(room.take(1));
}

TEST(DiskRoom, IsFullFromTheMarginOn) {
  DiskRoom room;
  for (const std::uint64_t free : {std::uint64_t{400}, std::uint64_t{399}, std::uint64_t{0}}) {
    room.found(free, 400);
    EXPECT_TRUE(room.full()) << free;
    EXPECT_FALSE(room.take(1)) << free;
  }
  room.found(401, 400);
  EXPECT_FALSE(room.full());
  EXPECT_TRUE(room.take(1));
}

TEST(DiskRoom, WithoutAMarginNothingIsRefused) {
  DiskRoom room;
  room.found(0, 0);
  EXPECT_FALSE(room.full());
  EXPECT_TRUE(room.take(1 << 20));
}

TEST(DiskRoom, ADiskWithoutBoundsHasRoom) {
  DiskRoom room;
  room.found(UINT64_MAX, 1000);
  EXPECT_FALSE(room.full());
  EXPECT_TRUE(room.take(std::uint64_t{1} << 60));
}

using Loads = std::vector<std::optional<std::int64_t>>;
using Places = std::vector<std::size_t>;

TEST(FewestFirst, FillsUpTheEmptiestDirectoriesFirst) {
  EXPECT_EQ(fewest_first(Loads{0}, 3), (Places{0, 0, 0}));
  EXPECT_EQ(fewest_first(Loads{0, 0, 0}, 4), (Places{0, 1, 2, 0}));
  EXPECT_EQ(fewest_first(Loads{5, 3, 4}, 4), (Places{1, 1, 2, 0}));
}

TEST(FewestFirst, LeavesOutDirectoriesThatTakeNone) {
  EXPECT_EQ(fewest_first(Loads{std::nullopt, 9, std::nullopt}, 2), (Places{1, 1}));
  EXPECT_EQ(fewest_first(Loads{std::nullopt, std::nullopt}, 2), Places());
  EXPECT_EQ(fewest_first(Loads{}, 2), Places());
}

}  // namespace
}  // namespace thalweg::broker
