#include "inspect/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "inspect/print.h"

namespace thalweg::inspect {
namespace {

using testing::HasSubstr;
using testing::Not;

base::Result<Page, std::string> page_of(std::string_view words, std::optional<int> version = std::nullopt) {
  return make_page(Catalog::built_in(), {.match = *Catalog::built_in().look_up(words), .version = version});
}

// Without the escape sequences of a terminal.
std::string without_colours(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\x1b') {
      at = text.find('m', at);
    } else {
      result += text[at];
    }
  }
  return result;
}

TEST(Page, IsOfTheNewestStableVersion) {
  EXPECT_EQ(page_of("Metadata")->version, 13);
  EXPECT_FALSE(page_of("Metadata")->unstable);
  EXPECT_EQ(page_of("InitProducerId")->version, 5);
  EXPECT_EQ(page_of("Metadata")->messages.size(), 2U);
  EXPECT_EQ(page_of("MetadataResponse")->messages.size(), 1U);
}

TEST(Page, AnUnstableVersionIsMarked) {
  const auto page = page_of("Metadata", 14);
  ASSERT_TRUE(page);
  EXPECT_TRUE(page->unstable);
  EXPECT_THAT(page_text(*page), HasSubstr("encoded at         v14, unstable"));
  EXPECT_THAT(page->introduction, HasSubstr("Version 14 is unstable"));
  EXPECT_EQ(nlohmann::json::parse(page_json(*page))["unstable"], true);
  EXPECT_THAT(page_text(*page_of("Metadata", 13)), Not(HasSubstr("unstable")));
}

TEST(Page, AVersionOutsideTheRangeIsNamed) {
  EXPECT_EQ(page_of("Metadata", 15).error(), "MetadataRequest has no version 15: its versions are 0-14");
  EXPECT_EQ(page_of("FetchResponse", 3).error(), "FetchResponse has no version 3: its versions are 4-18");
  EXPECT_EQ(page_of("GetTelemetrySubscriptions", -1).error(),
            "GetTelemetrySubscriptionsRequest has no version -1: its only version is 0");
  EXPECT_EQ(page_of("StopReplica").error(), "StopReplicaRequest was removed from the protocol: it has no versions");
  EXPECT_EQ(page_of("OffsetCommitValue", 5).error(), "OffsetCommitValue has no version 5: its versions are 0-4");
}

TEST(Page, AnOldVersionIsNotFlexible) {
  const auto page = page_of("Metadata", 8);
  EXPECT_THAT(page->introduction, HasSubstr("Version 8 is not a flexible version"));
  EXPECT_THAT(page_text(*page), HasSubstr("headers            req v1, resp v0"));
  EXPECT_THAT(page_text(*page), HasSubstr("MetadataRequest v8, request header v1,"));
}

TEST(Page, ARecordHasAKeyAndAValueWithWhatTheLogPutsInFront) {
  const auto page = page_of("OffsetCommitRecord", 1);
  ASSERT_TRUE(page);
  ASSERT_EQ(page->messages.size(), 2U);
  EXPECT_EQ(page->messages[0].envelope.version, 0);
  EXPECT_EQ(page->messages[1].envelope.version, 1);
  const std::string text = page_text(*page);
  EXPECT_THAT(text, HasSubstr("stored in          __consumer_offsets"));
  EXPECT_THAT(text, HasSubstr("record_type int16 = 1 [0x0000, 2B]"));
  EXPECT_THAT(text, HasSubstr("value_version int16 = 1 [0x0000, 2B]"));
  EXPECT_THAT(text, HasSubstr("value versions     0-4"));
  EXPECT_THAT(text, HasSubstr("OffsetCommitKey v0, 10 bytes in the log"));
  EXPECT_THAT(text, HasSubstr("colours: frame, message body\n"));
}

TEST(Page, AMetadataRecordBeginsWithThreeVarints) {
  const auto page = page_of("TopicRecord");
  ASSERT_TRUE(page);
  const std::string text = page_text(*page);
  EXPECT_THAT(text, HasSubstr("0000  01 02 00 01"));
  EXPECT_THAT(text, HasSubstr("frame_version uvarint = 1 [0x0000, 1B]"));
  EXPECT_THAT(text, HasSubstr("record_type uvarint = 2 [0x0001, 1B]"));
  EXPECT_THAT(text, HasSubstr("record_version uvarint = 0 [0x0002, 1B]"));
  EXPECT_THAT(text, HasSubstr("stored in          __cluster_metadata"));
}

TEST(Page, EverySubjectHasOneInEveryFormatAndVersion) {
  std::size_t pages = 0;
  for (const Subject& subject : Catalog::built_in().subjects()) {
    const MessageEntry& main = subject.family == Family::coordinator_record ? *subject.second : *subject.first;
    const schema::VersionRange versions = main.message.versions;
    for (int version = versions.lowest; version <= versions.highest; ++version) {
      const auto page = make_page(Catalog::built_in(), {.match = {&subject}, .version = version});
      ASSERT_TRUE(page) << page.error();
      const std::string text = page_text(*page);
      EXPECT_EQ(without_colours(page_text(*page, {.colour = true})), text);
      const nlohmann::json json = nlohmann::json::parse(page_json(*page));
      EXPECT_EQ(json["messages"].size(), page->messages.size());
      EXPECT_THAT(page_html(*page), HasSubstr("<h1>" + subject.name + "</h1>"));
      ++pages;
    }
  }
  EXPECT_GT(pages, 400U);
}

TEST(Page, ColoursAreThoseOfTheParts) {
  const auto page = page_of("Produce");
  const std::vector<Part> parts = parts_of(page->messages[0].tree, page->messages[0].bytes.size());
  for (const Part part : {Part::frame, Part::rpc_header, Part::request_body, Part::record_batch, Part::tagged_fields})
    EXPECT_THAT(parts, testing::Contains(part)) << part_name(part);
  EXPECT_EQ(std::ranges::count(parts, Part::record_batch), 61);
  EXPECT_EQ(std::ranges::count(parts, Part::frame), 4);
  const std::string text = page_bytes(*page_of("ProduceRequest"), {.colour = true});
  EXPECT_THAT(text, HasSubstr("\x1b[90m00\x1b[0m"));
  EXPECT_THAT(text, HasSubstr("\x1b[35meb\x1b[0m"));
  EXPECT_THAT(page_text(*page), Not(HasSubstr("\x1b")));
}

TEST(Page, SeveralBytesOrSchemasAreTold) {
  const auto page = page_of("CreateDelegationToken");
  EXPECT_THAT(page_bytes(*page), HasSubstr("# CreateDelegationTokenResponse v3, response header v1, 46 bytes"));
  EXPECT_THAT(page_schemas(*page), HasSubstr("// CreateDelegationTokenRequest.json\n{"));
  EXPECT_THAT(page_schemas(*page_of("CreateDelegationTokenRequest")), testing::StartsWith("{\n"));
}

TEST(List, TabulatesEveryApi) {
  const std::string text = list_text(Catalog::built_in());
  for (const Subject& subject : Catalog::built_in().subjects()) EXPECT_THAT(text, HasSubstr(" " + subject.name + " "));
  EXPECT_THAT(text, testing::ContainsRegex("3 +Metadata +0-14 +0-14 +9\\+ +13 +broker\n"));
  EXPECT_THAT(text, testing::ContainsRegex("5 +StopReplica +none +none +removed"));
  const nlohmann::json json = nlohmann::json::parse(list_json(Catalog::built_in()));
  EXPECT_EQ(json["apis"].size(), 95U);
  EXPECT_EQ(json["records"].size(), 71U);
}

TEST(Html, TextIsEscaped) {
  const auto page = page_of("MetadataRequest");
  const std::string html = page_html(*page);
  EXPECT_THAT(html, HasSubstr("&quot;request metadata for all topics.&quot;"));
  EXPECT_THAT(html, HasSubstr("title=\"request_api_key int16 = 3 (Metadata)\">"));
  EXPECT_THAT(html, Not(HasSubstr("<script")));
}

}  // namespace
}  // namespace thalweg::inspect
