#include "storage/checkpoints.h"

#include <gtest/gtest.h>

#include <cerrno>

#include "runtime/simulated_file.h"

namespace thalweg::storage {
namespace {

class CheckpointsTest : public testing::Test {
 protected:
  void put(const std::string& path, std::string_view text) { ASSERT_TRUE(files_.replace_file(path, text).has_value()); }
  void SetUp() override { ASSERT_TRUE(files_.create_directories("d").has_value()); }

  runtime::SimulatedFileSystem files_{3};
};

TEST_F(CheckpointsTest, OffsetsAreWrittenAsKafkaWritesThem) {
  ASSERT_TRUE(write_offsets(files_, "d/c", {{{"b", 10}, 7}, {{"b", 2}, 9}, {{"a", 0}, 5}}).has_value());
  EXPECT_EQ(*files_.read_file("d/c"), "0\n3\na 0 5\nb 2 9\nb 10 7\n");
  const auto read = read_offsets(files_, "d/c");
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->size(), 3U);
  EXPECT_EQ(read->at({"b", 10}), 7);
  ASSERT_TRUE(write_offsets(files_, "d/c", {}).has_value());
  EXPECT_EQ(*files_.read_file("d/c"), "0\n0\n");
}

TEST_F(CheckpointsTest, MissingAndEmptyFilesHoldNothingAndBrokenOnesAreErrors) {
  EXPECT_TRUE(read_offsets(files_, "d/none")->empty());
  put("d/c", "");
  EXPECT_TRUE(read_offsets(files_, "d/c")->empty());
  put("d/c", "0\r\n1\r\none 0 5\r\n");
  EXPECT_EQ(read_offsets(files_, "d/c")->at({"one", 0}), 5);
  for (const char* text : {"1\n0\n", "0\n1\n", "0\n1\na 0\n", "0\n1\na b 1\n", "0\n1\na 0 x\n", "0\n0\na 0 1\n"}) {
    put("d/c", text);
    const auto read = read_offsets(files_, "d/c");
    ASSERT_FALSE(read.has_value()) << text;
    EXPECT_EQ(read.error().error_number, EBADMSG);
  }
}

TEST_F(CheckpointsTest, CleanShutdownIsTakenOnce) {
  EXPECT_FALSE(*take_clean_shutdown(files_, "d"));
  ASSERT_TRUE(write_clean_shutdown(files_, "d", {.broker_epoch = 15}).has_value());
  EXPECT_EQ(*files_.read_file("d/.kafka_cleanshutdown"), R"({"version":0,"brokerEpoch":15})");
  const auto taken = take_clean_shutdown(files_, "d");
  ASSERT_TRUE(taken.has_value() && *taken);
  EXPECT_EQ((*taken)->broker_epoch, 15);
  files_.crash();
  EXPECT_FALSE(*take_clean_shutdown(files_, "d")) << "it must not come back";
}

TEST_F(CheckpointsTest, CleanShutdownOfOlderVersionsSaysLess) {
  for (const char* text : {"", "{}", "{\"brokerEpoch\": }"}) {
    put("d/.kafka_cleanshutdown", text);
    const auto taken = take_clean_shutdown(files_, "d");
    ASSERT_TRUE(taken.has_value() && *taken) << text;
    EXPECT_EQ((*taken)->broker_epoch, -1);
  }
  put("d/.kafka_cleanshutdown", R"({ "brokerEpoch" : 7 , "version" : 0 })");
  EXPECT_EQ((*take_clean_shutdown(files_, "d"))->broker_epoch, 7);
}

TEST_F(CheckpointsTest, MetaProperties) {
  EXPECT_FALSE(*read_meta_properties(files_, "d"));
  MetaProperties properties{.cluster_id = "APr6-wqz_G__oYPO1lj6aA", .node_id = 3, .directory_id = {}};
  properties.directory_id = *base::Uuid::parse("CL_hM41QRyGVo29o5wKHvw");
  ASSERT_TRUE(write_meta_properties(files_, "d", properties).has_value());
  EXPECT_EQ(**read_meta_properties(files_, "d"), properties);
  // As Kafka 4.4 writes it.
  put("d/meta.properties",
      "#\n#Mon Nov 30 18:15:09 UTC 2026\nnode.id=3\ndirectory.id=CL_hM41QRyGVo29o5wKHvw\nversion=1\n"
      "cluster.id=APr6-wqz_G__oYPO1lj6aA\n");
  EXPECT_EQ(**read_meta_properties(files_, "d"), properties);
  put("d/meta.properties", "version=0\nbroker.id=3\nother = x\n");
  EXPECT_EQ((*read_meta_properties(files_, "d"))->node_id, 3);
  EXPECT_TRUE((*read_meta_properties(files_, "d"))->directory_id.is_zero());
  for (const char* text : {"version=2\n", "node.id=x\n", "directory.id=short\n"}) {
    put("d/meta.properties", text);
    EXPECT_FALSE(read_meta_properties(files_, "d").has_value()) << text;
  }
}

TEST_F(CheckpointsTest, PartitionMetadata) {
  EXPECT_FALSE(*read_partition_metadata(files_, "d"));
  const auto id = *base::Uuid::parse("dBvDMcqXQ8WDoKolAMK2KA");
  ASSERT_TRUE(write_partition_metadata(files_, "d", id).has_value());
  EXPECT_EQ(*files_.read_file("d/partition.metadata"), "version: 0\ntopic_id: dBvDMcqXQ8WDoKolAMK2KA");
  EXPECT_EQ(**read_partition_metadata(files_, "d"), id);
  for (const std::string_view unwritten : {std::string_view(), std::string_view("\0\0\0", 3)}) {
    put("d/partition.metadata", unwritten);
    const auto read = read_partition_metadata(files_, "d");
    ASSERT_TRUE(read.has_value());
    EXPECT_FALSE(read->has_value()) << "a crash has left it without its contents";
  }
  for (const char* text : {"version: 0\n", "version: x\ntopic_id: dBvDMcqXQ8WDoKolAMK2KA",
                           "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAA", "topic_id: dBvDMcqXQ8WDoKolAMK2KA"}) {
    put("d/partition.metadata", text);
    EXPECT_FALSE(read_partition_metadata(files_, "d").has_value()) << text;
  }
}

}  // namespace
}  // namespace thalweg::storage
