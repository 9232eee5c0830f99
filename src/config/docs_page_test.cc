#include "config/docs_page.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "config/table.h"

namespace thalweg::config {
namespace {

TEST(DocsPage, HasOneRowOfSevenCellsForEveryKey) {
  std::istringstream page(configuration_page());
  std::size_t rows = 0;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    ++rows;
    std::size_t bars = 0;
    for (std::size_t i = 0; i < line.size(); ++i)
      if (line[i] == '|' && (i == 0 || line[i - 1] != '\\')) ++bars;
    EXPECT_EQ(bars, 8u) << line;
  }
  EXPECT_EQ(rows, broker_table().keys().size() + topic_table().keys().size() + group_table().keys().size() +
                      client_metrics_table().keys().size());
}

TEST(DocsPage, SaysOfAKeyWhatTheTableSays) {
  const std::string page = configuration_page();
  EXPECT_NE(
      page.find("| `num.partitions` | INT | `1` | 1 to 2147483647 | read-only | used | Partitions of a topic that "
                "is created without a count. |\n"),
      std::string::npos);
  EXPECT_NE(
      page.find("| `remote.log.storage.system.enable` | BOOLEAN | `false` | true or false | read-only | refused |"),
      std::string::npos);
  EXPECT_NE(page.find("Another value is refused: there is no tiered storage, only diskless topics."),
            std::string::npos);
  EXPECT_NE(page.find(" Falls back to `log.retention.ms`. |"), std::string::npos);
}

TEST(DocsPage, HasAHeadingForEverySubject) {
  const std::string page = configuration_page();
  for (const Section& section : broker_table().sections())
    EXPECT_NE(page.find(fmt::format("\n## {}\n", section.title)), std::string::npos) << section.title;
}

}  // namespace
}  // namespace thalweg::config
