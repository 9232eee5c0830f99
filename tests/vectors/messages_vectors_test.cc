// Every message and version against bytes that the Java reference wrote.
#include <gtest/gtest.h>

#include <map>

#include "base/text.h"
#include "vectors/vector_file.h"

namespace thalweg::protocol {
namespace {

std::string title(const Json& line) {
  return line["message"].get<std::string>() + " v" + std::to_string(line["version"].get<int>()) +
         (line.contains("kind") ? " " + line["kind"].get<std::string>() : "");
}

void expect_round_trip(const Json& line) {
  SCOPED_TRACE(title(line));
  const MessageEntry* entry = find_message(line["message"].get<std::string>());
  ASSERT_NE(entry, nullptr);
  const int version = line["version"].get<int>();
  const Bytes wire = from_hex(line["hex"].get<std::string>());

  const Decoded decoded = entry->decode(wire, version);
  ASSERT_FALSE(decoded.fault) << *decoded.fault;
  EXPECT_EQ(decoded.rest, 0U);
  EXPECT_EQ(decoded.json.dump(), line["json"].dump());
  EXPECT_EQ(decoded.unknown.dump(), line.value("unknown", Json::array()).dump());
  EXPECT_FALSE(decoded.encode_fault) << *decoded.encode_fault;
  EXPECT_TRUE(decoded.size_agrees);
  EXPECT_EQ(base::hex_encode(decoded.encoded.span()), line["hex"].get<std::string>());

  std::string fault;
  const auto encoded = entry->encode(line["json"], version, fault);
  ASSERT_TRUE(encoded) << fault;
  EXPECT_EQ(base::hex_encode(encoded->span()), line.value("hexKnown", line["hex"].get<std::string>()));
}

int round_trips(const std::string& file) {
  int lines = 0;
  for_each_line(file, [&](const Json& line) {
    expect_round_trip(line);
    ++lines;
  });
  return lines;
}

TEST(MessageVectors, EveryRequestMatchesTheReference) { EXPECT_EQ(round_trips("requests.jsonl.gz"), 2591); }
TEST(MessageVectors, EveryResponseMatchesTheReference) { EXPECT_EQ(round_trips("responses.jsonl.gz"), 2629); }
TEST(MessageVectors, EveryDataSchemaMatchesTheReference) { EXPECT_EQ(round_trips("data.jsonl.gz"), 194); }
TEST(MessageVectors, EveryInternalRecordMatchesTheReference) { EXPECT_EQ(round_trips("internal.jsonl.gz"), 923); }
TEST(MessageVectors, MetadataRequest14MatchesItsVectors) { EXPECT_GT(round_trips("MetadataRequest.v14.jsonl"), 0); }

TEST(MessageVectors, SpoiltBytesAreReadOrRefusedAsTheReferenceDoes) {
  int lines = 0;
  for_each_line("mutations.jsonl.gz", [&](const Json& line) {
    ++lines;
    SCOPED_TRACE(title(line) + " " + line["hex"].get<std::string>());
    const MessageEntry* entry = find_message(line["message"].get<std::string>());
    ASSERT_NE(entry, nullptr);
    const Decoded decoded = entry->decode(from_hex(line["hex"].get<std::string>()), line["version"].get<int>());
    if (line.contains("error")) {
      EXPECT_TRUE(decoded.fault) << "the reference says " << line["error"] << ", read as " << decoded.json.dump();
      return;
    }
    ASSERT_FALSE(decoded.fault) << *decoded.fault;
    EXPECT_EQ(decoded.json.dump(), line["json"].dump());
    EXPECT_EQ(decoded.unknown.dump(), line.value("unknown", Json::array()).dump());
    EXPECT_EQ(decoded.rest, line.value("rest", std::size_t{0}));
  });
  EXPECT_EQ(lines, 2519);
}

// Found by asking the live reference: there is no such line among the vectors.
TEST(MessageVectors, ATaggedStructureThatMayBeNullHasAVarintInFront) {
  const MessageEntry* entry = find_message("ConsumerGroupMemberMetadataValue");
  const std::string head = "0101010101010000000001";
  const auto member = [&](const std::string& tagged) -> std::string {
    const Decoded decoded = entry->decode(from_hex(head + tagged), 0);
    if (decoded.fault) return "refused";
    return decoded.json.contains("classicMemberMetadata") ? decoded.json["classicMemberMetadata"].dump() : "default";
  };
  EXPECT_EQ(member("00"), "default");
  EXPECT_EQ(member("01000100"), "null");
  EXPECT_EQ(member("01000b"
                   "ffffffff0f"
                   "000000050100"),
            "null");
  EXPECT_EQ(member("010001ff"), "refused");
  const std::string present = R"({"sessionTimeoutMs":5,"supportedProtocols":[]})";
  EXPECT_EQ(member("010007"
                   "01"
                   "000000050100"),
            present);
  EXPECT_EQ(member("010007"
                   "8001"
                   "000000050100"),
            present);

  Json json = {{"instanceId", ""},
               {"rackId", ""},
               {"clientId", ""},
               {"clientHost", ""},
               {"subscribedTopicRegex", ""},
               {"rebalanceTimeoutMs", 0},
               {"serverAssignor", ""},
               {"classicMemberMetadata", nullptr}};
  std::string fault;
  EXPECT_EQ(base::hex_encode(entry->encode(json, 0, fault)->span()), head + "01000100");
  json["classicMemberMetadata"] = Json::parse(present);
  EXPECT_EQ(base::hex_encode(entry->encode(json, 0, fault)->span()), head + "01000701000000050100");
}

// The fullest short sample of each message version.
std::map<std::pair<std::string, int>, Bytes> samples() {
  std::map<std::pair<std::string, int>, Bytes> result;
  for (const char* file : {"requests.jsonl.gz", "responses.jsonl.gz", "data.jsonl.gz", "internal.jsonl.gz"}) {
    for_each_line(file, [&](const Json& line) {
      if (line["kind"] == "long" || line["kind"] == "default") return;
      const Bytes wire = from_hex(line["hex"].get<std::string>());
      Bytes& best = result[{line["message"].get<std::string>(), line["version"].get<int>()}];
      if (best.size() < wire.size() && wire.size() <= 4096) best = wire;
    });
  }
  return result;
}

TEST(MessageVectors, EveryStrictPrefixIsRefused) {
  const auto all = samples();
  EXPECT_EQ(all.size(), 744U);
  for (const auto& [key, wire] : all) {
    const MessageEntry* entry = find_message(key.first);
    // In a copy of its own each time, so that a sanitizer sees a read beyond the end.
    for (std::size_t n = 0; n < wire.size(); ++n) {
      const Bytes prefix = wire.first(n).copy();
      EXPECT_TRUE(entry->decode(prefix, key.second).fault) << key.first << " v" << key.second << " prefix " << n;
    }
  }
}

TEST(MessageVectors, AValueThatTheVersionCannotCarryIsAnError) {
  std::string fault;
  // Not ignorable: ReplicaState of FetchRequest begins at 15.
  const MessageEntry* fetch = find_message("FetchRequest");
  const Json state = {{"replicaState", {{"replicaId", 7}, {"replicaEpoch", 1}}}};
  EXPECT_FALSE(fetch->encode(state, 12, fault));
  EXPECT_EQ(fault, "ReplicaState is not in this version");
  EXPECT_TRUE(fetch->encode(state, 15, fault));
  // Ignorable: dropped in silence.
  EXPECT_TRUE(fetch->encode(Json{{"rackId", "r"}}, 4, fault));
  // Null where the version has none.
  EXPECT_FALSE(find_message("MetadataRequest")->encode(Json{{"topics", nullptr}}, 0, fault));
}

}  // namespace
}  // namespace thalweg::protocol
