#include "server/dispatch.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>
#include <string>

namespace thalweg::server {
namespace {

std::string range(int lowest, int highest) {
  return lowest == highest ? fmt::format("{}", lowest) : fmt::format("{}-{}", lowest, highest);
}

// The rows of the table in the documentation that are about a served API: "| NAME | KEY | VERSIONS | ...", where the
// versions of others are "-".
std::set<std::string> documented() {
  std::ifstream page(std::string(std::getenv("THALWEG_SOURCE_DIR")) + "/docs/compatibility.md");
  std::set<std::string> rows;
  bool in_table = false;
  for (std::string line; std::getline(page, line);) {
    if (line.starts_with("| API | key | versions |")) in_table = true;
    if (line.empty()) in_table = false;
    if (!in_table || line.starts_with("| API") || line.starts_with("| ---")) continue;
    std::size_t end = 0;
    for (int cell = 0; cell < 3; ++cell) end = line.find(" | ", end + 1);
    if (const std::string row = line.substr(0, end); !row.ends_with(" | -")) rows.insert(row);
  }
  return rows;
}

TEST(ServedApis, TheDocumentationNamesThemAndNoOthers) {
  std::set<std::string> served;
  for (const ServedApi& api : served_apis())
    served.insert(fmt::format("| {} | {} | {}", protocol::find_api(static_cast<std::int16_t>(api.key))->name,
                              static_cast<int>(api.key), range(api.lowest, api.highest)));
  EXPECT_EQ(documented(), served);
}

TEST(ServedApis, UnstableVersionsAreServedOnlyWhenAskedFor) {
  const ServedApi* metadata = find_served(static_cast<std::int16_t>(protocol::ApiKey::metadata));
  ASSERT_NE(metadata, nullptr);
  EXPECT_TRUE(serves(*metadata, metadata->highest, false));
  EXPECT_FALSE(serves(*metadata, metadata->highest + 1, false));
  EXPECT_TRUE(serves(*metadata, metadata->highest_unstable, true));
  EXPECT_FALSE(serves(*metadata, -1, true));
}

TEST(ServedApis, WhatIsNotServedIsNotFound) {
  EXPECT_EQ(find_served(-1), nullptr);
  EXPECT_EQ(find_served(9999), nullptr);
  EXPECT_EQ(find_served(static_cast<std::int16_t>(protocol::ApiKey::leader_and_isr)), nullptr);
}

}  // namespace
}  // namespace thalweg::server
