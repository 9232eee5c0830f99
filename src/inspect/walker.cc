#include "inspect/walker.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "inspect/value_text.h"
#include "protocol/api_key.h"
#include "protocol/wire.h"

namespace thalweg::inspect {

using base::Bytes;
using schema::Field;
using schema::Kind;
using schema::Message;
using schema::MessageType;
using schema::Struct;

namespace {

// The names and descriptions that the fields of the two headers have inside a frame.
struct HeaderWord {
  std::string_view field;
  std::string_view name;
  std::string_view about;
};
constexpr HeaderWord kRequestHeader[] = {
    {"RequestApiKey", "request_api_key", "numeric id of the API being invoked"},
    {"RequestApiVersion", "request_api_version", "version of the API being invoked"},
    {"CorrelationId", "correlation_id", "echoed back by the broker in the response"},
    {"ClientId", "client_id", "always a non-flexible int16-prefixed string"},
};
constexpr HeaderWord kResponseHeader[] = {
    {"CorrelationId", "correlation_id", "matches the correlation_id of the request"},
};

Part body_part(MessageType type) {
  switch (type) {
    case MessageType::request:
      return Part::request_body;
    case MessageType::response:
      return Part::response_body;
    case MessageType::header:
      return Part::rpc_header;
    default:
      return Part::message_body;
  }
}

// What holds for a structure and all below it.
struct Scope {
  const Message* message;
  int version;
  Part part;
  bool in_header = false;
};

class Walker {
 public:
  Walker(const Bytes& bytes, const WalkOptions& options)
      : bytes_(bytes),
        options_(options),
        reader_(bytes),
        batches_({.max_unpacked_bytes = options.max_unpacked_bytes, .opener = options.opener}),
        topic_(options.topic) {}

  Walk walk(const Envelope& envelope);

 private:
  Node node(std::string_view name, std::string_view type, Part part);
  void close(Node& node) const { node.size = end() - node.offset; }
  // Where reading stands, or where it failed.
  [[nodiscard]] std::size_t end() const { return reader_.ok() ? reader_.position() : reader_.fault_position(); }
  // The varint at `offset` as it stands there.
  [[nodiscard]] std::uint32_t raw_uvarint(std::size_t offset) const;

  template <class T>
  Node number(std::string_view name, std::string_view type, Part part, std::string_view about);
  Node uvarint(std::string_view name, Part part, std::string_view about);
  Node prefix(const Envelope& envelope);
  Node frame();
  Node header(const Envelope& envelope);
  Node body(const Envelope& envelope, Part part);

  void structure(Node& into, const Struct& structure, const Scope& scope);
  void tagged_fields(Node& into, const Struct& structure, const Scope& scope);
  Node tagged_field(const Struct& structure, const Scope& scope);
  Node field(const Field& field, const Scope& scope);
  void array(Node& into, const Field& field, const Scope& scope, bool flexible, bool null_allowed);
  void value(Node& into, const Field& field, const Struct* structure, const Scope& scope, bool null_allowed);
  void optional_structure(Node& into, const Field& field, const Struct& structure, const Scope& scope);
  void string(Node& into, bool flexible, bool null_allowed);
  void bytes(Node& into, bool flexible, bool null_allowed);
  void records(Node& into, bool flexible, bool null_allowed);
  template <class T>
  void integer(Node& into, const Field& field);
  // How a length is written: in front of `size` bytes, which is below zero for null.
  [[nodiscard]] std::string length_text(std::size_t offset, bool flexible, std::string_view word,
                                        std::int64_t size) const;

  const Bytes& bytes_;
  const WalkOptions& options_;
  protocol::Reader reader_;
  BatchReader batches_;
  std::string_view topic_;  // read last: records that follow are its
  std::size_t nodes_ = 0;
};

bool is_flexible(const Scope& scope) { return scope.message->flexible.contains(scope.version); }
bool is_flexible(const Scope& scope, const Field& field) {
  return field.flexible ? field.flexible->contains(scope.version) : is_flexible(scope);
}

Node Walker::node(std::string_view name, std::string_view type, Part part) {
  ++nodes_;
  Node node;
  node.name = name;
  node.type = type;
  node.offset = end();
  node.part = part;
  return node;
}

std::uint32_t Walker::raw_uvarint(std::size_t offset) const {
  std::uint32_t raw = 0;
  base::get_uvarint32(bytes_.data() + offset, bytes_.end(), raw);
  return raw;
}

std::string Walker::length_text(std::size_t offset, bool flexible, std::string_view word, std::int64_t size) const {
  if (flexible) return fmt::format("compact, len+1={}", raw_uvarint(offset));
  return fmt::format("{} len={}", word, size);
}

template <class T>
Node Walker::number(std::string_view name, std::string_view type, Part part, std::string_view about) {
  Node n = node(name, type, part);
  n.kind = NodeKind::scalar;
  n.about = about;
  const T value = reader_.fixed<T>();
  if (reader_.ok()) n.value = fmt::format("{}", value);
  close(n);
  n.content_size = n.size;
  return n;
}

Node Walker::uvarint(std::string_view name, Part part, std::string_view about) {
  Node n = node(name, "uvarint", part);
  n.kind = NodeKind::scalar;
  n.about = about;
  const std::uint32_t value = reader_.uvarint();
  if (reader_.ok()) n.value = fmt::format("{}", value);
  close(n);
  n.content_size = n.size;
  return n;
}

Node Walker::frame() {
  Node n = node("Frame", "", Part::frame);
  n.about = "length-delimited framing";
  Node size = number<std::int32_t>(
      "size", "int32", Part::frame,
      options_.sample ? "number of bytes that follow, patched after encoding" : "number of bytes that follow");
  if (reader_.ok() && size.value != std::to_string(reader_.remaining()))
    size.encoding = fmt::format("{} follow", counted(reader_.remaining(), "byte"));
  n.children.push_back(std::move(size));
  close(n);
  return n;
}

Node Walker::header(const Envelope& envelope) {
  Node n = node(envelope.header->name, fmt::format("v{}", envelope.header_version), Part::rpc_header);
  n.about = envelope.message->type == MessageType::request ? "common request header" : "common response header";
  const Scope scope{envelope.header, envelope.header_version, Part::rpc_header, true};
  structure(n, envelope.header->root, scope);
  const std::span<const HeaderWord> words = envelope.message->type == MessageType::request
                                                ? std::span<const HeaderWord>(kRequestHeader)
                                                : std::span<const HeaderWord>(kResponseHeader);
  for (Node& child : n.children) {
    const auto word = std::ranges::find(words, child.name, &HeaderWord::field);
    if (word != words.end()) {
      child.name = word->name;
      child.about = word->about;
    }
    if (child.name == "client_id") child.type = "nullable_string";
    if (child.name != "request_api_key" || child.size != 2) continue;
    const auto key = base::load_be<std::int16_t>(bytes_.data() + child.offset);
    if (const protocol::ApiInfo* api = protocol::find_api(key)) child.encoding = api->name;
  }
  close(n);
  return n;
}

Node Walker::prefix(const Envelope& envelope) {
  Node n = node("Prefix", "", Part::frame);
  n.about = envelope.framing == Framing::versioned ? "what stands in front of the structure"
                                                   : "what the log puts in front of the record";
  if (envelope.framing == Framing::record_key) {
    n.children.push_back(
        number<std::int16_t>("record_type", "int16", Part::frame, "kind of the record, the same for key and value"));
  } else if (envelope.framing == Framing::record_value) {
    n.children.push_back(
        number<std::int16_t>("value_version", "int16", Part::frame, "version that the value is written in"));
  } else if (envelope.framing == Framing::versioned) {
    n.children.push_back(
        number<std::int16_t>("version", "int16", Part::frame, "version that what follows is written in"));
  } else {
    static constexpr std::pair<std::string_view, std::string_view> kVarints[] = {
        {"frame_version", "version of this prefix itself"},
        {"record_type", "kind of the record"},
        {"record_version", "version that the record is written in"}};
    for (const auto& [name, about] : kVarints)
      if (reader_.ok()) n.children.push_back(uvarint(name, Part::frame, about));
  }
  close(n);
  return n;
}

Node Walker::body(const Envelope& envelope, Part part) {
  Node n = node(envelope.message->name, "struct", part);
  n.about = fmt::format("message body, version {}", envelope.version);
  n.kind = NodeKind::structure;
  structure(n, envelope.message->root, {envelope.message, envelope.version, part});
  close(n);
  return n;
}

void Walker::structure(Node& into, const Struct& structure, const Scope& scope) {
  for (const Field& f : structure.fields) {
    if (f.is_tagged() || !f.versions.contains(scope.version)) continue;
    if (!reader_.ok()) return;
    into.children.push_back(field(f, scope));
  }
  if (reader_.ok() && is_flexible(scope)) tagged_fields(into, structure, scope);
}

void Walker::tagged_fields(Node& into, const Struct& structure, const Scope& scope) {
  Node count = node("tagged_fields", "uvarint", Part::tagged_fields);
  count.kind = NodeKind::tagged_count;
  count.about = scope.in_header ? "number of tagged fields in the header" : "number of tagged fields in this struct";
  const std::uint32_t number = reader_.tagged_field_count();
  if (reader_.ok()) count.value = fmt::format("{}", number);
  close(count);
  count.content_size = count.size;
  into.children.push_back(std::move(count));
  Scope tagged = scope;
  tagged.part = Part::tagged_fields;
  for (std::uint32_t i = 0; i < number && reader_.ok(); ++i) into.children.push_back(tagged_field(structure, tagged));
}

Node Walker::tagged_field(const Struct& structure, const Scope& scope) {
  Node n = node("unknown", "tagged_field", scope.part);
  n.kind = NodeKind::tagged_field;
  Node tag_node = uvarint("tag", scope.part, "number of the field");
  const std::uint32_t tag = reader_.ok() ? raw_uvarint(tag_node.offset) : 0;
  n.children.push_back(std::move(tag_node));
  if (reader_.ok()) {
    n.value = fmt::format("tag {}", tag);
    Node size = uvarint("size", scope.part, "bytes that the value takes");
    const std::uint32_t announced = reader_.ok() ? raw_uvarint(size.offset) : 0;
    n.children.push_back(std::move(size));
    const Field* known = nullptr;
    for (const Field& f : structure.fields)
      if (f.tag && static_cast<std::uint32_t>(*f.tag) == tag) known = &f;
    if (known != nullptr && reader_.ok()) {
      n.name = known->name;
      n.field = known;
      if (known->versions.contains(scope.version)) {
        Node value = field(*known, scope);
        if (reader_.ok() && value.size != announced)
          n.children.back().encoding = fmt::format("the value takes {}", value.size);
        n.children.push_back(std::move(value));
      } else {
        reader_.fail("a tag that this version lacks");
      }
    } else if (reader_.ok()) {
      Node data = node("data", "bytes", scope.part);
      data.kind = NodeKind::scalar;
      protocol::UnknownTaggedFields fields;
      reader_.unknown_tagged_field(fields, tag, announced);
      if (reader_.ok()) {
        data.value = bytes_text(fields.begin()->data.span(), options_.bytes_limit);
        data.content_size = announced;
      }
      close(data);
      n.children.push_back(std::move(data));
    }
  }
  close(n);
  return n;
}

Node Walker::field(const Field& field, const Scope& scope) {
  Node n = node(field.name, field.type.array ? "[]" + field.type.name : field.type.name, scope.part);
  n.about = field.about;
  n.field = &field;
  const bool flexible = is_flexible(scope, field);
  const bool null_allowed = field.nullable.contains(scope.version);
  if (field.type.array) {
    array(n, field, scope, flexible, null_allowed);
  } else if (field.type.kind == Kind::structure) {
    const Struct& structure = *scope.message->find_struct(field.type.name);
    if (null_allowed) {
      optional_structure(n, field, structure, scope);
    } else {
      value(n, field, &structure, scope, false);
    }
  } else {
    value(n, field, nullptr, scope, null_allowed);
  }
  close(n);
  return n;
}

void Walker::array(Node& into, const Field& field, const Scope& scope, bool flexible, bool null_allowed) {
  into.kind = NodeKind::array;
  Node length = node("length", flexible ? "uvarint" : "int32", scope.part);
  length.kind = NodeKind::length;
  const std::int64_t count = reader_.array_length(flexible, null_allowed, 1);
  close(length);
  length.content_size = length.size;
  if (!reader_.ok()) {
    into.children.push_back(std::move(length));
    return;
  }
  const bool null = count < 0;
  if (flexible) {
    length.value = fmt::format("{}", raw_uvarint(length.offset));
    length.encoding = null ? "compact, null" : "compact, n+1";
  } else {
    length.value = fmt::format("{}", base::load_be<std::int32_t>(bytes_.data() + length.offset));
    if (null) length.encoding = "null";
  }
  if (null) {
    length.about = "no array follows";
  } else if (count == 1) {
    length.about = options_.sample ? "one sample element follows" : "one element follows";
  } else {
    length.about = count == 0 ? "no element follows" : fmt::format("{} elements follow", count);
  }
  into.null = null;
  into.value = null ? "null" : counted(static_cast<std::uint64_t>(count), "element");
  into.children.push_back(std::move(length));
  const Struct* structure = field.type.kind == Kind::structure ? scope.message->find_struct(field.type.name) : nullptr;
  std::int64_t hidden = 0;
  for (std::int64_t i = 0; i < count && reader_.ok(); ++i) {
    const bool show = nodes_ < options_.max_nodes;
    Node element = node(fmt::format("{}[{}]", field.type.name, i), field.type.name, scope.part);
    element.field = &field;
    value(element, field, structure, scope, false);
    close(element);
    if (show || !reader_.ok()) {
      into.children.push_back(std::move(element));
    } else if (hidden++ == 0) {
      element.name = "more";
      element.type = into.type;
      element.kind = NodeKind::group;
      element.encoding.clear();
      element.children.clear();
      into.children.push_back(std::move(element));
    } else {
      into.children.back().size += element.size;
    }
    if (hidden > 0 && reader_.ok())
      into.children.back().value = fmt::format("{} not shown", counted(static_cast<std::uint64_t>(hidden), "element"));
  }
}

void Walker::optional_structure(Node& into, const Field& field, const Struct& structure, const Scope& scope) {
  // A tagged one has a varint in front, of which zero is null too.
  Node marker = field.is_tagged()
                    ? uvarint("present", scope.part, "1: the struct follows, 0: null")
                    : number<std::int8_t>("present", "int8", scope.part, "1: the struct follows, -1: null");
  marker.kind = NodeKind::marker;
  if (reader_.ok()) {
    const auto raw = field.is_tagged() ? static_cast<std::int32_t>(raw_uvarint(marker.offset))
                                       : static_cast<std::int8_t>(bytes_[marker.offset]);
    into.null = field.is_tagged() ? raw <= 0 : raw < 0;
  }
  into.children.push_back(std::move(marker));
  if (!reader_.ok()) return;
  if (into.null) {
    into.kind = NodeKind::structure;
    into.value = "null";
  } else {
    value(into, field, &structure, scope, false);
  }
}

template <class T>
void Walker::integer(Node& into, const Field& field) {
  const T value = reader_.fixed<T>();
  if (!reader_.ok()) return;
  into.value = fmt::format("{}", value);
  into.content_size = sizeof(T);
  if constexpr (std::is_same_v<T, std::int16_t>) {
    if (field.name == "ErrorCode" && value != 0)
      into.encoding = protocol::error_name(static_cast<protocol::ErrorCode>(value));
  }
}

// One value, or one element of an array.
void Walker::value(Node& into, const Field& field, const Struct* nested, const Scope& scope, bool null_allowed) {
  const bool flexible = is_flexible(scope, field);
  into.kind = NodeKind::scalar;
  switch (field.type.kind) {
    case Kind::boolean: {
      const bool value = reader_.boolean();
      if (!reader_.ok()) return;
      into.value = value ? "true" : "false";
      into.content_size = 1;
      return;
    }
    case Kind::int8:
      return integer<std::int8_t>(into, field);
    case Kind::int16:
      return integer<std::int16_t>(into, field);
    case Kind::uint16:
      return integer<std::uint16_t>(into, field);
    case Kind::int32:
      return integer<std::int32_t>(into, field);
    case Kind::uint32:
      return integer<std::uint32_t>(into, field);
    case Kind::int64:
      return integer<std::int64_t>(into, field);
    case Kind::float64: {
      const double value = reader_.float64();
      if (!reader_.ok()) return;
      into.value = float_text(value);
      into.content_size = sizeof value;
      return;
    }
    case Kind::uuid: {
      const base::Uuid uuid = reader_.uuid();
      if (!reader_.ok()) return;
      into.value = uuid_text(uuid);
      // As Kafka's tools print it.
      if (!uuid.is_zero()) into.encoding = uuid.str();
      if (field.name == "TopicId") topic_ = topic_of_id(uuid.bytes, options_.topic);
      into.content_size = uuid.bytes.size();
      return;
    }
    case Kind::string:
      string(into, flexible, null_allowed);
      if (field.entity_type == "topicName" && reader_.ok())
        topic_ = bytes_.view().substr(reader_.position() - into.content_size, into.content_size);
      return;
    case Kind::bytes:
      return bytes(into, flexible, null_allowed);
    case Kind::records:
      return records(into, flexible, null_allowed);
    case Kind::structure:
      into.kind = NodeKind::structure;
      into.value = "struct";
      return structure(into, *nested, scope);
  }
}

void Walker::string(Node& into, bool flexible, bool null_allowed) {
  std::optional<base::String> text;
  reader_.nullable_string(text, flexible, null_allowed);
  if (!reader_.ok()) return;
  into.null = !text;
  into.value = text ? quoted(text->view(), options_.text_limit) : "null";
  into.content_size = text ? text->size() : 0;
  into.encoding = length_text(into.offset, flexible, "int16", text ? static_cast<std::int64_t>(text->size()) : -1);
}

void Walker::bytes(Node& into, bool flexible, bool null_allowed) {
  std::optional<Bytes> content;
  reader_.nullable_bytes(content, flexible, null_allowed);
  if (!reader_.ok()) return;
  into.null = !content;
  into.value = content ? bytes_text(content->span(), options_.bytes_limit) : "null";
  into.content_size = content ? content->size() : 0;
  into.encoding =
      length_text(into.offset, flexible, "int32", content ? static_cast<std::int64_t>(content->size()) : -1);
}

void Walker::records(Node& into, bool flexible, bool null_allowed) {
  into.kind = NodeKind::records;
  Node length = node("length", flexible ? "uvarint" : "int32", into.part);
  length.kind = NodeKind::length;
  std::optional<Bytes> content;
  reader_.nullable_bytes(content, flexible, null_allowed);
  close(length);
  if (reader_.ok()) {
    const std::size_t size = content ? content->size() : 0;
    length.size -= size;
    length.content_size = length.size;
    if (flexible) {
      length.value = fmt::format("{}", raw_uvarint(length.offset));
      length.encoding = content ? "compact, len+1" : "compact, null";
    } else {
      length.value = fmt::format("{}", base::load_be<std::int32_t>(bytes_.data() + length.offset));
      if (!content) length.encoding = "null";
    }
    length.about = content ? fmt::format("{} of record batches follow", counted(size, "byte")) : "no records follow";
    into.null = !content;
    into.value = content ? counted(size, "byte") : "null";
    into.content_size = size;
  }
  into.children.push_back(std::move(length));
  if (reader_.ok() && content) {
    const std::size_t begin = reader_.position() - content->size();
    if (options_.open_batches) {
      batches_.set_nodes_left(options_.max_nodes > nodes_ ? options_.max_nodes - nodes_ : 0);
      nodes_ += batches_.add(into, bytes_.data(), begin, reader_.position(), topic_);
    } else if (!content->empty()) {
      Node closed = node("batches", "bytes", Part::record_batch);
      closed.kind = NodeKind::scalar;
      closed.offset = begin;
      closed.size = closed.content_size = content->size();
      closed.value = counted(content->size(), "byte");
      into.children.push_back(std::move(closed));
    }
  }
}

Walk Walker::walk(const Envelope& envelope) {
  Walk result;
  Node& root = result.root;
  root = node(envelope.message->name, fmt::format("message v{}", envelope.version), Part::frame);
  const Part part = body_part(envelope.message->type);
  if (envelope.framing == Framing::framed) root.children.push_back(frame());
  if (envelope.framing == Framing::framed || envelope.framing == Framing::headed) {
    if (reader_.ok()) root.children.push_back(header(envelope));
  } else if (envelope.framing != Framing::bare) {
    root.children.push_back(prefix(envelope));
  }
  if (reader_.ok()) root.children.push_back(body(envelope, part));
  close(root);
  result.rest = reader_.remaining();
  if (reader_.ok()) return result;
  // The field at fault is the last thing that was begun.
  Fault fault{.offset = reader_.fault_position(), .reason = reader_.fault()};
  const Node* at = &root;
  while (!at->children.empty()) {
    at = &at->children.back();
    const bool element = at->kind == NodeKind::scalar || at->kind == NodeKind::structure;
    const std::size_t bracket = at->field != nullptr && element ? at->name.rfind('[') : std::string::npos;
    // An element is named after its array: Topics[0], where the tree says MetadataRequestTopic[0].
    if (bracket != std::string::npos) {
      fault.path += at->name.substr(bracket);
    } else {
      fault.path.append(fault.path.empty() ? "" : ".").append(at->name);
    }
  }
  fault.type = at->type;
  result.fault = std::move(fault);
  return result;
}

}  // namespace

std::string_view topic_of_id(std::span<const std::uint8_t> id, std::string_view other) {
  static constexpr std::uint8_t kClusterMetadata[16] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1};
  return std::ranges::equal(id, kClusterMetadata) ? "__cluster_metadata" : other;
}

Walk walk(const Envelope& envelope, const Bytes& bytes, const WalkOptions& options) {
  // What lies behind the size that a frame announces is not part of it.
  if (envelope.framing == Framing::framed && bytes.size() >= 4) {
    const auto size = base::load_be<std::int32_t>(bytes.data());
    if (size >= 0 && static_cast<std::size_t>(size) < bytes.size() - 4) {
      const Bytes frame = bytes.first(4 + static_cast<std::size_t>(size));
      Walk result = Walker(frame, options).walk(envelope);
      result.rest += bytes.size() - frame.size();
      return result;
    }
  }
  return Walker(bytes, options).walk(envelope);
}

}  // namespace thalweg::inspect
