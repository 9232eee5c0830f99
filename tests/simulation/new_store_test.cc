#include "broker/new_store.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>

#include "runtime/random.h"
#include "runtime/simulated_file.h"
#include "runtime/simulated_host.h"
#include "simulation/sqlite_files.h"

namespace thalweg::simulation {
namespace {

constexpr std::uint64_t kSeeds = 12;
constexpr std::uint64_t kNoCall = UINT32_MAX;

// A folder on a disk of which one call fails, and a broker's attempts to make its store there.
class NewStore {
 public:
  NewStore(std::uint64_t seed, std::uint64_t failing_call) : host_(seed), disk_(seed), uuids_(seed) {
    EXPECT_TRUE(disk_.create_directories("/disk/data"));
    EXPECT_TRUE(disk_.sync_directory("/disk"));
    EXPECT_TRUE(disk_.sync_directory("/"));
    options_.vfs = use_sqlite_files(disk_);
    disk_.fail_call(failing_call, EIO);
  }
  base::Result<void, std::string> make() { return broker::make_store_if_missing(disk_, options_, environment()); }
  base::Result<std::string, std::string> cluster() {
    const auto store = metadata::open_sqlite_store(options_, environment());
    if (!store) return std::unexpected(store.error().message);
    return (*store)->opened_snapshot()->cluster_id();
  }
  runtime::SimulatedFileSystem& disk() { return disk_; }

 private:
  metadata::StoreEnvironment environment() { return {.writer = *writer_, .clock = host_.clock(), .uuids = uuids_}; }

  runtime::SimulatedHost host_;
  runtime::SimulatedFileSystem disk_;
  runtime::Random uuids_;
  std::unique_ptr<runtime::Pool> writer_ = host_.make_pool("metadata", 1);
  metadata::SqliteOptions options_{.path = "/disk/data/metadata.sqlite"};
};

// One call fails, for every call; then the machine's memory is lost, and with it whatever of that the disk does not
// have. The next start must not find something that it can neither read nor make anew.
TEST(NewStoreTest, WhateverFailsWhileItIsMadeTheNextStartHasAStore) {
  NewStore whole(1, kNoCall);
  const std::uint64_t before = whole.disk().calls();
  ASSERT_TRUE(whole.make());
  const std::uint64_t calls = whole.disk().calls() - before;
  ASSERT_GT(calls, 30);
  for (std::uint64_t call = 0; call < calls; ++call) {
    // What the disk has of what was not synced differs by the seed.
    for (std::uint64_t seed = call * kSeeds; seed < (call + 1) * kSeeds; ++seed) {
      NewStore store(seed, call);
      (void)store.make();
      store.disk().crash();
      const auto again = store.make();
      ASSERT_TRUE(again) << "call " << call << ", seed " << seed << ": " << again.error();
      const auto cluster = store.cluster();
      ASSERT_TRUE(cluster) << "call " << call << ", seed " << seed << ": " << cluster.error();
      ASSERT_FALSE(cluster->empty());
    }
  }
}

TEST(NewStoreTest, AStoreThatIsThereIsLeftAlone) {
  NewStore store(1, kNoCall);
  ASSERT_TRUE(store.make());
  const auto first = store.cluster();
  ASSERT_TRUE(store.make());
  EXPECT_EQ(store.cluster(), first);
  EXPECT_EQ(*store.disk().exists("/disk/data/metadata.sqlite.new"), false);
}

}  // namespace
}  // namespace thalweg::simulation
