#include "runtime/simulated_file.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <set>

namespace thalweg::runtime {
namespace {

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

TEST(SimulatedFile, ReadsWhatWasWritten) {
  SimulatedFileSystem files{1};
  ASSERT_TRUE(files.create_directories("a/b").has_value());
  const auto file = files.open("a/b/f", OpenMode::create);
  ASSERT_TRUE(file.has_value());
  const std::span<const std::uint8_t> pieces[] = {bytes_of("hel"), bytes_of("lo")};
  ASSERT_TRUE((*file)->write_at(2, pieces).has_value());
  EXPECT_EQ(*files.read_file("a/b/f"), std::string("\0\0hello", 7));
  ASSERT_TRUE((*file)->truncate(4).has_value());
  EXPECT_EQ(*(*file)->size(), 4U);
  EXPECT_EQ(files.open("a/none", OpenMode::read).error().error_number, ENOENT);
  EXPECT_EQ(files.open("none/f", OpenMode::create).error().error_number, ENOENT);
  EXPECT_EQ(files.open("a/b", OpenMode::read).error().error_number, EISDIR);
  ASSERT_TRUE(files.rename("a/b", "a/c").has_value());
  const auto listed = files.list("a/c");
  ASSERT_TRUE(listed.has_value());
  ASSERT_EQ(listed->size(), 1U);
  EXPECT_EQ(listed->front().size, 4U);
  ASSERT_TRUE(files.remove("a/c/f").has_value());
  EXPECT_FALSE(*files.exists("a/c/f"));
}

TEST(SimulatedFile, CrashKeepsWhatWasSyncedAndVariesTheRest) {
  std::set<std::string> outcomes;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    SimulatedFileSystem files{seed};
    const auto file = *files.open("f", OpenMode::create);
    ASSERT_TRUE(file->write_at(0, bytes_of("safe")).has_value());
    ASSERT_TRUE(file->sync().has_value());
    ASSERT_TRUE(files.sync_directory("/").has_value());
    ASSERT_TRUE(file->write_at(4, bytes_of(std::string(1024, 'x'))).has_value());
    ASSERT_TRUE(file->write_at(1028, bytes_of("tail")).has_value());
    files.crash();
    EXPECT_EQ(file->sync().error().error_number, EIO) << "open files are dead";
    const auto text = files.read_file("f");
    ASSERT_TRUE(text.has_value());
    ASSERT_EQ(text->substr(0, 4), "safe");
    outcomes.insert(*text);
  }
  EXPECT_TRUE(outcomes.contains("safe"));
  EXPECT_TRUE(outcomes.contains("safe" + std::string(1024, 'x') + "tail"));
  EXPECT_GT(outcomes.size(), 6U) << "torn and reordered in many ways";
}

TEST(SimulatedFile, UnsyncedEntriesMayBeLostInOrder) {
  int lost = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    SimulatedFileSystem files{seed};
    for (const char* name : {"a", "b", "c"}) ASSERT_TRUE((*files.open(name, OpenMode::create))->sync().has_value());
    ASSERT_TRUE(files.rename("a", "d").has_value());
    files.crash();
    const auto there = [&](const char* name) { return *files.exists(name); };
    ASSERT_FALSE(there("a") && there("d"));
    ASSERT_FALSE(!there("b") && there("c")) << "a journal keeps the order";
    ASSERT_FALSE(!there("c") && there("d"));
    lost += there("d") ? 0 : 1;
  }
  EXPECT_GT(lost, 0);
  EXPECT_LT(lost, 100);
}

TEST(SimulatedFile, TheNthCallFails) {
  SimulatedFileSystem files{1};
  const auto file = *files.open("f", OpenMode::create);
  files.fail_call(1, EIO);
  EXPECT_TRUE(file->size().has_value());
  EXPECT_EQ(file->size().error().error_number, EIO);
  EXPECT_TRUE(file->size().has_value());
}

TEST(SimulatedFile, FailedSyncLosesDataForGood) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    SimulatedFileSystem files{seed};
    const auto file = *files.open("f", OpenMode::create);
    ASSERT_TRUE(files.sync_directory("/").has_value());
    ASSERT_TRUE(file->write_at(0, bytes_of("data")).has_value());
    files.fail_call(0, EIO);
    ASSERT_FALSE(file->sync().has_value());
    ASSERT_TRUE(file->sync().has_value()) << "the second one succeeds";
    files.crash();
    if (files.read_file("f")->empty()) return;
  }
  FAIL() << "and made nothing durable";
}

TEST(SimulatedFile, AFailedSyncOfTheDiskIsToldToEachFileThatLostSomething) {
  SimulatedFileSystem files(5);
  const auto synced = files.open("/synced", OpenMode::create).value();
  const auto dirty = files.open("/dirty", OpenMode::create).value();
  const std::array<std::uint8_t, 3> bytes{1, 2, 3};
  const std::array<std::span<const std::uint8_t>, 1> pieces{bytes};
  for (const auto& file : {synced, dirty}) ASSERT_TRUE(file->write_at(0, pieces));
  ASSERT_TRUE(synced->sync());
  files.fail_call(0, EIO);
  ASSERT_FALSE(files.sync_filesystem("/"));
  EXPECT_TRUE(synced->sync());
  EXPECT_FALSE(dirty->sync());
  EXPECT_TRUE(dirty->sync()) << "a failure is told once";
}

TEST(SimulatedFile, FullDiskTakesAPart) {
  SimulatedFileSystem files{1};
  files.set_capacity(6);
  const auto file = *files.open("f", OpenMode::create);
  ASSERT_TRUE(file->write_at(0, bytes_of("1234")).has_value());
  const auto full = file->write_at(4, bytes_of("5678"));
  ASSERT_FALSE(full.has_value());
  EXPECT_TRUE(full.error().out_of_space());
  EXPECT_EQ(*file->size(), 6U);
  EXPECT_EQ(*files.free_bytes("/"), 0U);
  ASSERT_TRUE(file->write_at(0, bytes_of("abcd")).has_value()) << "what is there may be overwritten";
  ASSERT_TRUE(file->truncate(0).has_value());
  EXPECT_TRUE(file->write_at(0, bytes_of("5678")).has_value());
}

TEST(SimulatedFile, ColdBytesAreRefusedUntilRead) {
  SimulatedFileSystem files{1};
  const auto file = *files.open("f", OpenMode::create);
  ASSERT_TRUE(file->write_at(0, bytes_of("data")).has_value());
  std::uint8_t into[4];
  EXPECT_EQ(*file->read_cached_at(0, into), 4);
  files.chill();
  EXPECT_EQ(*file->read_cached_at(0, into), -1);
  EXPECT_EQ(*file->read_at(0, into), 4U);
  EXPECT_EQ(*file->read_cached_at(0, into), 4);
}

}  // namespace
}  // namespace thalweg::runtime
