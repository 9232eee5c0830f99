#include "inspect/message_json.h"

#include <fmt/format.h>

#include <cstdlib>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "inspect/json_text.h"
#include "protocol/wire.h"

namespace thalweg::inspect {

using base::Bytes;
using schema::Field;
using schema::Kind;
using schema::Message;
using schema::Struct;

namespace {

bool has_null_default(const Field& field) { return field.default_value == "null" || field.type.kind == Kind::records; }

class JsonMaker {
 public:
  JsonMaker(const Message& message, int version, const Bytes& bytes)
      : message_(message), version_(version), flexible_(message.flexible.contains(version)), reader_(bytes) {}

  MessageJson make() {
    MessageJson result;
    structure(message_.root, result.unknown);
    result.whole = reader_.ok();
    result.json = std::move(out_);
    result.rest = reader_.remaining();
    return result;
  }

 private:
  using Unknown = std::vector<UnknownTag>;

  // Where a field without a tag begins in the JSON of its structure, and in what is unknown below it.
  struct Piece {
    std::size_t index = 0;  // of the field in the schema
    std::size_t begin = 0;
    std::size_t unknown = 0;
  };
  // A tagged field as it stands in the JSON: empty where the value is the default.
  struct Tagged {
    std::string json;
    Unknown unknown;
  };

  // Each of these appends the JSON of what it reads and adds what is unknown in it. Inside tagged fields they say
  // whether it was the default; elsewhere nobody asks, and comparing has a price.
  bool structure(const Struct& structure, Unknown& unknown);
  bool field(const Field& field, Unknown& unknown);
  bool array(const Field& field, bool flexible, bool null_allowed, Unknown& unknown);
  bool optional_structure(const Field& field, Unknown& unknown);
  bool scalar(const Field& field, bool flexible, bool null_allowed);
  bool string(const Field& field, bool flexible, bool null_allowed);
  bool bytes(const Field& field, bool flexible, bool null_allowed);
  template <class T>
  bool integer(const Field& field) {
    const T value = reader_.fixed<T>();
    fmt::format_to(std::back_inserter(out_), "{}", value);
    if (tagged_depth_ == 0) return false;
    return value == (field.default_value ? std::strtoll(field.default_value->c_str(), nullptr, 0) : 0);
  }
  bool null(const Field& field) {
    out_ += "null";
    return has_null_default(field);
  }

  void key(const Field& field) { out_.append("\"").append(json_key(field.name)).append("\":"); }
  // The tagged fields of a structure: those that it knows, by their index in the schema; the others into `unknown`.
  std::map<std::size_t, Tagged> tagged_fields(const Struct& structure, Unknown& unknown);
  // Puts `tagged` among the fields whose JSON begins at `pieces`, in the order of the schema.
  void arrange(std::map<std::size_t, Tagged> tagged, std::vector<Piece> pieces, Unknown& below);

  const Message& message_;
  const int version_;
  const bool flexible_;
  protocol::Reader reader_;
  std::string out_;
  std::string path_;
  int tagged_depth_ = 0;
};

bool JsonMaker::structure(const Struct& structure, Unknown& unknown) {
  out_ += '{';
  bool at_default = true;
  std::vector<Piece> pieces;
  Unknown below;
  const std::size_t begin = out_.size();
  for (std::size_t i = 0; i < structure.fields.size(); ++i) {
    const Field& f = structure.fields[i];
    if (f.is_tagged() || !f.versions.contains(version_)) continue;
    if (!reader_.ok()) return false;
    if (out_.size() != begin) out_ += ',';
    if (flexible_) pieces.push_back({i, out_.size(), below.size()});
    key(f);
    if (!field(f, below)) at_default = false;
  }
  if (reader_.ok() && flexible_) {
    const std::size_t before = unknown.size();
    auto tagged = tagged_fields(structure, unknown);
    if (unknown.size() != before) at_default = false;
    for (const auto& [index, field] : tagged) at_default = at_default && field.json.empty();
    if (!tagged.empty()) arrange(std::move(tagged), std::move(pieces), below);
  }
  out_ += '}';
  // What is unknown in a structure itself comes before what is unknown deeper in it.
  unknown.insert(unknown.end(), std::make_move_iterator(below.begin()), std::make_move_iterator(below.end()));
  return at_default;
}

std::map<std::size_t, JsonMaker::Tagged> JsonMaker::tagged_fields(const Struct& structure, Unknown& unknown) {
  std::map<std::size_t, Tagged> found;
  for (std::uint32_t left = reader_.tagged_field_count(); left > 0 && reader_.ok(); --left) {
    const std::uint32_t tag = reader_.uvarint();
    const std::uint32_t size = reader_.uvarint();
    std::optional<std::size_t> index;
    for (std::size_t i = 0; i < structure.fields.size(); ++i)
      if (structure.fields[i].tag && static_cast<std::uint32_t>(*structure.fields[i].tag) == tag) index = i;
    if (!index) {
      protocol::UnknownTaggedFields fields;
      reader_.unknown_tagged_field(fields, tag, size);
      for (const protocol::RawTaggedField& raw : fields)
        unknown.push_back({.path = path_, .tag = tag, .data = raw.data});
      continue;
    }
    const Field& known = structure.fields[*index];
    if (!known.versions.contains(version_)) {
      reader_.fail("a tag that this version lacks");
      break;
    }
    Tagged value;
    const std::size_t begin = out_.size();
    ++tagged_depth_;
    key(known);
    if (!field(known, value.unknown)) value.json = out_.substr(begin);
    --tagged_depth_;
    out_.resize(begin);
    // The last of several wins.
    found.insert_or_assign(*index, std::move(value));
  }
  return found;
}

void JsonMaker::arrange(std::map<std::size_t, Tagged> tagged, std::vector<Piece> pieces, Unknown& below) {
  const std::size_t begin = pieces.empty() ? out_.size() : pieces.front().begin;
  std::string json;
  Unknown unknown;
  const auto add = [&json](std::string_view text) {
    if (text.empty()) return;
    if (!json.empty()) json += ',';
    json += text;
  };
  const auto add_tagged_before = [&](std::size_t index) {
    while (!tagged.empty() && tagged.begin()->first < index) {
      Tagged& field = tagged.begin()->second;
      add(field.json);
      unknown.insert(unknown.end(), std::make_move_iterator(field.unknown.begin()),
                     std::make_move_iterator(field.unknown.end()));
      tagged.erase(tagged.begin());
    }
  };
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    const bool last = i + 1 == pieces.size();
    // A comma stands in front of the next one.
    const std::size_t end = last ? out_.size() : pieces[i + 1].begin - 1;
    const std::size_t unknown_end = last ? below.size() : pieces[i + 1].unknown;
    add_tagged_before(pieces[i].index);
    add(std::string_view(out_).substr(pieces[i].begin, end - pieces[i].begin));
    for (std::size_t u = pieces[i].unknown; u < unknown_end; ++u) unknown.push_back(std::move(below[u]));
  }
  add_tagged_before(SIZE_MAX);
  out_.replace(begin, std::string::npos, json);
  below = std::move(unknown);
}

bool JsonMaker::field(const Field& field, Unknown& unknown) {
  const bool flexible = field.flexible ? field.flexible->contains(version_) : flexible_;
  const bool null_allowed = field.nullable.contains(version_);
  if (!field.type.array && field.type.kind != Kind::structure) return scalar(field, flexible, null_allowed);
  const std::size_t length = path_.size();
  if (!path_.empty()) path_ += '.';
  path_ += json_key(field.name);
  bool at_default = false;
  if (field.type.array) {
    at_default = array(field, flexible, null_allowed, unknown);
  } else if (null_allowed) {
    at_default = optional_structure(field, unknown);
  } else {
    at_default = structure(*message_.find_struct(field.type.name), unknown);
  }
  path_.resize(length);
  return at_default;
}

bool JsonMaker::array(const Field& field, bool flexible, bool null_allowed, Unknown& unknown) {
  const std::int64_t count = reader_.array_length(flexible, null_allowed, 1);
  if (count < 0) return null(field);
  const Struct* structure = field.type.kind == Kind::structure ? message_.find_struct(field.type.name) : nullptr;
  out_ += '[';
  const std::size_t length = path_.size();
  for (std::int64_t i = 0; i < count && reader_.ok(); ++i) {
    if (i > 0) out_ += ',';
    if (structure == nullptr) {
      scalar(field, flexible, false);
      continue;
    }
    fmt::format_to(std::back_inserter(path_), "[{}]", i);
    this->structure(*structure, unknown);
    path_.resize(length);
  }
  out_ += ']';
  return count == 0 && !has_null_default(field);
}

bool JsonMaker::optional_structure(const Field& field, Unknown& unknown) {
  const bool is_null =
      field.is_tagged() ? static_cast<std::int32_t>(reader_.uvarint()) <= 0 : reader_.fixed<std::int8_t>() < 0;
  if (is_null) return null(field);
  return structure(*message_.find_struct(field.type.name), unknown) && !has_null_default(field);
}

bool JsonMaker::scalar(const Field& field, bool flexible, bool null_allowed) {
  switch (field.type.kind) {
    case Kind::boolean: {
      const bool value = reader_.boolean();
      out_ += value ? "true" : "false";
      return value == (field.default_value == "true");
    }
    case Kind::int8:
      return integer<std::int8_t>(field);
    case Kind::int16:
      return integer<std::int16_t>(field);
    case Kind::uint16:
      return integer<std::uint16_t>(field);
    case Kind::int32:
      return integer<std::int32_t>(field);
    case Kind::uint32:
      return integer<std::uint32_t>(field);
    case Kind::int64:
      return integer<std::int64_t>(field);
    case Kind::float64: {
      const double value = reader_.float64();
      append_json_double(out_, value);
      return value == (field.default_value ? std::strtod(field.default_value->c_str(), nullptr) : 0.0);
    }
    case Kind::uuid: {
      const base::Uuid uuid = reader_.uuid();
      out_.append("\"").append(uuid.str()).append("\"");
      return uuid.is_zero();
    }
    case Kind::string:
      return string(field, flexible, null_allowed);
    case Kind::bytes:
    case Kind::records:
      return bytes(field, flexible, null_allowed);
    case Kind::structure:
      break;
  }
  return false;
}

bool JsonMaker::string(const Field& field, bool flexible, bool null_allowed) {
  std::optional<base::String> text;
  reader_.nullable_string(text, flexible, null_allowed);
  if (!text) return null(field);
  append_json_string(out_, text->view());
  return !has_null_default(field) && text->view() == field.default_value.value_or("");
}

bool JsonMaker::bytes(const Field& field, bool flexible, bool null_allowed) {
  std::optional<Bytes> content;
  reader_.nullable_bytes(content, flexible, null_allowed);
  if (!content) return null(field);
  append_json_base64(out_, content->span());
  return !has_null_default(field) && content->empty();
}

}  // namespace

MessageJson message_json(const Message& message, int version, const Bytes& bytes) {
  return JsonMaker(message, version, bytes).make();
}

std::string unknown_json(const std::vector<UnknownTag>& unknown) {
  std::string json = "[";
  for (const UnknownTag& tag : unknown) {
    if (json.size() > 1) json += ',';
    json += "{\"path\":";
    append_json_string(json, tag.path);
    fmt::format_to(std::back_inserter(json), ",\"tag\":{},\"hex\":", tag.tag);
    append_json_hex(json, tag.data.span());
    json += '}';
  }
  return json + "]";
}

}  // namespace thalweg::inspect
