#include "inspect/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace thalweg::inspect {
namespace {

using testing::HasSubstr;

const Catalog& catalog() { return Catalog::built_in(); }

// The name of the subject that the words mean, with the side where they say one.
std::string meant(std::string_view words) {
  const auto match = catalog().look_up(words);
  if (!match) return match.error();
  static constexpr std::string_view kSides[] = {"", " first", " second"};
  return match->subject->name + std::string(kSides[static_cast<std::size_t>(match->side)]);
}

TEST(Catalog, HoldsEverySchemaOfTheBuild) {
  EXPECT_EQ(schema_files().size(), 286U);
  std::size_t apis = 0;
  std::size_t messages = 0;
  for (const Subject& subject : catalog().subjects()) {
    if (subject.family == Family::api) ++apis;
    messages += subject.second == nullptr ? 1 : 2;
    ASSERT_NE(subject.first, nullptr) << subject.name;
  }
  EXPECT_EQ(apis, 95U);
  EXPECT_EQ(messages, 286U);
}

TEST(Catalog, NamesAreForgiving) {
  EXPECT_EQ(meant("CreateDelegationToken"), "CreateDelegationToken");
  EXPECT_EQ(meant("createdelegationtokenrequest"), "CreateDelegationToken first");
  EXPECT_EQ(meant("create-delegation-token_RESPONSE"), "CreateDelegationToken second");
  EXPECT_EQ(meant("38"), "CreateDelegationToken");
  EXPECT_EQ(meant("apiversions"), "ApiVersions");
  EXPECT_EQ(meant("TopicRecord"), "TopicRecord");
  EXPECT_EQ(meant("topic"), "TopicRecord");
  EXPECT_EQ(meant("consumer group metadata"), "ConsumerGroupMetadata");
  EXPECT_EQ(meant("ConsumerGroupMetadataKey"), "ConsumerGroupMetadata first");
  EXPECT_EQ(meant("EndTxnMarker"), "EndTxnMarker");
}

TEST(Catalog, AnApiGoesBeforeTheRecordOfItsName) {
  EXPECT_EQ(catalog().look_up("OffsetCommit")->subject->family, Family::api);
  EXPECT_EQ(catalog().look_up("OffsetCommitRecord")->subject->family, Family::coordinator_record);
  EXPECT_EQ(catalog().look_up("OffsetCommitValue")->subject->family, Family::coordinator_record);
}

TEST(Catalog, EveryNameFindsItself) {
  for (const Subject& subject : catalog().subjects()) {
    for (const MessageEntry* entry : {subject.first, subject.second}) {
      if (entry == nullptr) continue;
      const auto match = catalog().look_up(entry->message.name);
      ASSERT_TRUE(match) << match.error();
      EXPECT_EQ(match->subject, &subject) << entry->message.name;
      EXPECT_EQ(catalog().find(entry->message.name), entry);
    }
  }
}

TEST(Catalog, ANearMissIsAnsweredWithASuggestion) {
  EXPECT_EQ(meant("Metdata"), "no message is called Metdata; did you mean Metadata?");
  EXPECT_EQ(meant("fecth"), "no message is called fecth; did you mean Fetch?");
  EXPECT_EQ(meant("CreateTopicRequest"), "no message is called CreateTopicRequest; did you mean CreateTopicsRequest?");
  EXPECT_THAT(meant("telemetry"), HasSubstr("GetTelemetrySubscriptions, PushTelemetry"));
  EXPECT_EQ(meant("qqqqqqqqqq"), "no message is called qqqqqqqqqq");
  EXPECT_EQ(meant("4711"), "no API has the key 4711");
  EXPECT_THAT(meant(""), HasSubstr("no message is called"));
}

TEST(Catalog, TheNewestStableVersionPassesOverWhatIsUnstable) {
  EXPECT_EQ(catalog().find("MetadataRequest")->newest_stable, 13);
  EXPECT_EQ(catalog().find("MetadataResponse")->newest_stable, 13);
  EXPECT_EQ(catalog().find("InitProducerIdRequest")->newest_stable, 5);
  EXPECT_EQ(catalog().find("InitProducerIdResponse")->newest_stable, 5);
  EXPECT_EQ(catalog().find("FetchRequest")->newest_stable, 18);
  EXPECT_EQ(catalog().find("StopReplicaRequest")->newest_stable, -1);
}

TEST(Catalog, HeadersFollowTheVersion) {
  const auto header = [](std::string_view name, int version) {
    return catalog().envelope(*catalog().find(name), version).header_version;
  };
  EXPECT_EQ(header("FetchRequest", 11), 1);
  EXPECT_EQ(header("FetchRequest", 12), 2);
  EXPECT_EQ(header("FetchResponse", 11), 0);
  EXPECT_EQ(header("FetchResponse", 12), 1);
  EXPECT_EQ(header("ApiVersionsRequest", 4), 2);
  EXPECT_EQ(header("ApiVersionsResponse", 4), 0);
}

TEST(Catalog, ABrokenSchemaIsNamed) {
  const SchemaFile files[] = {{"folder/Broken.json", R"({"name": "Broken", "type": "nonsense"})"}};
  const auto parsed = Catalog::parse(files);
  ASSERT_FALSE(parsed);
  EXPECT_THAT(parsed.error(), HasSubstr("folder/Broken.json"));
}

TEST(Distance, CountsChangesInsertionsDeletionsAndSwaps) {
  EXPECT_EQ(distance("", ""), 0U);
  EXPECT_EQ(distance("", "abc"), 3U);
  EXPECT_EQ(distance("fetch", "fetch"), 0U);
  EXPECT_EQ(distance("fetch", "fatch"), 1U);
  EXPECT_EQ(distance("fetch", "ftch"), 1U);
  EXPECT_EQ(distance("fetch", "feetch"), 1U);
  EXPECT_EQ(distance("fetch", "fecth"), 1U);
  EXPECT_EQ(distance("kitten", "sitting"), 3U);
}

}  // namespace
}  // namespace thalweg::inspect
