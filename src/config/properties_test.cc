#include "config/properties.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace thalweg::config {
namespace {

using testing::StartsWith;

// The settings as `line key=value`, so that a whole text is compared at once.
std::vector<std::string> read(std::string_view text) {
  const auto entries = parse_properties(text, "f");
  if (!entries) return {entries.error()};
  std::vector<std::string> lines;
  for (const Entry& e : *entries) lines.push_back(std::to_string(e.line) + " " + e.name + "=" + e.value);
  return lines;
}

using Lines = std::vector<std::string>;

TEST(Properties, SeparatorsAreEqualsColonAndBlanks) {
  EXPECT_EQ(read("a=1\nb:2\nc 3\nd = 4\ne \t: 5\nf\n g=7\nh==8\ni = = 9"),
            (Lines{"1 a=1", "2 b=2", "3 c=3", "4 d=4", "5 e=5", "6 f=", "7 g=7", "8 h==8", "9 i== 9"}));
}

TEST(Properties, CommentsAndBlankLinesAreSkipped) {
  EXPECT_EQ(read("# a=1\n  ! b=2\n\n \t\n# continued \\\nc=3"), (Lines{"6 c=3"}));
}

TEST(Properties, EveryKindOfLineEndCounts) { EXPECT_EQ(read("a=1\r\nb=2\rc=3"), (Lines{"1 a=1", "2 b=2", "3 c=3"})); }

TEST(Properties, ALineThatEndsInABackslashGoesOn) {
  EXPECT_EQ(read("a=1,\\\n   2,\\\r\n\t3\nb=4\\\\\nc=5\\"), (Lines{"1 a=1,2,3", "4 b=4\\", "5 c=5"}));
  // A comment sign on a continued line is no comment.
  EXPECT_EQ(read("a=1\\\n#2"), (Lines{"1 a=1#2"}));
}

TEST(Properties, EscapesStandForCharacters) {
  EXPECT_EQ(read(R"(a\=b\:c\ d=1\t2\n3)"), (Lines{"1 a=b:c d=1\t2\n3"}));
  EXPECT_EQ(read(R"(a=\u0041\u00e9\u20ac\ud83d\ude00\z)"), (Lines{"1 a=Aé€😀z"}));
  EXPECT_EQ(read(R"(a=x\ud83dy)"), (Lines{"1 a=x\xef\xbf\xbdy"}));
  EXPECT_EQ(read("\n"
                 R"(a=\u12g4)"),
            (Lines{"f:2: \\u without four hexadecimal digits"}));
}

TEST(Properties, ValuesKeepTheirTrailingBlanksAndUtf8) { EXPECT_EQ(read("a = é b  "), (Lines{"1 a=é b  "})); }

TEST(Properties, AValueWithoutAKeyIsAnError) { EXPECT_EQ(read("a=1\n=2"), (Lines{"f:2: no key before the value"})); }

TEST(Properties, EveryPrefixOfATextIsReadOrRefused) {
  const std::string text = "a\\u00e9 : b\\\n  c # d\r\n!e\nf=\\t\\\\\n";
  for (std::size_t n = 0; n <= text.size(); ++n) {
    const auto entries = parse_properties(std::string_view(text).substr(0, n), "f");
    if (!entries) EXPECT_THAT(entries.error(), StartsWith("f:1: ")) << n;
  }
}

TEST(Properties, AFileThatCannotBeReadIsNamed) {
  EXPECT_EQ(read_properties("/nowhere/server.properties").error(),
            "/nowhere/server.properties: cannot be read: No such file or directory");
  const std::string folder = std::filesystem::temp_directory_path().string();
  EXPECT_THAT(read_text_file(folder).error(), StartsWith(folder + ": cannot be read"));
}

TEST(Properties, OverridesAreKeyEqualsValue) {
  const auto entry = parse_override(" a.b =c=d ");
  ASSERT_TRUE(entry.has_value());
  EXPECT_EQ(entry->name, "a.b");
  EXPECT_EQ(entry->value, "c=d ");
  EXPECT_EQ(entry->where(), "-o ");
  EXPECT_EQ(parse_override("a.b").error(), "-o a.b: not of the form key=value");
  EXPECT_EQ(parse_override("=c").error(), "-o =c: not of the form key=value");
}

}  // namespace
}  // namespace thalweg::config
