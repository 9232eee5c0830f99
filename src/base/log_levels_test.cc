#include "base/log_levels.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace thalweg::base {
namespace {

class LogLevels : public testing::Test {
 protected:
  void TearDown() override {
    set_log_level(before_);
    for (const std::string_view area : log_areas()) clear_log_level(area);
  }
  const LogLevel before_ = log_level();
};

TEST_F(LogLevels, AnAreaWithoutALevelOfItsOwnHasThatOfAll) {
  set_log_level(LogLevel::warn);
  EXPECT_EQ(log_level_of("broker"), LogLevel::warn);
  EXPECT_FALSE(log_enabled("broker", LogLevel::info));
  set_log_level(LogLevel::debug);
  EXPECT_EQ(log_level_of("broker"), LogLevel::debug);
  EXPECT_TRUE(log_enabled("broker", LogLevel::debug));
}

TEST_F(LogLevels, AnAreasOwnLevelStandsUntilItIsTakenAway) {
  set_log_level(LogLevel::info);
  set_log_level("broker", LogLevel::error);
  set_log_level(LogLevel::debug);
  EXPECT_EQ(log_level_of("broker"), LogLevel::error);
  EXPECT_FALSE(log_enabled("broker", LogLevel::warn));
  EXPECT_TRUE(log_enabled("server", LogLevel::debug));
  clear_log_level("broker");
  clear_log_level("server");
  EXPECT_EQ(log_level_of("broker"), LogLevel::debug);
  EXPECT_TRUE(log_enabled("broker", LogLevel::debug));
}

// The names in LOG_...("area", and in constants for them, in a source file.
void areas_in(const std::filesystem::path& file, std::set<std::string>& areas) {
  static const std::regex kNamed(R"re((?:LOG_(?:DEBUG|INFO|WARN|ERROR)\(|kArea = )"([^"]+)")re");
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  const std::string all = text.str();
  for (std::sregex_iterator it(all.begin(), all.end(), kNamed), end; it != end; ++it) areas.insert((*it)[1]);
}

TEST_F(LogLevels, EveryAreaOfTheSourcesIsKnown) {
  const char* const root = std::getenv("THALWEG_SOURCE_DIR");
  ASSERT_NE(root, nullptr);
  std::set<std::string> used;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(root) + "/src")) {
    const std::string name = entry.path().filename();
    if (name.ends_with(".cc") && !name.ends_with("_test.cc") && !name.contains("test_util"))
      areas_in(entry.path(), used);
  }
  const std::set<std::string> known(log_areas().begin(), log_areas().end());
  EXPECT_EQ(used, known) << "kAreas in src/base/log.cc has to name them";
  EXPECT_TRUE(std::ranges::is_sorted(log_areas()));
}

}  // namespace
}  // namespace thalweg::base
