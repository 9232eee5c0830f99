// The walker and the smallest instances against the bytes that the Java reference wrote.
#include <gtest/gtest.h>

#include "base/text.h"
#include "inspect/catalog.h"
#include "inspect/instance.h"
#include "inspect/page.h"
#include "inspect/walker.h"
#include "vectors/vector_file.h"

namespace thalweg::inspect {
namespace {

using base::Bytes;
using protocol::for_each_line;
using protocol::from_hex;
using protocol::Json;

constexpr const char* kFiles[] = {"requests.jsonl.gz", "responses.jsonl.gz", "data.jsonl.gz", "internal.jsonl.gz",
                                  "MetadataRequest.v14.jsonl"};

const MessageEntry& entry_of(const Json& line) { return *Catalog::built_in().find(line["message"].get<std::string>()); }

const Subject& subject_of(const MessageEntry& entry) {
  return *Catalog::built_in().look_up(entry.message.name)->subject;
}

std::size_t leaf_bytes(const Node& node) {
  if (node.children.empty()) return node.size;
  std::size_t sum = 0;
  for (const Node& child : node.children) sum += leaf_bytes(child);
  return sum;
}

TEST(SmallestInstance, IsTheReferencesOwnInEveryMessageAndVersion) {
  int lines = 0;
  for (const char* file : kFiles) {
    for_each_line(file, [&](const Json& line) {
      if (line["kind"] != "min") return;
      ++lines;
      SCOPED_TRACE(line["message"].get<std::string>() + " v" + line["version"].dump());
      const MessageEntry& entry = entry_of(line);
      const PageMessage page = make_message(Catalog::built_in(), subject_of(entry), entry, line["version"].get<int>());
      const std::string body = base::hex_encode(page.bytes.slice(page.bytes.size() - page.body_size).span());
      EXPECT_EQ(body, line["hex"].get<std::string>());
      if (line.contains("wireSize")) EXPECT_EQ(page.bytes.size(), line["wireSize"].get<std::size_t>());
      if (line.contains("headerVersion")) EXPECT_EQ(page.envelope.header_version, line["headerVersion"].get<int>());
      EXPECT_TRUE(covers(page.tree));
      EXPECT_EQ(page.tree.size, page.bytes.size());
      EXPECT_EQ(leaf_bytes(page.tree), page.bytes.size());
    });
  }
  EXPECT_EQ(lines, 744 + 1);
}

TEST(Walker, ReadsEveryReferenceMessageWhole) {
  int lines = 0;
  for (const char* file : kFiles) {
    for_each_line(file, [&](const Json& line) {
      ++lines;
      SCOPED_TRACE(line["message"].get<std::string>() + " v" + line["version"].dump() + " " + line.value("kind", ""));
      const Envelope envelope{.message = &entry_of(line).message, .version = line["version"].get<int>()};
      const Bytes bytes = from_hex(line["hex"].get<std::string>());
      const Walk read = walk(envelope, bytes);
      ASSERT_FALSE(read.fault) << read.fault->path << ": " << read.fault->reason;
      EXPECT_EQ(read.rest, 0U);
      EXPECT_EQ(read.root.size, bytes.size());
      EXPECT_TRUE(covers(read.root));
    });
  }
  EXPECT_EQ(lines, 2591 + 2629 + 194 + 923 + 6);
}

TEST(Walker, RefusesWhatTheReferenceRefuses) {
  int lines = 0;
  for_each_line("mutations.jsonl.gz", [&](const Json& line) {
    ++lines;
    SCOPED_TRACE(line["message"].get<std::string>() + " v" + line["version"].dump() + " " +
                 line["hex"].get<std::string>());
    const Envelope envelope{.message = &entry_of(line).message, .version = line["version"].get<int>()};
    const Bytes bytes = from_hex(line["hex"].get<std::string>());
    const Walk read = walk(envelope, bytes);
    EXPECT_EQ(read.fault.has_value(), line.contains("error"));
    EXPECT_TRUE(covers(read.root));
    if (!read.fault) {
      EXPECT_EQ(read.rest, line.value("rest", std::size_t{0}));
    } else {
      EXPECT_LE(read.fault->offset, bytes.size());
      EXPECT_FALSE(read.fault->path.empty());
    }
  });
  EXPECT_EQ(lines, 2519);
}

TEST(Walker, ReadsEveryRecordBatchOfTheReference) {
  // As the records of a produce request, whose bytes the batches are.
  const Envelope envelope{.message = &Catalog::built_in().find("ProduceRequest")->message, .version = 3};
  int lines = 0;
  for_each_line("records.jsonl.gz", [&](const Json& line) {
    if (!line.contains("hex")) return;
    ++lines;
    SCOPED_TRACE(line["name"].get<std::string>());
    const Bytes batches = from_hex(line["hex"].get<std::string>());
    protocol::Writer writer;
    writer.null_string(false);
    writer.fixed<std::int16_t>(-1);
    writer.fixed<std::int32_t>(0);
    writer.fixed<std::int32_t>(1);
    writer.string("t", false);
    writer.fixed<std::int32_t>(1);
    writer.fixed<std::int32_t>(0);
    writer.bytes(batches, false);
    const Bytes bytes = std::move(writer).finish().flatten();
    const Walk read = walk(envelope, bytes);
    ASSERT_FALSE(read.fault) << read.fault->path << ": " << read.fault->reason;
    EXPECT_TRUE(covers(read.root));
    EXPECT_EQ(read.root.size, bytes.size());
    // RecordBatch nodes of format v2 hold as many records as the reference read, where they are not compressed.
    const Node* node = &read.root;
    while (node->kind != NodeKind::records && !node->children.empty()) node = &node->children.back();
    ASSERT_EQ(node->kind, NodeKind::records);
    std::size_t at = 0;
    for (const Node& batch : node->children) {
      if (batch.name != "RecordBatch") continue;
      while (at < line["read"]["batches"].size() &&
             line["read"]["batches"][at]["position"].get<std::size_t>() + node->children.front().offset + 4 !=
                 batch.offset)
        ++at;
      ASSERT_LT(at, line["read"]["batches"].size());
      const Json& expected = line["read"]["batches"][at];
      EXPECT_EQ(batch.size, expected["sizeInBytes"].get<std::size_t>());
      std::size_t records = 0;
      bool damaged = false;
      for (const Node& child : batch.children) {
        if (child.type == "Record") ++records;
        damaged |= child.name == "damaged" || (!child.children.empty() && child.children.back().name == "damaged");
      }
      if (!expected.contains("error") && expected["compression"] == "none") {
        EXPECT_EQ(records, expected["records"].size());
        EXPECT_FALSE(damaged);
      }
    }
  });
  EXPECT_GT(lines, 150);
}

}  // namespace
}  // namespace thalweg::inspect
