#include "inspect/walker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/text.h"
#include "inspect/catalog.h"
#include "inspect/instance.h"
#include "inspect/value_text.h"

namespace thalweg::inspect {
namespace {

using base::Bytes;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

Bytes hex(std::string_view digits) { return Bytes::copy_of(*base::hex_decode(digits)); }

Envelope body_of(std::string_view name, int version) {
  return {.message = &Catalog::built_in().find(name)->message, .version = version};
}

// The tree of a body, cut to its lines without offsets and descriptions.
std::string read(std::string_view name, int version, std::string_view digits) {
  const Walk result = walk(body_of(name, version), hex(digits));
  EXPECT_TRUE(covers(result.root));
  if (result.fault)
    return result.fault->path + " at " + std::to_string(result.fault->offset) + ": " + result.fault->reason;
  return tree_text(result.root);
}

TEST(Walker, NullsAreShown) {
  EXPECT_THAT(read("MetadataRequest", 1, "ffffffff"), HasSubstr("Topics []MetadataRequestTopic = null [0x0000, 4B]"));
  EXPECT_THAT(read("MetadataRequest", 1, "ffffffff"),
              HasSubstr("length int32 = -1 (null) [0x0000, 4B] no array follows"));
  EXPECT_THAT(read("MetadataRequest", 9, "0001000000"), HasSubstr("length uvarint = 0 (compact, null)"));
  EXPECT_THAT(read("MetadataRequest", 12,
                   "02"
                   "00000000000000000000000000000000"
                   "00"
                   "00"
                   "01"
                   "00"
                   "00"),
              HasSubstr("Name string = null (compact, len+1=0)"));
  EXPECT_THAT(read("RequestHeader", 1, "0001000400000007ffff"), HasSubstr("ClientId string = null (int16 len=-1)"));
}

TEST(Walker, OldVersionsHaveFixedLengths) {
  const std::string tree = read("MetadataRequest", 0, "0000000100027461");
  EXPECT_THAT(tree, HasSubstr("length int32 = 1 [0x0000, 4B] one element follows"));
  EXPECT_THAT(tree, HasSubstr("Name string = \"ta\" (int16 len=2) [0x0004, 4B] The topic name."));
  EXPECT_THAT(tree, Not(HasSubstr("tagged_fields")));
}

TEST(Walker, TaggedFieldsStandBehindTheirCount) {
  // Tag 0 is TopicId of OffsetCommitValue v4; tag 5 is unknown.
  const std::string tree = read("OffsetCommitValue", 4,
                                "0000000000000007"
                                "00000001"
                                "01"
                                "0000000000000000"
                                "02"
                                "001000112233445566778899aabbccddeeff"
                                "0503616263");
  EXPECT_THAT(tree, HasSubstr("tagged_fields uvarint = 2 [0x0015, 1B] number of tagged fields in this struct"));
  EXPECT_THAT(tree, HasSubstr("topicId tagged_field = tag 0 [0x0016, 18B]"));
  EXPECT_THAT(tree,
              HasSubstr("topicId uuid = 00112233-4455-6677-8899-aabbccddeeff (ABEiM0RVZneImaq7zN3u_w) [0x0018, 16B]"));
  EXPECT_THAT(tree, HasSubstr("unknown tagged_field = tag 5 [0x0028, 5B]"));
  EXPECT_THAT(tree, HasSubstr("data bytes = 616263 [0x002a, 3B]"));
}

TEST(Walker, ATaggedFieldWhoseSizeIsNotThatOfItsValueSaysSo) {
  const std::string tree = read("OffsetCommitValue", 4,
                                "0000000000000007"
                                "00000001"
                                "01"
                                "0000000000000000"
                                "01"
                                "001100112233445566778899aabbccddeeff");
  EXPECT_THAT(tree, HasSubstr("size uvarint = 17 (the value takes 16)"));
}

TEST(Walker, StructuresThatMayBeNullHaveAMarker) {
  const std::string none = read("ConsumerGroupHeartbeatResponse", 0,
                                "00000000"
                                "0000"
                                "00"
                                "01"
                                "00000000"
                                "00000000"
                                "ff"
                                "00");
  EXPECT_THAT(none, HasSubstr("Assignment Assignment = null [0x0010, 1B]"));
  EXPECT_THAT(none, HasSubstr("present int8 = -1 [0x0010, 1B]"));
  const std::string some = read("ConsumerGroupHeartbeatResponse", 0,
                                "00000000"
                                "0000"
                                "00"
                                "01"
                                "00000000"
                                "00000000"
                                "01"
                                "01"
                                "00"
                                "00");
  EXPECT_THAT(some, HasSubstr("Assignment Assignment = struct [0x0010, 3B]"));
}

TEST(Walker, ErrorCodesHaveTheirNames) {
  EXPECT_THAT(read("HeartbeatResponse", 0, "001b"), HasSubstr("ErrorCode int16 = 27 (REBALANCE_IN_PROGRESS)"));
  EXPECT_THAT(read("HeartbeatResponse", 0, "0000"), HasSubstr("ErrorCode int16 = 0 [0x0000, 2B]"));
}

TEST(Walker, AFaultNamesFieldOffsetAndReason) {
  EXPECT_EQ(read("MetadataRequest", 0, "00000002000174000a7461"),
            "MetadataRequest.Topics[1].Name at 9: a length beyond the end");
  EXPECT_EQ(read("MetadataRequest", 0, "ffffffff"),
            "MetadataRequest.Topics.length at 4: an array that must not be null is null");
  EXPECT_EQ(read("HeartbeatResponse", 0, "00"), "HeartbeatResponse.ErrorCode at 0: cut off");
}

TEST(Walker, TheTreeUpToAFaultStays) {
  const Walk result = walk(body_of("MetadataRequest", 0), hex("00000002000174000a7461"));
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->type, "string");
  EXPECT_THAT(tree_text(result.root), HasSubstr("Name string = \"t\" (int16 len=1)"));
}

TEST(Walker, EveryPrefixOfAFrameGivesATreeAndAFault) {
  const MessageEntry& fetch = *Catalog::built_in().find("FetchResponse");
  const Envelope envelope = Catalog::built_in().envelope(fetch, 12);
  const Bytes whole = smallest_instance(envelope);
  for (std::size_t n = 0; n < whole.size(); ++n) {
    const Walk result = walk(envelope, whole.first(n).copy());
    EXPECT_TRUE(result.fault) << n;
    EXPECT_TRUE(covers(result.root)) << n;
    EXPECT_LE(result.fault->offset, n);
  }
  EXPECT_FALSE(walk(envelope, whole).fault);
}

TEST(Walker, WhatLiesBehindAFrameIsLeft) {
  const MessageEntry& heartbeat = *Catalog::built_in().find("HeartbeatResponse");
  const Envelope envelope = Catalog::built_in().envelope(heartbeat, 0);
  const Walk result = walk(envelope, hex("0000000600000007001b"
                                         "0102"));
  EXPECT_FALSE(result.fault);
  EXPECT_EQ(result.rest, 2U);
  EXPECT_EQ(result.root.size, 10U);
}

TEST(Walker, AnEmptyBatchIsOpened) {
  const MessageEntry& produce = *Catalog::built_in().find("ProduceRequest");
  const Envelope envelope = Catalog::built_in().envelope(produce, 9);
  const std::string tree = tree_text(walk(envelope, smallest_instance(envelope), {.sample = true}).root);
  EXPECT_THAT(tree, HasSubstr("Records records = 61 bytes ["));
  EXPECT_THAT(tree, HasSubstr("length uvarint = 62 (compact, len+1)"));
  EXPECT_THAT(tree, HasSubstr("RecordBatch v2 ["));
  EXPECT_THAT(tree, HasSubstr("crc uint32 = 3957326339 (0xebe00203)"));
  EXPECT_THAT(tree, HasSubstr("records_count int32 = 0"));
}

TEST(Walker, RecordsAreOpened) {
  // One record, key "k", value 0x00ff, one header h=v, at 2024-01-01T00:00:00Z.
  const std::string record =
      "1a"
      "00"
      "00"
      "00"
      "026b"
      "0400ff"
      "02"
      "0268"
      "0276";
  const std::string batch =
      "0000000000000005"
      "0000003f"
      "00000000"
      "02"
      "00000000"
      "0000"
      "00000000"
      "0000018cc251f400"
      "0000018cc251f400"
      "ffffffffffffffff"
      "ffff"
      "ffffffff"
      "00000001" +
      record;
  const std::string tree = read("ProduceRequest", 3,
                                "ffff"
                                "ffff"
                                "00000000"
                                "00000001"
                                "000174"
                                "00000001"
                                "00000000"
                                "0000004b" +
                                    batch);
  EXPECT_THAT(tree, HasSubstr("max_timestamp int64 = 1704067200000 (2024-01-01T00:00:00.000Z)"));
  EXPECT_THAT(tree, HasSubstr("crc uint32 = 0 (0x00000000, but the bytes give 0x"));
  EXPECT_THAT(tree, HasSubstr("key bytes = \"k\" (varint len=1)"));
  EXPECT_THAT(tree, HasSubstr("value bytes = 00ff (varint len=2)"));
  EXPECT_THAT(tree, HasSubstr("Header[0] Header ["));
}

TEST(Walker, BeyondTheLimitElementsStandTogether) {
  // 1,000 topics "t" of one byte each.
  std::string digits = "000003e8";
  for (int i = 0; i < 1000; ++i) digits += "000174";
  const Walk result = walk(body_of("MetadataRequest", 0), hex(digits), {.max_nodes = 100});
  ASSERT_FALSE(result.fault);
  EXPECT_TRUE(covers(result.root));
  EXPECT_LT(count_nodes(result.root), 110U);
  EXPECT_EQ(result.root.size, 3004U);
  EXPECT_THAT(tree_text(result.root),
              ContainsRegex("more \\[\\]MetadataRequestTopic = 9[0-9][0-9] elements not shown"));
  // A fault among them is still found where it is.
  digits.replace(4 + 4 + 6 * 999, 4, "7fff");
  const Walk spoilt = walk(body_of("MetadataRequest", 0), hex(digits), {.max_nodes = 100});
  ASSERT_TRUE(spoilt.fault);
  EXPECT_EQ(spoilt.fault->path, "MetadataRequest.Topics[999].Name");
  EXPECT_TRUE(covers(spoilt.root));
}

TEST(ValueText, StringsStayOnTheirLine) {
  EXPECT_EQ(quoted("a\"b\\c\nd\te", 100), R"("a\"b\\c\nd\te")");
  EXPECT_EQ(quoted(std::string_view("\0\x1b[31m\x7f", 7), 100), R"("\x00\x1b[31m\x7f")");
  EXPECT_EQ(quoted("é\U0001f600", 100), "\"é\U0001f600\"");
  EXPECT_EQ(quoted("\u2028\u0085", 100), R"("\xe2\x80\xa8\xc2\x85")");
  EXPECT_EQ(quoted("\xff\xc0\x80\xed\xa0\x80\xf5", 100), R"("\xff\xc0\x80\xed\xa0\x80\xf5")");
  EXPECT_EQ(quoted("abcdef", 3), "\"abc\"... 6 bytes");
  EXPECT_EQ(quoted("é", 1), "\"é\"");
}

TEST(ValueText, NumbersReadAsWhatTheyAre) {
  EXPECT_EQ(float_text(0.0), "0.0");
  EXPECT_EQ(float_text(-0.0), "-0.0");
  EXPECT_EQ(float_text(1e300), "1e+300");
  EXPECT_EQ(float_text(-HUGE_VAL), "-Infinity");
  EXPECT_EQ(counted(1, "byte"), "1 byte");
  EXPECT_EQ(counted(0, "byte"), "0 bytes");
  const std::vector<std::uint8_t> three = {1, 2, 3};
  EXPECT_EQ(bytes_text(three, 3), "010203");
  EXPECT_EQ(bytes_text(three, 2), "0102... 3 bytes");
  EXPECT_EQ(bytes_text({}, 2), "empty");
}

TEST(Tree, DescriptionsAreCutAtSeventyFive) {
  EXPECT_EQ(shorten(std::string(78, 'a')), std::string(78, 'a'));
  EXPECT_EQ(shorten(std::string(79, 'a')), std::string(75, 'a') + "...");
  EXPECT_EQ(shorten(std::string(74, 'a') + "ééé" + std::string(10, 'b')), std::string(74, 'a') + "...");
}

TEST(Tree, CoversSeesGapsAndOverlaps) {
  Node root;
  root.size = 4;
  root.children.resize(2);
  root.children[0].size = 2;
  root.children[1].offset = 2;
  root.children[1].size = 2;
  EXPECT_TRUE(covers(root));
  root.children[1].size = 1;
  EXPECT_FALSE(covers(root));
  root.children[1] = {};
  root.children[1].offset = 1;
  root.children[1].size = 3;
  EXPECT_FALSE(covers(root));
}

}  // namespace
}  // namespace thalweg::inspect
