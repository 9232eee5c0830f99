#include "codegen/names.h"

#include <gtest/gtest.h>

#include "codegen/print_message.h"

namespace thalweg::codegen {
namespace {

TEST(Names, KeepKafkasWords) {
  EXPECT_EQ(snake_case("ThrottleTimeMs"), "throttle_time_ms");
  EXPECT_EQ(snake_case("timeoutMs"), "timeout_ms");
  EXPECT_EQ(snake_case("KRaftVersionRecord"), "k_raft_version_record");
  EXPECT_EQ(snake_case("HostURLs"), "host_ur_ls");
  EXPECT_EQ(snake_case("Default"), "default_");
  EXPECT_EQ(json_key("ThrottleTimeMs"), "throttleTimeMs");
}

TEST(Condition, NamesOnlyWhatCanMatter) {
  EXPECT_EQ(condition({0, 32767}, {3, 9}), "");
  EXPECT_EQ(condition({5, 32767}, {3, 9}), "version >= 5");
  EXPECT_EQ(condition({0, 5}, {3, 9}), "version <= 5");
  EXPECT_EQ(condition({5, 6}, {3, 9}), "version >= 5 && version <= 6");
  EXPECT_EQ(condition({9, 32767}, {3, 9}), "version == 9");
}

TEST(Model, ANestedStructureSeesOnlyTheVersionsThatReachIt) {
  const auto message =
      schema::parse_message(R"({"name":"X","type":"data","validVersions":"0-9","flexibleVersions":"none",
    "fields":[{"name":"A","type":"[]Inner","versions":"4-6","fields":[{"name":"B","type":"int8","versions":"0+"}]}]})");
  ASSERT_TRUE(message) << message.error();
  const MessageModel model(*message);
  EXPECT_EQ(model.find("Inner").versions, (schema::VersionRange{4, 6}));
  EXPECT_EQ(print_codec(model).find("version >= 0"), std::string::npos);
}

}  // namespace
}  // namespace thalweg::codegen
