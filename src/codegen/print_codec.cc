#include <algorithm>

#include "codegen/names.h"
#include "codegen/print_message.h"
#include "codegen/printer.h"

namespace thalweg::codegen {

using schema::Field;
using schema::Kind;
using schema::VersionRange;

namespace {

// Prints the codec of one structure.
class StructCodec {
 public:
  StructCodec(Printer& out, const MessageModel& model, const StructModel& s)
      : out_(out), model_(model), s_(s), flexible_(model.message().flexible.intersect(s.versions)) {
    for (const Field& field : s.structure->fields)
      if (field.is_tagged() && !field.versions.intersect(s.versions).empty()) tagged_.push_back(&field);
    std::ranges::sort(tagged_, {}, [](const Field* f) { return *f->tag; });
  }

  void print_encode();
  void print_decode();

 private:
  void print_flexible() {
    if (flexible_.empty() || flexible_.contains(s_.versions)) {
      out_.line("[[maybe_unused]] constexpr bool flexible = {};", flexible_.empty() ? "false" : "true");
    } else {
      out_.line("[[maybe_unused]] const bool flexible = {};", condition(flexible_, s_.versions));
    }
  }
  // The word for the field's flexibility at this point.
  [[nodiscard]] std::string flexible_word(const Field& field) const {
    return field.flexible && field.flexible->empty() ? "false" : "flexible";
  }
  // Whether null is allowed, as an expression over the versions that are possible here.
  [[nodiscard]] std::string null_allowed(const Field& field, VersionRange possible) const {
    const VersionRange nullable = field.nullable.intersect(possible);
    if (nullable.empty()) return "false";
    const std::string c = condition(nullable, possible);
    return c.empty() ? "true" : c;
  }
  void encode_value(const Field& field, VersionRange possible, const std::string& member, const std::string& sink);
  void encode_scalar(const Field& field, const std::string& member, const std::string& sink);
  void encode_untagged(const Field& field);
  void encode_tagged();
  void decode_value(const Field& field, VersionRange possible, const std::string& member);
  void decode_element(const Field& field, const std::string& member);
  void decode_tagged();
  [[nodiscard]] std::string integer_type(const Field& field) const;
  // The element's type as seen from outside the message's struct.
  [[nodiscard]] std::string scope_name(const Field& field) const {
    return field.type.kind == Kind::structure ? model_.find(field.type.name).cpp_name : model_.element_type(field);
  }

  Printer& out_;
  const MessageModel& model_;
  const StructModel& s_;
  VersionRange flexible_;
  std::vector<const Field*> tagged_;
};

std::string StructCodec::integer_type(const Field& field) const {
  switch (field.type.kind) {
    case Kind::int8:
      return "std::int8_t";
    case Kind::int16:
      return "std::int16_t";
    case Kind::uint16:
      return "std::uint16_t";
    case Kind::int32:
      return "std::int32_t";
    case Kind::uint32:
      return "std::uint32_t";
    default:
      return "std::int64_t";
  }
}

void StructCodec::encode_scalar(const Field& field, const std::string& member, const std::string& sink) {
  const std::string type = model_.element_type(field);
  switch (field.type.kind) {
    case Kind::boolean:
      return out_.line("{}.boolean({});", sink, member);
    case Kind::float64:
      return out_.line("{}.float64({});", sink, member);
    case Kind::uuid:
      return out_.line("{}.uuid({});", sink, member);
    case Kind::string:
      return out_.line("{}.string({}, {});", sink, member, flexible_word(field));
    case Kind::bytes:
      return out_.line("{}.bytes({}, {});", sink, member, flexible_word(field));
    case Kind::records:
      return out_.line("{}.records({}, {});", sink, member, flexible_word(field));
    case Kind::structure:
      return out_.line("encode_{}({}, {}, version);", field.type.name, sink, member);
    default:
      if (type == "ErrorCode") return out_.line("{}.fixed(static_cast<std::int16_t>({}));", sink, member);
      if (type == "BrokerId" || type == "ProducerId") return out_.line("{}.fixed({}.value());", sink, member);
      return out_.line("{}.fixed({});", sink, member);
  }
}

void StructCodec::encode_value(const Field& field, VersionRange possible, const std::string& member,
                               const std::string& sink) {
  const bool optional = model_.nullable(field, s_);
  const bool plain_struct = field.type.kind == Kind::structure && !field.type.array;
  std::string value = member;
  if (optional) {
    out_.open(fmt::format("if (!{})", member));
    const std::string allowed = null_allowed(field, possible);
    if (allowed != "true") out_.line("if (!({})) {}.fail(\"{} must not be null\");", allowed, sink, field.name);
    if (plain_struct && field.is_tagged()) {
      out_.line("{}.uvarint(0);", sink);
    } else if (plain_struct) {
      out_.line("{}.fixed(static_cast<std::int8_t>(-1));", sink);
    } else if (field.type.array) {
      out_.line("{}.null_array({});", sink, flexible_word(field));
    } else if (field.type.kind == Kind::string) {
      out_.line("{}.null_string({});", sink, flexible_word(field));
    } else {
      out_.line("{}.null_bytes({});", sink, flexible_word(field));
    }
    out_.otherwise("} else {");
    value = "(*" + member + ")";
    if (plain_struct) {
      const std::string allowed_here = null_allowed(field, possible);
      const std::string present =
          field.is_tagged() ? sink + ".uvarint(1);" : sink + ".fixed(static_cast<std::int8_t>(1));";
      if (allowed_here == "true") {
        out_.put(present);
      } else if (allowed_here != "false") {
        out_.line("if ({}) {}", allowed_here, present);
      }
    }
  }
  if (field.type.array) {
    out_.line("{}.array_length({}.size(), {});", sink, value, flexible_word(field));
    out_.open(fmt::format("for (const auto& element : {})", value));
    encode_scalar(field, "element", sink);
    out_.close();
  } else {
    encode_scalar(field, value, sink);
  }
  if (optional) {
    out_.close();
  }
}

void StructCodec::encode_untagged(const Field& field) {
  const VersionRange present = field.versions.intersect(s_.versions);
  if (present.empty()) return;
  const std::string member = "m." + snake_case(field.name);
  const std::string here = condition(present, s_.versions);
  if (here.empty()) return encode_value(field, present, member, "sink");
  out_.open(fmt::format("if ({})", here));
  encode_value(field, present, member, "sink");
  if (!field.ignorable) {
    out_.otherwise(fmt::format("}} else if ({}) {{", model_.differs(field, s_, member)));
    out_.line("sink.fail(\"{} is not in this version\");", field.name);
    out_.close();
  } else {
    out_.close();
  }
}

void StructCodec::encode_tagged() {
  // Tagged fields that the version lacks.
  for (const Field* field : tagged_) {
    const std::string here = condition(field->versions.intersect(s_.versions), s_.versions);
    if (here.empty() || field->ignorable) continue;
    out_.line("if (!({}) && {}) sink.fail(\"{} is not in this version\");", here,
              model_.differs(*field, s_, "m." + snake_case(field->name)), field->name);
  }
  if (flexible_.empty()) return;
  out_.open("if (flexible)");
  out_.put("std::uint32_t count = static_cast<std::uint32_t>(m.unknown_tagged_fields.size());");
  out_.put("if (count > 0 && !tags_rise(m.unknown_tagged_fields)) sink.fail(\"unknown tags do not rise\");");
  const auto present = [&](const Field& field) {
    const std::string here = condition(field.versions.intersect(s_.versions), s_.versions.intersect(flexible_));
    const std::string differs = model_.differs(field, s_, "m." + snake_case(field.name));
    return here.empty() ? differs : fmt::format("{} && {}", here, differs);
  };
  for (const Field* field : tagged_) out_.line("if ({}) ++count;", present(*field));
  out_.put("sink.uvarint(count);");
  if (tagged_.empty()) {
    out_.put("if (count > 0) put_unknown_tagged_fields(sink, m.unknown_tagged_fields, 0, UINT32_MAX);");
  } else {
    int from = 0;
    for (const Field* field : tagged_) {
      const VersionRange possible = field->versions.intersect(s_.versions);
      if (*field->tag > from)
        out_.line(
            "if (!m.unknown_tagged_fields.empty()) put_unknown_tagged_fields(sink, m.unknown_tagged_fields, {}, {});",
            from, *field->tag);
      from = *field->tag + 1;
      out_.open(fmt::format("if ({})", present(*field)));
      out_.put("Sizer sizer;");
      encode_value(*field, possible, "m." + snake_case(field->name), "sizer");
      out_.line("sink.uvarint({});", *field->tag);
      out_.put("sink.uvarint(sizer.size());");
      encode_value(*field, possible, "m." + snake_case(field->name), "sink");
      out_.close();
    }
    out_.line(
        "if (!m.unknown_tagged_fields.empty()) put_unknown_tagged_fields(sink, m.unknown_tagged_fields, {}, "
        "UINT32_MAX);",
        from);
  }
  if (!flexible_.contains(s_.versions)) {
    out_.otherwise("} else if (!m.unknown_tagged_fields.empty()) {");
    out_.put("sink.fail(\"tagged fields in a version that has none\");");
    out_.close();
  } else {
    out_.close();
  }
}

void StructCodec::print_encode() {
  out_.put("template <class Sink>");
  out_.open(fmt::format(
      "void encode_{}([[maybe_unused]] Sink& sink, [[maybe_unused]] const {}& m, [[maybe_unused]] int version)",
      s_.structure->name, s_.cpp_name));
  print_flexible();
  for (const Field& field : s_.structure->fields)
    if (!field.is_tagged()) encode_untagged(field);
  encode_tagged();
  out_.close();
  out_.put("");
}

void StructCodec::decode_element(const Field& field, const std::string& member) {
  const std::string type = model_.element_type(field);
  switch (field.type.kind) {
    case Kind::boolean:
      return out_.line("{} = reader.boolean();", member);
    case Kind::float64:
      return out_.line("{} = reader.float64();", member);
    case Kind::uuid:
      return out_.line("{} = reader.uuid();", member);
    case Kind::string:
      return out_.line("reader.string({}, {});", member, flexible_word(field));
    case Kind::bytes:
      return out_.line("reader.bytes({}, {});", member, flexible_word(field));
    case Kind::records:
      return out_.line("reader.records({}, {});", member, flexible_word(field));
    case Kind::structure:
      return out_.line("decode_{}(reader, {}, version);", field.type.name, member);
    default:
      if (type == "ErrorCode") return out_.line("{} = static_cast<ErrorCode>(reader.fixed<std::int16_t>());", member);
      if (!type.starts_with("std::"))
        return out_.line("{} = {}(reader.fixed<{}>());", member, type, integer_type(field));
      return out_.line("{} = reader.fixed<{}>();", member, integer_type(field));
  }
}

void StructCodec::decode_value(const Field& field, VersionRange possible, const std::string& member) {
  const bool optional = model_.nullable(field, s_);
  const std::string flexible = flexible_word(field);
  if (field.type.array) {
    if (optional) {
      out_.open(fmt::format("reader.nullable_array({}, {}, {}, {}, [&]({}& element)", member, flexible,
                            null_allowed(field, possible), model_.least_bytes(field), scope_name(field)));
    } else {
      out_.open(fmt::format("reader.array({}, {}, {}, [&]({}& element)", member, flexible, model_.least_bytes(field),
                            scope_name(field)));
    }
    decode_element(field, "element");
    return out_.close("});");
  }
  if (!optional) return decode_element(field, member);
  const std::string allowed = null_allowed(field, possible);
  switch (field.type.kind) {
    case Kind::string:
      return out_.line("reader.nullable_string({}, {}, {});", member, flexible, allowed);
    case Kind::bytes:
      return out_.line("reader.nullable_bytes({}, {}, {});", member, flexible, allowed);
    case Kind::records:
      return out_.line("reader.nullable_records({}, {}, {});", member, flexible, allowed);
    default:
      break;
  }
  // A structure that may be null: a negative marker byte is null, any other is present. Where it is tagged the marker
  // is a varint, and null is zero or less.
  const std::string is_null =
      field.is_tagged() ? "static_cast<std::int32_t>(reader.uvarint()) <= 0" : "reader.fixed<std::int8_t>() < 0";
  out_.open(allowed == "true" ? fmt::format("if ({})", is_null) : fmt::format("if (({}) && {})", allowed, is_null));
  out_.line("{}.reset();", member);
  out_.otherwise("} else {");
  out_.line("decode_{}(reader, {}.emplace(), version);", field.type.name, member);
  out_.close();
}

void StructCodec::decode_tagged() {
  if (flexible_.empty()) return;
  out_.open("if (flexible)");
  out_.open("for (std::uint32_t left = reader.tagged_field_count(); left > 0 && reader.ok(); --left)");
  out_.put("const std::uint32_t tag = reader.uvarint();");
  out_.put("const std::uint32_t size = reader.uvarint();");
  if (tagged_.empty()) {
    out_.put("reader.unknown_tagged_field(m.unknown_tagged_fields, tag, size);");
  } else {
    out_.open("switch (tag)");
    for (const Field* field : tagged_) {
      const VersionRange possible = field->versions.intersect(s_.versions);
      out_.open(fmt::format("case {}:", *field->tag));
      const std::string here = condition(possible, s_.versions.intersect(flexible_));
      if (!here.empty()) {
        out_.open(fmt::format("if (!({}))", here));
        out_.put("reader.fail(\"a tag that this version lacks\");");
        out_.put("break;");
        out_.close();
      }
      if (field->type.kind == Kind::structure && !field->type.array) out_.line("m.{} = {{}};", snake_case(field->name));
      decode_value(*field, possible, "m." + snake_case(field->name));
      out_.put("break;");
      out_.close();
    }
    out_.put("default: reader.unknown_tagged_field(m.unknown_tagged_fields, tag, size);");
    out_.close();
  }
  out_.close();
  out_.close();
}

void StructCodec::print_decode() {
  out_.open(fmt::format(
      "void decode_{}([[maybe_unused]] Reader& reader, [[maybe_unused]] {}& m, [[maybe_unused]] int version)",
      s_.structure->name, s_.cpp_name));
  print_flexible();
  for (const Field& field : s_.structure->fields) {
    if (field.is_tagged()) continue;
    const VersionRange present = field.versions.intersect(s_.versions);
    if (present.empty()) continue;
    const std::string here = condition(present, s_.versions);
    if (!here.empty()) out_.open(fmt::format("if ({})", here));
    decode_value(field, present, "m." + snake_case(field.name));
    if (!here.empty()) out_.close();
  }
  decode_tagged();
  out_.close();
  out_.put("");
}

}  // namespace

std::string print_codec(const MessageModel& model) {
  const std::string& name = model.message().name;
  Printer out;
  out.line("#include \"protocol/messages/{}.h\"", snake_case(name));
  out.put("");
  out.put("namespace thalweg::protocol {");
  out.put("");
  out.line("namespace codec_{} {{", name);
  out.put("namespace {");
  out.put("");
  for (const StructModel& s : model.structs()) {
    StructCodec codec(out, model, s);
    codec.print_encode();
    codec.print_decode();
  }
  out.put("}  // namespace");
  out.line("}}  // namespace codec_{}", name);
  out.put("");
  out.line("void {0}::encode(Writer& writer, int version) const {{ codec_{0}::encode_{0}(writer, *this, version); }}",
           name);
  out.put("");
  out.open(fmt::format("std::uint64_t {}::encoded_size(int version) const", name));
  out.put("Sizer sizer;");
  out.line("codec_{0}::encode_{0}(sizer, *this, version);", name);
  out.put("return sizer.size();");
  out.close();
  out.put("");
  out.line("void {0}::decode(Reader& reader, int version) {{ codec_{0}::decode_{0}(reader, *this, version); }}", name);
  out.put("");
  out.put("}  // namespace thalweg::protocol");
  return out.text();
}

}  // namespace thalweg::codegen
