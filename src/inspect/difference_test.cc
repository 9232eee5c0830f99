#include "inspect/difference.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "inspect/print.h"

namespace thalweg::inspect {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

base::Result<Difference, std::string> between(std::string_view words, int left, int right) {
  return compare(Catalog::built_in(), *Catalog::built_in().look_up(words), left, right);
}

std::vector<std::string> changes(std::string_view words, int left, int right) {
  std::vector<std::string> lines;
  for (const MessageDifference& message : between(words, left, right)->messages)
    for (const Change& change : message.changes)
      lines.push_back(std::string(change_name(change.kind)) + " " + change.path + " " + change.detail);
  return lines;
}

TEST(Difference, FieldsThatComeAndGo) {
  EXPECT_THAT(changes("MetadataRequest", 3, 4), ElementsAre("added AllowAutoTopicCreation bool"));
  EXPECT_THAT(changes("MetadataRequest", 10, 11), ElementsAre("removed IncludeClusterAuthorizedOperations bool"));
  EXPECT_THAT(changes("MetadataRequest", 11, 10), ElementsAre("added IncludeClusterAuthorizedOperations bool"));
  EXPECT_THAT(changes("MetadataRequest", 5, 5), ElementsAre());
}

TEST(Difference, WhatBecomesNullable) {
  EXPECT_THAT(changes("MetadataRequest", 9, 10),
              ElementsAre("added Topics[].TopicId uuid", "made nullable Topics[].Name string"));
  EXPECT_THAT(changes("MetadataRequest", 1, 0), ElementsAre("no longer nullable Topics []MetadataRequestTopic"));
}

TEST(Difference, FlexibleVersionsAndHeaders) {
  EXPECT_THAT(changes("MetadataRequest", 8, 9),
              ElementsAre("became flexible  compact lengths, tagged fields behind every struct",
                          "header  RequestHeader v1 to v2"));
  EXPECT_THAT(changes("ApiVersionsResponse", 2, 3),
              testing::Contains("became flexible  compact lengths, tagged fields behind every struct"));
  EXPECT_THAT(changes("ApiVersionsResponse", 2, 3), testing::Not(testing::Contains(HasSubstr("header"))));
}

TEST(Difference, LayoutsStandSideBySide) {
  const auto difference = between("MetadataRequest", 3, 4);
  const std::vector<LayoutRow>& rows = difference->messages[0].layout;
  const auto marked = [&](LayoutRow::Mark mark) {
    std::vector<std::string> sides;
    for (const LayoutRow& row : rows)
      if (row.mark == mark) sides.push_back(row.left + "|" + row.right);
    return sides;
  };
  EXPECT_THAT(marked(LayoutRow::Mark::only_right),
              ElementsAre(HasSubstr("|    +-- AllowAutoTopicCreation bool = false")));
  EXPECT_THAT(marked(LayoutRow::Mark::only_left), ElementsAre());
  EXPECT_THAT(marked(LayoutRow::Mark::same), testing::Contains(HasSubstr("correlation_id")));
  EXPECT_THAT(marked(LayoutRow::Mark::differs), testing::Contains(HasSubstr("size int32 = 16")));
  // Every node of both trees stands in exactly one row.
  std::size_t left = 0;
  std::size_t right = 0;
  for (const LayoutRow& row : rows) {
    left += row.left.empty() ? 0 : 1;
    right += row.right.empty() ? 0 : 1;
  }
  const Subject& subject = *difference->subject;
  EXPECT_EQ(left, count_nodes(make_message(Catalog::built_in(), subject, *subject.first, 3).tree));
  EXPECT_EQ(right, count_nodes(make_message(Catalog::built_in(), subject, *subject.first, 4).tree));
}

TEST(Difference, AVersionOutsideTheRangeIsNamed) {
  EXPECT_EQ(between("Metadata", 3, 99).error(), "MetadataRequest has no version 99: its versions are 0-14");
  EXPECT_EQ(between("MetadataRequest", -1, 3).error(), "MetadataRequest has no version -1: its versions are 0-14");
}

TEST(Difference, ARecordIsComparedByItsValue) {
  const auto difference = between("OffsetCommitRecord", 3, 4);
  ASSERT_TRUE(difference) << difference.error();
  ASSERT_EQ(difference->messages.size(), 1U);
  EXPECT_THAT(changes("OffsetCommitValue", 3, 4), testing::Contains("added topicId uuid, tag 0"));
}

TEST(Difference, EveryFormatSaysWhatChanged) {
  const auto difference = between("Metadata", 9, 10);
  EXPECT_THAT(difference_text(*difference), HasSubstr("made nullable Topics[].Name string  The topic name.\n"));
  EXPECT_THAT(difference_text(*difference, {.colour = true}), HasSubstr("\x1b[32madded\x1b[0m Topics[].TopicId uuid"));
  EXPECT_THAT(difference_json(*difference), HasSubstr("\"field\": \"Topics[].TopicId\""));
  EXPECT_THAT(difference_html(*difference), HasSubstr("<li>added <code>Topics[].TopicId</code> uuid"));
}

}  // namespace
}  // namespace thalweg::inspect
