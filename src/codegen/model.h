// What the printers need to know beyond the schema: C++ types, defaults, and which versions can matter where.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "schema/message.h"

namespace thalweg::codegen {

// A structure with the versions in which it can occur, narrowed by every field on the way to it.
struct StructModel {
  const schema::Struct* structure = nullptr;
  schema::VersionRange versions;
  std::string cpp_name;  // FetchRequest or FetchRequest::FetchTopic
  std::size_t least_bytes = 1;
};

class MessageModel {
 public:
  explicit MessageModel(const schema::Message& message);

  [[nodiscard]] const schema::Message& message() const { return message_; }
  // Every structure that can occur, each before its users; the root is last.
  [[nodiscard]] const std::vector<StructModel>& structs() const { return structs_; }
  [[nodiscard]] const StructModel& find(const std::string& name) const;

  // C++ type of the field's value, optional included.
  [[nodiscard]] std::string member_type(const schema::Field& field, const StructModel& in) const;
  // C++ type of one element or of the value itself.
  [[nodiscard]] std::string element_type(const schema::Field& field) const;
  // Initializer of the member, with its leading " = ", or nothing.
  [[nodiscard]] std::string initializer(const schema::Field& field, const StructModel& in) const;
  // Expression that is true where `member` differs from its default.
  [[nodiscard]] std::string differs(const schema::Field& field, const StructModel& in, const std::string& member) const;
  [[nodiscard]] bool nullable(const schema::Field& field, const StructModel& in) const {
    return !field.nullable.intersect(in.versions).intersect(field.versions).empty() ||
           field.type.kind == schema::Kind::records;
  }
  // Bytes that one element of the field's type takes at least, in any version.
  [[nodiscard]] std::size_t least_bytes(const schema::Field& field) const;

 private:
  void narrow();
  void measure();

  const schema::Message& message_;
  std::vector<StructModel> structs_;
};

// `version` compared with `range` where every version possible lies in `possible`: "" where it always holds.
std::string condition(schema::VersionRange range, schema::VersionRange possible);

}  // namespace thalweg::codegen
