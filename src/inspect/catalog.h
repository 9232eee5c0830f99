// The catalog: every message of the protocol, of the coordinators' logs and of the metadata log, from the schemas that
// are built into the program; and how people name them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "inspect/envelope.h"
#include "schema/message.h"

namespace thalweg::inspect {

// One file of schemas/.
struct SchemaFile {
  std::string_view path;  // below schemas/, such as coordinator/OffsetCommitKey.json
  std::string_view text;
};
// All of them, from the build.
std::span<const SchemaFile> schema_files();

struct MessageEntry {
  SchemaFile file;
  schema::Message message;
  // Newest version that is not marked unstable, -1 where there is no version at all.
  int newest_stable = -1;
};

enum class Family : std::uint8_t { api, coordinator_record, metadata_record, data };

// What a page is about: an API with its two messages, a record of a coordinator's log with key and value, or one
// record or structure that stands alone.
struct Subject {
  std::string name;  // CreateDelegationToken, OffsetCommit, TopicRecord
  Family family = Family::data;
  std::optional<int> key;                // API key, or number of the record's type
  const MessageEntry* first = nullptr;   // request, key, or the only message
  const MessageEntry* second = nullptr;  // response, value, or null
  std::string home;                      // the topic or file where a record lives; empty for APIs
};

// Which of a subject's messages.
enum class Side : std::uint8_t { both, first, second };

struct Match {
  const Subject* subject = nullptr;
  Side side = Side::both;
};

class Catalog {
 public:
  // That of the schemas in the program, read when it is first asked for.
  static const Catalog& built_in();
  static base::Result<Catalog, std::string> parse(std::span<const SchemaFile> files);

  // APIs by key, then records and structures by name.
  [[nodiscard]] const std::vector<Subject>& subjects() const { return subjects_; }
  // The message whose schema has exactly this name, or null.
  [[nodiscard]] const MessageEntry* find(std::string_view name) const;
  // Whom a person means: any case, with or without Request, Response, Key, Value or Record behind it, dashes and the
  // like passed over, or an API key. The error is one line, with a suggestion where a name comes close.
  [[nodiscard]] base::Result<Match, std::string> look_up(std::string_view words) const;
  // The message with what stands in front of it in frames or logs.
  [[nodiscard]] Envelope envelope(const MessageEntry& entry, int version) const;

  Catalog(Catalog&&) = default;
  Catalog& operator=(Catalog&&) = default;
  Catalog(const Catalog&) = delete;
  Catalog& operator=(const Catalog&) = delete;
  ~Catalog() = default;

 private:
  Catalog() = default;
  void make_subjects();
  void index();
  [[nodiscard]] std::string suggestion(const std::string& folded) const;

  std::vector<MessageEntry> entries_;  // by name; never grows once subjects point into it
  std::vector<Subject> subjects_;
  std::unordered_map<std::string, Match> names_;  // folded
};

// "NAME has no version N: its versions are A-B", or nothing where it has.
std::optional<std::string> version_fault(const MessageEntry& entry, int version);

// Small letters and digits alone.
std::string fold(std::string_view name);
// How many letters must be changed, put in, left out or swapped with the next to make one of the other.
std::size_t distance(std::string_view a, std::string_view b);

}  // namespace thalweg::inspect
