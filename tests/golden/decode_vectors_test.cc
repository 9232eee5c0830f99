// What `decode --format json` prints, against everything that the Java reference wrote.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/text.h"
#include "inspect/decode.h"
#include "inspect/print.h"
#include "inspect/records_json.h"
#include "vectors/vector_file.h"

namespace thalweg::inspect {
namespace {

using base::Bytes;
using protocol::for_each_line;
using protocol::from_hex;
using protocol::Json;

const Catalog& catalog() { return Catalog::built_in(); }

Envelope body_of(const Json& line) {
  return {.message = &catalog().find(line["message"].get<std::string>())->message,
          .version = line["version"].get<int>()};
}

std::string title(const Json& line) {
  return line["message"].get<std::string>() + " v" + line["version"].dump() + " " + line.value("kind", "");
}

// Printed again by the same code, so that only what it says is compared: key by key, in this order.
std::string levelled(const std::string& json) {
  const Json parsed = Json::parse(json, nullptr, /*allow_exceptions=*/false);
  return parsed.is_discarded() ? "no JSON: " + json : parsed.dump();
}

int compare_messages(const char* file) {
  int lines = 0;
  for_each_line(file, [&](const Json& line) {
    ++lines;
    SCOPED_TRACE(title(line));
    const MessageJson read = decode_json(body_of(line), from_hex(line["hex"].get<std::string>()));
    ASSERT_TRUE(read.whole);
    EXPECT_EQ(read.rest, 0U);
    EXPECT_EQ(levelled(read.json), line["json"].dump());
    EXPECT_EQ(levelled(unknown_json(read.unknown)), line.value("unknown", Json::array()).dump());
  });
  return lines;
}

TEST(DecodeJson, IsTheReferencesForEveryRequest) { EXPECT_EQ(compare_messages("requests.jsonl.gz"), 2591); }
TEST(DecodeJson, IsTheReferencesForEveryResponse) { EXPECT_EQ(compare_messages("responses.jsonl.gz"), 2629); }
TEST(DecodeJson, IsTheReferencesForEveryDataSchema) { EXPECT_EQ(compare_messages("data.jsonl.gz"), 194); }
TEST(DecodeJson, IsTheReferencesForEveryInternalRecord) { EXPECT_EQ(compare_messages("internal.jsonl.gz"), 923); }
TEST(DecodeJson, IsOurOwnForMetadataRequest14) { EXPECT_EQ(compare_messages("MetadataRequest.v14.jsonl"), 6); }

TEST(DecodeJson, TakesAndRefusesWhatTheReferenceDoes) {
  int lines = 0;
  for_each_line("mutations.jsonl.gz", [&](const Json& line) {
    ++lines;
    SCOPED_TRACE(title(line) + line["hex"].get<std::string>());
    const MessageJson read = decode_json(body_of(line), from_hex(line["hex"].get<std::string>()));
    ASSERT_EQ(read.whole, !line.contains("error"));
    if (!read.whole) return;
    EXPECT_EQ(levelled(read.json), line["json"].dump());
    EXPECT_EQ(levelled(unknown_json(read.unknown)), line.value("unknown", Json::array()).dump());
    EXPECT_EQ(read.rest, line.value("rest", std::size_t{0}));
  });
  EXPECT_EQ(lines, 2519);
}

// Both stop at a fault, in their own words; what is given up earlier here, less is said about.
void level_faults(Json& ours, Json& wanted) {
  if (!ours.contains("error") || !wanted.contains("error")) return;
  ours.erase("error");
  wanted.erase("error");
  Json said = Json::object();
  for (const auto& [field, value] : wanted.items())
    if (ours.contains(field)) said[field] = value;
  wanted = std::move(said);
}

TEST(RecordsJson, IsTheOraclesForEveryBatchAndMessageSet) {
  protocol::Decompressor decompressor;
  int lines = 0;
  for_each_line("records.jsonl.gz", [&](const Json& line) {
    if (!line.contains("hex")) return;
    ++lines;
    SCOPED_TRACE(line["name"].get<std::string>());
    const Bytes bytes = from_hex(line["hex"].get<std::string>());
    const std::string text = records_json(catalog(), bytes.span(), decompressor);
    Json ours = Json::parse(text, nullptr, false);
    Json wanted = line["read"];
    ASSERT_FALSE(ours.is_discarded()) << text;
    ASSERT_EQ(ours["batches"].size(), wanted["batches"].size());
    for (std::size_t i = 0; i < ours["batches"].size(); ++i) level_faults(ours["batches"][i], wanted["batches"][i]);
    level_faults(ours, wanted);
    EXPECT_EQ(ours.dump(), wanted.dump());
  });
  EXPECT_EQ(lines, 162);
}

// The records below a node, opened ones too, in their order.
void records_of(const Node& node, std::vector<const Node*>& records) {
  if (node.type == "Record" || (node.name == "Message" && node.children.back().opened.empty()))
    records.push_back(&node);
  for (const Node& child : node.children) records_of(child, records);
  for (const Node& inside : node.opened) records_of(inside, records);
}

TEST(DecodeRecords, OpensEveryBatchDownToItsRecords) {
  int lines = 0;
  for_each_line("records.jsonl.gz", [&](const Json& line) {
    if (!line.contains("hex")) return;
    SCOPED_TRACE(line["name"].get<std::string>());
    const Decoded read = decode_records(catalog(), from_hex(line["hex"].get<std::string>()));
    EXPECT_TRUE(covers(read.tree));
    std::size_t wanted = 0;
    bool faults = line["read"].contains("error");
    for (const Json& batch : line["read"]["batches"]) {
      faults = faults || batch.contains("error");
      if (!batch.contains("error")) wanted += batch["records"].size();
    }
    std::vector<const Node*> records;
    records_of(read.tree, records);
    if (!faults) {
      ++lines;
      EXPECT_EQ(records.size(), wanted);
    }
  });
  EXPECT_EQ(lines, 156);
}

TEST(Decode, PrintsEveryRandomMessage) {
  int lines = 0;
  for (const char* file : {"requests.jsonl.gz", "responses.jsonl.gz", "data.jsonl.gz", "internal.jsonl.gz"}) {
    for_each_line(file, [&](const Json& line) {
      if (line["kind"] != "random") return;
      ++lines;
      SCOPED_TRACE(title(line));
      const Bytes bytes = from_hex(line["hex"].get<std::string>());
      const Decoded read = decode(catalog(), body_of(line), bytes);
      ASSERT_FALSE(read.fault);
      EXPECT_TRUE(covers(read.tree));
      const std::size_t rows = count_nodes(read.tree);
      const std::string text = decoded_text(read, bytes);
      EXPECT_GE(static_cast<std::size_t>(std::ranges::count(text, '\n')), rows);
      // Nothing in it takes hold of a terminal.
      EXPECT_TRUE(std::ranges::all_of(text, [](char c) { return c == '\n' || static_cast<unsigned char>(c) >= 0x20; }));
      const std::string html = decoded_html_part(read, bytes);
      EXPECT_EQ(html.find("<script"), std::string::npos);
      EXPECT_GE(static_cast<std::size_t>(std::ranges::count(html, '\n')), rows);
    });
  }
  EXPECT_EQ(lines, 4428);
}

// The last random vector of each message, cut off in many places.
TEST(Decode, EveryPrefixGivesATreeAndAFault) {
  for (const char* file : {"requests.jsonl.gz", "responses.jsonl.gz", "internal.jsonl.gz"}) {
    std::map<std::string, Json> last;
    for_each_line(file, [&](const Json& line) {
      if (line["kind"] == "random") last[line["message"].get<std::string>()] = line;
    });
    for (const auto& [name, line] : last) {
      SCOPED_TRACE(title(line));
      const Bytes whole = from_hex(line["hex"].get<std::string>());
      for (std::size_t n = 0; n < std::min<std::size_t>(whole.size(), 400); n += n < 16 ? 1 : 11) {
        const Bytes cut = whole.first(n).copy();
        const Decoded read = decode(catalog(), body_of(line), cut);
        ASSERT_TRUE(read.fault) << n;
        ASSERT_TRUE(covers(read.tree)) << n;
        ASSERT_FALSE(decode_json(body_of(line), cut).whole) << n;
      }
    }
  }
}

}  // namespace
}  // namespace thalweg::inspect
