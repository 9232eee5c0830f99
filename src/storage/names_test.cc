#include <gtest/gtest.h>

#include "storage/segment_files.h"
#include "storage/topic_partition.h"

namespace thalweg::storage {
namespace {

TEST(SegmentFiles, NamesAreTwentyDigitsAndWhatTheFileIs) {
  EXPECT_EQ(segment_file_name(42, SegmentFile::log), "00000000000000000042.log");
  EXPECT_EQ(segment_file_path("d/t-0", INT64_MAX, SegmentFile::transaction_index),
            "d/t-0/09223372036854775807.txnindex");
}

TEST(SegmentFiles, NamesAreTakenApart) {
  for (const SegmentFile file : {SegmentFile::log, SegmentFile::offset_index, SegmentFile::time_index,
                                 SegmentFile::transaction_index, SegmentFile::snapshot}) {
    for (const std::string_view suffix : {std::string_view(), kDeletedSuffix, kCleanedSuffix, kSwapSuffix}) {
      const std::string name = segment_file_name(7, file) + std::string(suffix);
      const auto parsed = parse_segment_file_name(name);
      ASSERT_TRUE(parsed) << name;
      EXPECT_EQ(parsed->offset, 7);
      EXPECT_EQ(parsed->file, file);
      EXPECT_EQ(parsed->suffix, suffix);
    }
  }
  for (const std::string_view name :
       {"", ".log", "leader-epoch-checkpoint", "partition.metadata", "12", "12.", "12.logs", "x12.log", "-1.log",
        "99999999999999999999.log", "12.log.tmp", "1 2.log"})
    EXPECT_FALSE(parse_segment_file_name(name)) << name;
}

TEST(TopicPartition, FolderNames) {
  EXPECT_EQ(folder_name({"a-b", 12}), "a-b-12");
  EXPECT_EQ(parse_folder_name("a-b-12"), (TopicPartition{"a-b", 12}));
  EXPECT_EQ(parse_folder_name("t--1"), (TopicPartition{"t-", 1}));
  for (const std::string_view name : {"", "t", "t-", "-1", "t-1x", "t-01", "t-0.0-delete", "t-99999999999"})
    EXPECT_FALSE(parse_folder_name(name)) << name;
}

TEST(TopicPartition, DeletedFolderNamesStayWithinTheLimitOfFileSystems) {
  base::Uuid id;
  id.bytes.fill(1);
  const std::string name = deleted_folder_name({std::string(249, 't'), 100'000}, id);
  EXPECT_EQ(name.size(), 255U);
  EXPECT_TRUE(is_deleted_folder_name(name));
  EXPECT_FALSE(is_deleted_folder_name("t-0"));
  EXPECT_FALSE(is_deleted_folder_name("t-0-delete"));
}

}  // namespace
}  // namespace thalweg::storage
