#include "codegen/model.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"
#include "codegen/names.h"

namespace thalweg::codegen {

using schema::Field;
using schema::Kind;
using schema::VersionRange;

namespace {

bool is_integer(Kind kind) {
  return kind == Kind::int8 || kind == Kind::int16 || kind == Kind::uint16 || kind == Kind::int32 ||
         kind == Kind::uint32 || kind == Kind::int64;
}

std::string integer_literal(const std::string& text) {
  const long long value = std::stoll(text, nullptr, 0);
  if (value == INT64_MIN) return "INT64_MIN";
  if (value == INT32_MIN) return "INT32_MIN";
  if (value > INT32_MAX || value < INT32_MIN) return fmt::format("{}LL", value);
  return std::to_string(value);
}

VersionRange hull(VersionRange a, VersionRange b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return {std::min(a.lowest, b.lowest), std::max(a.highest, b.highest)};
}

std::size_t scalar_bytes(Kind kind, bool flexible) {
  switch (kind) {
    case Kind::boolean:
    case Kind::int8:
      return 1;
    case Kind::int16:
    case Kind::uint16:
      return 2;
    case Kind::int32:
    case Kind::uint32:
      return 4;
    case Kind::int64:
    case Kind::float64:
      return 8;
    case Kind::uuid:
      return 16;
    case Kind::string:
      return flexible ? 1 : 2;
    case Kind::bytes:
    case Kind::records:
      return flexible ? 1 : 4;
    case Kind::structure:
      return 0;
  }
  return 0;
}

}  // namespace

MessageModel::MessageModel(const schema::Message& message) : message_(message) {
  for (const schema::Struct& structure : message.structs)
    structs_.push_back({&structure, VersionRange::none(), message.name + "::" + structure.name});
  structs_.push_back({&message.root, message.versions, message.name});
  narrow();
  measure();
}

void MessageModel::narrow() {
  // Users stand behind what they use, so walking backwards meets every use of a structure before the structure.
  for (std::size_t i = structs_.size(); i-- > 0;) {
    const VersionRange outer = structs_[i].versions;
    for (const Field& field : structs_[i].structure->fields) {
      if (field.type.kind != Kind::structure) continue;
      const auto used =
          std::ranges::find(structs_, field.type.name, [](const StructModel& s) { return s.structure->name; });
      used->versions = hull(used->versions, outer.intersect(field.versions));
    }
  }
  std::erase_if(structs_, [&](const StructModel& s) { return s.versions.empty() && s.structure != &message_.root; });
}

void MessageModel::measure() {
  for (StructModel& model : structs_) {
    std::size_t least = SIZE_MAX;
    for (int version = model.versions.lowest; version <= model.versions.highest; ++version) {
      const bool flexible = message_.flexible.contains(version);
      std::size_t bytes = flexible ? 1 : 0;
      for (const Field& field : model.structure->fields) {
        if (field.is_tagged() || !field.versions.contains(version)) continue;
        const bool nullable_struct = field.type.kind == Kind::structure && field.nullable.contains(version);
        if (field.type.array) {
          bytes += flexible ? 1 : 4;
        } else if (field.type.kind == Kind::structure) {
          bytes += nullable_struct ? 1 : find(field.type.name).least_bytes;
        } else {
          bytes += scalar_bytes(field.type.kind, flexible);
        }
      }
      least = std::min(least, bytes);
    }
    model.least_bytes = least == SIZE_MAX ? 1 : std::max<std::size_t>(least, 1);
  }
}

const StructModel& MessageModel::find(const std::string& name) const {
  const auto it = std::ranges::find(structs_, name, [](const StructModel& s) { return s.structure->name; });
  CHECK(it != structs_.end(), name);
  return *it;
}

std::string MessageModel::element_type(const Field& field) const {
  const std::string& entity = field.entity_type;
  switch (field.type.kind) {
    case Kind::boolean:
      return "bool";
    case Kind::int8:
      return "std::int8_t";
    // Error codes are named alike in every message.
    case Kind::int16:
      return field.name == "ErrorCode" && !field.type.array ? "ErrorCode" : "std::int16_t";
    case Kind::uint16:
      return "std::uint16_t";
    case Kind::int32:
      return entity == "brokerId" ? "BrokerId" : "std::int32_t";
    case Kind::uint32:
      return "std::uint32_t";
    case Kind::int64:
      return entity == "producerId" ? "ProducerId" : "std::int64_t";
    case Kind::float64:
      return "double";
    case Kind::string:
      if (entity == "topicName") return "TopicName";
      if (entity == "groupId") return "GroupId";
      if (entity == "transactionalId") return "TransactionalId";
      return "String";
    case Kind::bytes:
      return "Bytes";
    case Kind::records:
      return "Records";
    case Kind::uuid:
      return "Uuid";
    case Kind::structure:
      return field.type.name;
  }
  return {};
}

std::string MessageModel::member_type(const Field& field, const StructModel& in) const {
  std::string type = element_type(field);
  if (field.type.array) type = fmt::format("std::vector<{}>", type);
  return nullable(field, in) ? fmt::format("std::optional<{}>", type) : type;
}

std::string MessageModel::initializer(const Field& field, const StructModel& in) const {
  const bool null_default = field.default_value == "null" || field.type.kind == Kind::records;
  if (nullable(field, in)) {
    if (null_default) return "";
    std::string inner = element_type(field);
    if (field.type.array) inner = fmt::format("std::vector<{}>", inner);
    return fmt::format(" = {}()", inner);
  }
  if (field.type.array || field.type.kind == Kind::structure) return "";
  if (field.type.kind == Kind::boolean) return field.default_value == "true" ? " = true" : " = false";
  if (field.type.kind == Kind::float64) return fmt::format(" = {}", field.default_value.value_or("0.0"));
  if (is_integer(field.type.kind)) {
    const std::string literal = integer_literal(field.default_value.value_or("0"));
    const std::string type = element_type(field);
    if (type == "ErrorCode") return fmt::format(" = static_cast<ErrorCode>({})", literal);
    return type.starts_with("std::") ? fmt::format(" = {}", literal) : fmt::format(" = {}({})", type, literal);
  }
  if (field.type.kind == Kind::string && field.default_value && !field.default_value->empty())
    return fmt::format(" = \"{}\"", *field.default_value);
  return "";
}

std::string MessageModel::differs(const Field& field, const StructModel& in, const std::string& member) const {
  const bool null_default = field.default_value == "null" || field.type.kind == Kind::records;
  if (nullable(field, in)) {
    if (null_default) return member + ".has_value()";
    if (field.type.kind == Kind::structure && !field.type.array)
      return fmt::format("!({0} && *{0} == {1}{{}})", member, find(field.type.name).cpp_name);
    return fmt::format("(!{0} || !{0}->empty())", member);
  }
  if (field.type.array || field.type.kind == Kind::bytes) return fmt::format("!{}.empty()", member);
  if (field.type.kind == Kind::structure) return fmt::format("!({} == {}{{}})", member, find(field.type.name).cpp_name);
  if (field.type.kind == Kind::uuid) return fmt::format("!{}.is_zero()", member);
  if (field.type.kind == Kind::boolean) return field.default_value == "true" ? "!" + member : member;
  if (field.type.kind == Kind::string) {
    if (!field.default_value || field.default_value->empty()) return fmt::format("!{}.empty()", member);
    return fmt::format("!({} == \"{}\")", member, *field.default_value);
  }
  if (field.type.kind == Kind::float64) return fmt::format("{} != {}", member, field.default_value.value_or("0.0"));
  const std::string literal = integer_literal(field.default_value.value_or("0"));
  const std::string type = element_type(field);
  if (type == "ErrorCode") return fmt::format("{} != static_cast<ErrorCode>({})", member, literal);
  return type.starts_with("std::") ? fmt::format("{} != {}", member, literal)
                                   : fmt::format("{}.value() != {}", member, literal);
}

std::size_t MessageModel::least_bytes(const Field& field) const {
  if (field.type.kind == Kind::structure) return find(field.type.name).least_bytes;
  return scalar_bytes(field.type.kind, true);
}

std::string condition(VersionRange range, VersionRange possible) {
  if (range.contains(possible)) return "";
  const VersionRange both = range.intersect(possible);
  if (both.empty()) return "false";
  if (both.lowest == both.highest) return fmt::format("version == {}", both.lowest);
  if (both.lowest <= possible.lowest) return fmt::format("version <= {}", both.highest);
  if (both.highest >= possible.highest) return fmt::format("version >= {}", both.lowest);
  return fmt::format("version >= {} && version <= {}", both.lowest, both.highest);
}

}  // namespace thalweg::codegen
