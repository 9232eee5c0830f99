// Every field of every schema says what it is, in one line that adds to its name.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "schema/message.h"

namespace thalweg::schema {
namespace {

constexpr std::size_t kLongest = 120;  // characters

// The texts that the project began with; they stay as they are. Their files have no others.
const std::set<std::string, std::less<>> kGiven = {"CreateDelegationTokenRequest", "CreateDelegationTokenResponse",
                                                   "GetTelemetrySubscriptionsRequest",
                                                   "GetTelemetrySubscriptionsResponse", "MetadataRequest"};

// `createdMs` and `created_ms` are the words "created" and "ms"; the rest of the text counts as it stands.
std::set<std::string> words(std::string_view text) {
  std::set<std::string> found;
  std::string word;
  const auto end_word = [&] {
    if (word.size() > 1 && word.back() == 's') word.pop_back();  // a plural is the same word
    if (!word.empty()) found.insert(std::exchange(word, {}));
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (std::isalnum(c) == 0 ||
        (std::isupper(c) != 0 && i > 0 && std::islower(static_cast<unsigned char>(text[i - 1])) != 0))
      end_word();
    if (std::isalnum(c) != 0) word += static_cast<char>(std::tolower(c));
  }
  end_word();
  return found;
}

bool says(const std::string& about, std::string_view word) {
  std::string lower;
  for (const char c : about) lower += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower.contains(word);
}

// A default that is a number with a meaning of its own: below zero, or far from what would be counted.
bool is_sentinel(const Field& field) {
  if (!field.default_value) return false;
  const std::string& value = *field.default_value;
  const bool digits = std::ranges::all_of(value.substr(value.starts_with('-') ? 1 : 0),
                                          [](unsigned char c) { return std::isdigit(c) != 0; });
  return digits && (value.starts_with('-') || value.size() >= 4);
}

std::string fault(const Field& field) {
  const std::string& about = field.about;
  if (about.empty()) return "has none";
  if (about.size() > kLongest) return "is longer than 120 characters";
  if (about.contains('\n') || about.front() == ' ' || about.back() == ' ') return "has white space around it";
  std::set<std::string> added = words(about);
  for (const auto& word : words(field.name)) added.erase(word);
  for (const char* filler : {"a", "an", "the", "of", "thi", "it", "i", "to", "in", "for", "that"}) added.erase(filler);
  if (added.size() < 2) return "only repeats the name";
  if (is_sentinel(field) && !about.contains(*field.default_value))
    return "leaves out the default " + *field.default_value;
  if (!field.nullable.empty() && !says(about, "null")) return "leaves out what null means";
  if (field.name.ends_with("Ms") && !says(about, "ms") && !says(about, "millisecond")) return "leaves out the unit ms";
  const bool is_size = field.type.kind != Kind::bytes && field.type.kind != Kind::records;
  if (field.name.ends_with("Bytes") && is_size && !says(about, "byte")) return "leaves out the unit bytes";
  return {};
}

Field field(std::string name, std::string about) { return {.name = std::move(name), .about = std::move(about)}; }

TEST(About, FaultsAreFound) {
  EXPECT_EQ(fault(field("TopicName", "")), "has none");
  EXPECT_EQ(fault(field("TopicName", "The name of the topic.")), "only repeats the name");
  EXPECT_EQ(fault(field("TopicName", std::string(121, 'x'))), "is longer than 120 characters");
  EXPECT_EQ(fault(field("WaitMs", "How long the broker holds the answer back.")), "leaves out the unit ms");
  EXPECT_EQ(fault(field("MaxBytes", "Most that the whole answer may hold.")), "leaves out the unit bytes");
  Field sentinel = field("Epoch", "What the consumer believes the leader to be at.");
  sentinel.default_value = "-1";
  EXPECT_EQ(fault(sentinel), "leaves out the default -1");
  Field nullable = field("Rack", "Where the consumer stands.");
  nullable.nullable = VersionRange::all();
  EXPECT_EQ(fault(nullable), "leaves out what null means");
  EXPECT_EQ(fault(field("TopicName", "Which topic the answers below are about.")), "");
}

TEST(About, EveryFieldHasOne) {
  const std::filesystem::path root = std::filesystem::path(std::getenv("THALWEG_SOURCE_DIR")) / "schemas";
  int fields = 0;
  int given = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream in(entry.path());
    const auto message = parse_message(std::string((std::istreambuf_iterator<char>(in)), {}));
    ASSERT_TRUE(message) << entry.path() << ": " << message.error();
    std::vector<const Struct*> structs = {&message->root};
    for (const Struct& s : message->structs) structs.push_back(&s);
    for (const Struct* s : structs)
      for (const Field& f : s->fields) {
        ++fields;
        if (kGiven.contains(message->name)) {
          ++given;
          EXPECT_FALSE(f.about.empty()) << message->name << "." << f.name;
        } else {
          EXPECT_EQ(fault(f), "") << message->name << "." << s->name << "." << f.name << ": " << f.about;
        }
      }
  }
  EXPECT_EQ(given, 34);
  EXPECT_GE(fields, 2'077);
}

}  // namespace
}  // namespace thalweg::schema
