#include "schema/message.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace thalweg::schema {
namespace {

TEST(VersionRange, EveryFormIsReadAndWrittenBack) {
  for (const char* text : {"0", "3", "0-5", "2+", "none"}) EXPECT_EQ(VersionRange::parse(text)->str(), text);
  for (const char* text : {"", "-1", "5-3", "a", "1-", "+"}) EXPECT_FALSE(VersionRange::parse(text)) << text;
}

TEST(Schema, EveryFileOfTheProjectIsReadAndNamedAfterItsMessage) {
  const std::filesystem::path root = std::filesystem::path(std::getenv("THALWEG_SOURCE_DIR")) / "schemas";
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream in(entry.path());
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    const auto message = parse_message(text);
    ASSERT_TRUE(message) << entry.path() << ": " << message.error();
    EXPECT_EQ(message->name, entry.path().stem().string());
    ++files;
  }
  EXPECT_EQ(files, 286);
}

TEST(Schema, AFaultIsOneLineThatNamesThePlace) {
  const auto missing = parse_message(R"({"name":"X","type":"data","validVersions":"0","fields":[
    {"name":"A","type":"Nowhere","versions":"0+"}]})");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error(), "X.A: no structure Nowhere");
  const auto range = parse_message(R"({"name":"X","type":"data","validVersions":"0-","fields":[]})");
  ASSERT_FALSE(range);
  EXPECT_EQ(range.error(), "X: validVersions is \"0-\", not a version range");
}

TEST(Schema, StructuresStandBeforeTheirUsers) {
  const auto message = parse_message(R"({"name":"X","type":"data","validVersions":"0","flexibleVersions":"none",
    "fields":[{"name":"A","type":"[]Outer","versions":"0+","fields":[{"name":"B","type":"Inner","versions":"0+"}]}],
    "commonStructs":[{"name":"Inner","versions":"0+","fields":[{"name":"C","type":"int8","versions":"0+"}]}]})");
  ASSERT_TRUE(message) << message.error();
  ASSERT_EQ(message->structs.size(), 2U);
  EXPECT_EQ(message->structs[0].name, "Inner");
  EXPECT_EQ(message->structs[1].name, "Outer");
}

}  // namespace
}  // namespace thalweg::schema
