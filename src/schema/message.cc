#include "schema/message.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

namespace thalweg::schema {

namespace {

using Json = nlohmann::ordered_json;
template <class T>
using Parsed = base::Result<T, std::string>;

std::optional<int> parse_int(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Kind> scalar_kind(std::string_view word) {
  static constexpr std::pair<std::string_view, Kind> kWords[] = {
      {"bool", Kind::boolean},  {"int8", Kind::int8},     {"int16", Kind::int16},     {"uint16", Kind::uint16},
      {"int32", Kind::int32},   {"uint32", Kind::uint32}, {"int64", Kind::int64},     {"float64", Kind::float64},
      {"string", Kind::string}, {"bytes", Kind::bytes},   {"records", Kind::records}, {"uuid", Kind::uuid}};
  for (const auto& [name, kind] : kWords)
    if (name == word) return kind;
  return std::nullopt;
}

std::optional<MessageType> message_type(std::string_view word) {
  static constexpr std::pair<std::string_view, MessageType> kWords[] = {
      {"request", MessageType::request},
      {"response", MessageType::response},
      {"header", MessageType::header},
      {"data", MessageType::data},
      {"metadata", MessageType::metadata},
      {"coordinator-key", MessageType::coordinator_key},
      {"coordinator-value", MessageType::coordinator_value}};
  for (const auto& [name, type] : kWords)
    if (name == word) return type;
  return std::nullopt;
}

std::string text_of(const Json& object, const char* key) {
  const auto it = object.find(key);
  return it != object.end() && it->is_string() ? it->get<std::string>() : std::string();
}

Parsed<VersionRange> range_of(const Json& object, const char* key, const std::string& where) {
  const auto it = object.find(key);
  if (it == object.end()) return VersionRange::none();
  const auto range = it->is_string() ? VersionRange::parse(it->get<std::string>()) : std::nullopt;
  if (!range) return std::unexpected(fmt::format("{}: {} is {}, not a version range", where, key, it->dump()));
  return *range;
}

// Collects the structures of a message while it is parsed.
class Parser {
 public:
  Parsed<Message> parse(const Json& json);

 private:
  Parsed<Field> parse_field(const Json& json, VersionRange parent, const std::string& where);
  Parsed<void> parse_fields(const Json& json, Struct& into, VersionRange parent, const std::string& where);
  Parsed<void> add_struct(Struct structure);
  Parsed<void> resolve();

  Message message_;
  std::vector<Struct> found_;
};

Parsed<Field> Parser::parse_field(const Json& json, VersionRange parent, const std::string& where) {
  Field field;
  field.name = text_of(json, "name");
  if (field.name.empty()) return std::unexpected(where + ": a field without a name");
  const std::string here = where + "." + field.name;
  std::string word = text_of(json, "type");
  if (word.starts_with("[]")) {
    field.type.array = true;
    word.erase(0, 2);
  }
  field.type.name = word;
  field.type.kind = scalar_kind(word).value_or(Kind::structure);
  if (field.type.kind == Kind::structure && (word.empty() || word[0] < 'A' || word[0] > 'Z'))
    return std::unexpected(fmt::format("{}: unknown type {}", here, word));

  ASSIGN_OR_RETURN(field.versions, range_of(json, "versions", here));
  ASSIGN_OR_RETURN(field.nullable, range_of(json, "nullableVersions", here));
  ASSIGN_OR_RETURN(field.tagged, range_of(json, "taggedVersions", here));
  if (json.contains("flexibleVersions")) {
    ASSIGN_OR_RETURN(field.flexible, range_of(json, "flexibleVersions", here));
  }
  if (!json.contains("versions")) {
    if (field.tagged.empty()) return std::unexpected(here + ": no versions");
    field.versions = field.tagged;
  }
  if (const auto tag = json.find("tag"); tag != json.end()) field.tag = tag->get<int>();
  if (field.tag.has_value() != !field.tagged.empty())
    return std::unexpected(here + ": tag and taggedVersions go together");
  if (field.is_tagged() && field.tagged != field.versions)
    return std::unexpected(here + ": tagged in only some of its versions");
  // A bare null states no default: the reference then takes the type's own (an empty array), unlike for "null".
  if (const auto value = json.find("default"); value != json.end() && !value->is_null())
    field.default_value = value->is_string() ? value->get<std::string>() : value->dump();
  field.ignorable = json.value("ignorable", false);
  field.map_key = json.value("mapKey", false);
  field.entity_type = text_of(json, "entityType");
  field.about = text_of(json, "about");

  if (const auto fields = json.find("fields"); fields != json.end()) {
    Struct structure;
    structure.name = field.type.name;
    structure.about = field.about;
    TRY(parse_fields(*fields, structure, parent.intersect(field.versions), here));
    TRY(add_struct(std::move(structure)));
  }
  return field;
}

Parsed<void> Parser::parse_fields(const Json& json, Struct& into, VersionRange parent, const std::string& where) {
  if (!json.is_array()) return std::unexpected(where + ": fields is not an array");
  std::set<int> tags;
  for (const Json& item : json) {
    ASSIGN_OR_RETURN(Field field, parse_field(item, parent, where));
    if (field.tag && !tags.insert(*field.tag).second)
      return std::unexpected(fmt::format("{}: tag {} stands twice", where, *field.tag));
    into.fields.push_back(std::move(field));
  }
  return {};
}

Parsed<void> Parser::add_struct(Struct structure) {
  for (const Struct& known : found_)
    if (known.name == structure.name)
      return std::unexpected(fmt::format("{}: structure {} stands twice", message_.name, structure.name));
  found_.push_back(std::move(structure));
  return {};
}

// Orders the structures so that each stands before those that use it.
Parsed<void> Parser::resolve() {
  std::set<std::string> done;
  std::set<std::string> open;
  const auto visit = [&](auto& self, const Struct& structure) -> Parsed<void> {
    if (done.contains(structure.name)) return {};
    if (!open.insert(structure.name).second)
      return std::unexpected(fmt::format("{}: structure {} holds itself", message_.name, structure.name));
    for (const Field& field : structure.fields) {
      if (field.type.kind != Kind::structure) continue;
      const auto used = std::ranges::find(found_, field.type.name, &Struct::name);
      if (used == found_.end())
        return std::unexpected(fmt::format("{}.{}: no structure {}", message_.name, field.name, field.type.name));
      TRY(self(self, *used));
    }
    done.insert(structure.name);
    if (&structure != &message_.root) message_.structs.push_back(structure);
    return {};
  };
  TRY(visit(visit, message_.root));
  return {};
}

Parsed<Message> Parser::parse(const Json& json) {
  message_.name = text_of(json, "name");
  if (message_.name.empty()) return std::unexpected(std::string("a message without a name"));
  const std::string where = message_.name;
  const auto type = message_type(text_of(json, "type"));
  if (!type) return std::unexpected(fmt::format("{}: unknown message type {}", where, text_of(json, "type")));
  message_.type = *type;
  if (const auto key = json.find("apiKey"); key != json.end()) message_.api_key = key->get<int>();
  if (const auto listeners = json.find("listeners"); listeners != json.end())
    message_.listeners = listeners->get<std::vector<std::string>>();
  ASSIGN_OR_RETURN(message_.versions, range_of(json, "validVersions", where));
  ASSIGN_OR_RETURN(message_.flexible, range_of(json, "flexibleVersions", where));
  message_.latest_version_unstable = json.value("latestVersionUnstable", false);
  message_.root.name = message_.name;
  message_.root.versions = message_.versions;
  if (const auto common = json.find("commonStructs"); common != json.end()) {
    for (const Json& item : *common) {
      Struct structure;
      structure.name = text_of(item, "name");
      TRY(parse_fields(item.value("fields", Json::array()), structure, VersionRange::all(), where));
      TRY(add_struct(std::move(structure)));
    }
  }
  if (const auto fields = json.find("fields"); fields != json.end())
    TRY(parse_fields(*fields, message_.root, message_.versions, where));
  TRY(resolve());
  return std::move(message_);
}

}  // namespace

std::optional<VersionRange> VersionRange::parse(std::string_view text) {
  if (text == "none") return none();
  if (text.ends_with('+')) {
    const auto lowest = parse_int(text.substr(0, text.size() - 1));
    if (!lowest || *lowest < 0) return std::nullopt;
    return VersionRange{*lowest, kMaxVersion};
  }
  const std::size_t dash = text.find('-');
  const auto lowest = parse_int(text.substr(0, dash));
  const auto highest = dash == std::string_view::npos ? lowest : parse_int(text.substr(dash + 1));
  if (!lowest || !highest || *lowest < 0 || *lowest > *highest) return std::nullopt;
  return VersionRange{*lowest, *highest};
}

std::string VersionRange::str() const {
  if (empty()) return "none";
  if (lowest == highest) return std::to_string(lowest);
  if (highest == kMaxVersion) return fmt::format("{}+", lowest);
  return fmt::format("{}-{}", lowest, highest);
}

const Struct* Message::find_struct(std::string_view wanted) const {
  if (wanted == root.name) return &root;
  const auto it = std::ranges::find(structs, wanted, &Struct::name);
  return it == structs.end() ? nullptr : &*it;
}

base::Result<Message, std::string> parse_message(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false, /*ignore_comments=*/true);
  if (!json.is_object()) return std::unexpected(std::string("not a JSON object"));
  return Parser().parse(json);
}

}  // namespace thalweg::schema
