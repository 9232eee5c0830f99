// A message schema as a C++ model: what a file of schemas/ says, checked, with names resolved.
//
// The model is what the code generator, the inspector and the reference pages read; none of them looks at JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace thalweg::schema {

inline constexpr int kMaxVersion = 32767;

// A closed range of versions; empty where lowest > highest ("none").
struct VersionRange {
  int lowest = 0;
  int highest = -1;

  static constexpr VersionRange none() { return {0, -1}; }
  static constexpr VersionRange all() { return {0, kMaxVersion}; }
  [[nodiscard]] constexpr bool empty() const { return lowest > highest; }
  [[nodiscard]] constexpr bool contains(int version) const { return version >= lowest && version <= highest; }
  [[nodiscard]] constexpr bool contains(VersionRange other) const {
    return other.empty() || (lowest <= other.lowest && other.highest <= highest);
  }
  [[nodiscard]] constexpr VersionRange intersect(VersionRange other) const {
    const VersionRange r{lowest > other.lowest ? lowest : other.lowest,
                         highest < other.highest ? highest : other.highest};
    return r.empty() ? none() : r;
  }
  // Reads "3", "0-5", "2+" or "none"; nothing where the text is none of these.
  static std::optional<VersionRange> parse(std::string_view text);
  // The same form back.
  [[nodiscard]] std::string str() const;
  friend bool operator==(const VersionRange&, const VersionRange&) = default;
};

enum class Kind : std::uint8_t {
  boolean,
  int8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  float64,
  string,
  bytes,
  records,
  uuid,
  structure
};

// A field's type: a scalar or structure, or an array of one.
struct Type {
  Kind kind = Kind::int32;
  bool array = false;
  std::string name;  // the type's word in the schema without brackets; for structures the structure's name
};

struct Field {
  std::string name;  // as in the schema, e.g. ThrottleTimeMs
  Type type;
  VersionRange versions;
  VersionRange nullable = VersionRange::none();
  VersionRange tagged = VersionRange::none();
  std::optional<int> tag;
  std::optional<VersionRange> flexible;      // overrides the message's flexible versions
  std::optional<std::string> default_value;  // as text; "null" for null
  bool ignorable = false;
  bool map_key = false;
  std::string entity_type;
  std::string about;

  [[nodiscard]] bool is_tagged() const { return tag.has_value(); }
};

struct Struct {
  std::string name;
  VersionRange versions = VersionRange::all();  // where it can occur, as far as its fields tell
  std::vector<Field> fields;
  std::string about;
};

enum class MessageType : std::uint8_t { request, response, header, data, metadata, coordinator_key, coordinator_value };

struct Message {
  std::string name;
  MessageType type = MessageType::data;
  std::optional<int> api_key;
  std::vector<std::string> listeners;
  VersionRange versions;
  VersionRange flexible = VersionRange::none();
  bool latest_version_unstable = false;
  Struct root;
  // Every other structure, each before those that use it.
  std::vector<Struct> structs;

  [[nodiscard]] const Struct* find_struct(std::string_view name) const;
};

// Reads one schema. The error is one line: what is wrong and where.
base::Result<Message, std::string> parse_message(std::string_view json);

}  // namespace thalweg::schema
