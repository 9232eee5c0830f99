#include <gtest/gtest.h>

#include "runtime/simulated_file.h"
#include "storage/offset_index.h"
#include "storage/time_index.h"

namespace thalweg::storage {
namespace {

class IndexTest : public testing::Test {
 protected:
  runtime::SimulatedFileSystem files_{1};
  HandleCache handles_{files_, 1};
  IndexCache indexes_{1000};
  LogContext context_{.files = files_, .handles = handles_, .indexes = indexes_};
  std::function<std::string()> path_ = [] { return std::string("i"); };

  std::uint32_t lookup(OffsetIndex& index, std::int64_t offset) {
    const auto found = index.lookup(context_, offset, Blocking::allowed, path_);
    EXPECT_TRUE(found.has_value());
    return found.value_or(UINT32_MAX);
  }
};

TEST_F(IndexTest, OffsetIndexMatchesReferenceBytes) {
  OffsetIndex index(100);
  index.append(105, 300);
  index.append(161, 4196);
  ASSERT_TRUE(index.entries().write(files_, "i").has_value());
  const std::string bytes("\0\0\0\5\0\0\1\x2c\0\0\0\x3d\0\0\x10\x64", 16);
  EXPECT_EQ(*files_.read_file("i"), bytes);
}

TEST_F(IndexTest, TimeIndexMatchesReferenceBytes) {
  TimeIndex index(100);
  index.maybe_append(0x0102030405060708, 105);
  index.maybe_append(0x0102030405060708, 107);  // not newer
  index.maybe_append(0x0102030405060709, 109);
  ASSERT_TRUE(index.entries().write(files_, "i").has_value());
  const std::string bytes("\1\2\3\4\5\6\7\x8\0\0\0\5\1\2\3\4\5\6\7\x9\0\0\0\x9", 24);
  EXPECT_EQ(*files_.read_file("i"), bytes);
  EXPECT_EQ(index.last_timestamp(), 0x0102030405060709);
  EXPECT_EQ(index.last_offset(), 109);
}

TEST_F(IndexTest, LooksUpInTheFileAndInWhatWaits) {
  // Entries 0, 10, 20, …; written up to each possible place.
  for (std::uint32_t written = 0; written <= 6; ++written) {
    OffsetIndex index(1000);
    for (std::uint32_t i = 0; i < 6; ++i) {
      if (i == written) ASSERT_TRUE(index.entries().write(files_, "i").has_value());
      index.append(1010 + i * 10, 100 + i * 100);
    }
    if (written == 6) ASSERT_TRUE(index.entries().write(files_, "i").has_value());
    for (std::int64_t offset = 1000; offset < 1100; ++offset) {
      const std::int64_t n = std::min<std::int64_t>((offset - 1000) / 10, 6);
      ASSERT_EQ(lookup(index, offset), n * 100) << offset << ", " << written << " written";
    }
    for (std::uint32_t position = 0; position <= 700; position += 50) {
      const auto found = index.offset_at_or_after(context_, position, Blocking::allowed, path_);
      ASSERT_TRUE(found.has_value());
      const std::uint32_t n = position <= 100 ? 0 : (position - 1) / 100;
      if (n >= 6) {
        ASSERT_FALSE(*found) << position;
      } else {
        ASSERT_EQ(**found, 1010 + n * 10) << position;
      }
    }
    index.entries().forget_loaded(context_);
    ASSERT_TRUE(files_.remove("i").has_value());
  }
}

TEST_F(IndexTest, TimeLookupGivesTheLastOlderEntry) {
  TimeIndex index(50);
  index.maybe_append(1000, 60);
  index.maybe_append(2000, 70);
  const auto lookup = [&](std::int64_t timestamp) {
    return index.lookup(context_, timestamp, Blocking::allowed, path_).value_or(-1);
  };
  EXPECT_EQ(lookup(999), 50);
  EXPECT_EQ(lookup(1000), 60);
  EXPECT_EQ(lookup(1999), 60);
  EXPECT_EQ(lookup(9999), 70);
}

TEST_F(IndexTest, FailedWriteIsMadeAgain) {
  for (std::uint64_t n = 0; n < 3; ++n) {
    OffsetIndex index(0);
    index.append(5, 100);
    index.append(6, 200);
    files_.fail_call(n, EIO);
    EXPECT_FALSE(index.entries().write(files_, "i").has_value());
    EXPECT_EQ(lookup(index, 6), 200U) << "what waits is not lost";
    ASSERT_TRUE(index.entries().write(files_, "i").has_value());
    EXPECT_EQ(files_.read_file("i")->size(), 16U);
    index.entries().forget_loaded(context_);
  }
}

TEST_F(IndexTest, AdoptRefusesWhatCannotBe) {
  const auto adopt = [](std::uint64_t size, OffsetIndexEntry last) {
    std::uint8_t bytes[OffsetIndexEntry::kSize];
    last.encode(bytes);
    return OffsetIndex(0).adopt(size, bytes, 1000);
  };
  EXPECT_TRUE(adopt(0, {}));
  EXPECT_TRUE(adopt(16, {.relative_offset = 5, .position = 999}));
  EXPECT_FALSE(adopt(15, {.relative_offset = 5, .position = 999}));
  EXPECT_FALSE(adopt(16, {.relative_offset = 5, .position = 1000})) << "behind the log";
  EXPECT_FALSE(adopt(16, {.relative_offset = -5, .position = 10}));
  EXPECT_FALSE(adopt(16, {})) << "preallocated";
  const auto adopt_time = [](std::uint64_t size, TimeIndexEntry last) {
    std::uint8_t bytes[TimeIndexEntry::kSize];
    last.encode(bytes);
    return TimeIndex(0).adopt(size, bytes);
  };
  EXPECT_TRUE(adopt_time(0, {}));
  EXPECT_TRUE(adopt_time(12, {.timestamp = 0, .relative_offset = 0}));
  EXPECT_TRUE(adopt_time(24, {.timestamp = 7, .relative_offset = 9}));
  EXPECT_FALSE(adopt_time(23, {.timestamp = 7, .relative_offset = 9}));
  EXPECT_FALSE(adopt_time(24, {.timestamp = 0, .relative_offset = 0})) << "preallocated";
}

TEST_F(IndexTest, CacheDropsTheLeastRecentlyUsed) {
  const auto file = files_.open("f", runtime::OpenMode::create);
  ASSERT_TRUE((*file)->write_at(0, std::vector<std::uint8_t>(400, 1)).has_value());
  int opened = 0;
  const auto load = [&](std::uint64_t id, std::uint64_t size) {
    return indexes_.load(id, size, Blocking::allowed, [&] {
      ++opened;
      return files_.open("f", runtime::OpenMode::read);
    });
  };
  const std::uint64_t a = indexes_.new_id();
  const std::uint64_t b = indexes_.new_id();
  const std::uint64_t c = indexes_.new_id();
  ASSERT_TRUE(load(a, 400) && load(b, 400) && load(a, 400));
  EXPECT_EQ(opened, 2);
  ASSERT_TRUE(load(c, 400));
  EXPECT_EQ(indexes_.size_bytes(), 800U);
  ASSERT_TRUE(load(a, 400));
  EXPECT_EQ(opened, 3) << "b went, as a was used after it";
  ASSERT_TRUE(load(b, 400));
  EXPECT_EQ(opened, 4);
  EXPECT_FALSE(load(c, 401)) << "more than the file has";
  indexes_.forget(a);
  indexes_.forget(b);
  indexes_.forget(c);
  EXPECT_EQ(indexes_.size_bytes(), 0U);
}

TEST(HandleCacheTest, KeepsTheMostRecentlyUsedOpen) {
  runtime::SimulatedFileSystem files{1};
  HandleCache cache(files, 2);
  CachedFile places[3];
  const auto open = [&](int i) { return *cache.open(places[i], "f" + std::to_string(i)); };
  const auto kept = open(0);
  open(1);
  open(0);
  open(2);
  EXPECT_TRUE(places[0].is_open());
  EXPECT_FALSE(places[1].is_open()) << "the least recently used one";
  open(1);
  EXPECT_FALSE(places[0].is_open());
  const std::uint8_t byte[] = {1};
  EXPECT_TRUE(kept->write_at(0, std::span<const std::uint8_t>(byte)).has_value()) << "whoever has it may go on";
  EXPECT_EQ(cache.size(), 2U);
  EXPECT_EQ(cache.find(places[0]), nullptr);
  for (CachedFile& place : places) place.close();
  EXPECT_EQ(cache.size(), 0U);
  EXPECT_FALSE(cache.open(places[0], "missing/f", runtime::OpenMode::read).has_value());
  EXPECT_EQ(cache.size(), 0U);
}

}  // namespace
}  // namespace thalweg::storage
