#include "codegen/names.h"
#include "codegen/print_message.h"
#include "codegen/printer.h"

namespace thalweg::codegen {

using schema::Field;
using schema::MessageType;

namespace {

// Without the fields' `about`: a better word in a schema must not compile every message anew, and the pages of
// `thalweg inspect` are where they are read.
void print_members(Printer& out, const MessageModel& model, const StructModel& s) {
  for (const Field& field : s.structure->fields) {
    if (field.versions.intersect(s.versions).empty()) continue;
    out.line("{} {}{};", model.member_type(field, s), snake_case(field.name), model.initializer(field, s));
  }
  if (!model.message().flexible.intersect(s.versions).empty()) out.put("UnknownTaggedFields unknown_tagged_fields;");
}

}  // namespace

std::string print_header(const MessageModel& model) {
  const schema::Message& message = model.message();
  Printer out;
  out.line("// {}: generated from its schema.", message.name);
  out.put("#pragma once");
  out.put("");
  for (const char* include : {"cstdint", "optional", "string_view", "vector"}) out.line("#include <{}>", include);
  out.put("");
  out.put("#include \"protocol/api_key.h\"");
  out.put("#include \"protocol/wire.h\"");
  out.put("");
  out.put("namespace thalweg::protocol {");
  out.put("");
  const bool is_request = message.type == MessageType::request;
  const bool is_api = (is_request || message.type == MessageType::response) && message.api_key.has_value();
  std::string response;
  if (is_request) {
    response = message.name.substr(0, message.name.size() - std::string_view("Request").size()) + "Response";
    out.line("struct {};", response);
    out.put("");
  }
  // The structures of a message stand outside of it, so that they are complete where optionals and vectors hold them.
  if (model.structs().size() > 1) {
    out.line("namespace {} {{", snake_case(message.name));
    out.put("");
    for (const StructModel& s : model.structs()) {
      if (s.structure == &message.root) continue;
      out.open("struct " + s.structure->name);
      print_members(out, model, s);
      out.line("friend bool operator==(const {0}&, const {0}&) = default;", s.structure->name);
      out.close("};");
      out.put("");
    }
    out.line("}}  // namespace {}", snake_case(message.name));
    out.put("");
  }
  out.open("struct " + message.name);
  out.line("static constexpr std::string_view kName = \"{}\";", message.name);
  if (is_api) out.line("static constexpr ApiKey kApiKey = static_cast<ApiKey>({});", *message.api_key);
  if (!is_api && message.api_key) out.line("static constexpr std::int16_t kRecordType = {};", *message.api_key);
  if (is_request) out.line("using Response = {};", response);
  out.line("static constexpr int kLowestVersion = {};", message.versions.lowest);
  out.line("static constexpr int kHighestVersion = {};", message.versions.highest);
  const schema::VersionRange flexible = message.flexible.intersect(message.versions);
  out.line("// Flexible from this version on; {} where none is.", schema::kMaxVersion);
  out.line("static constexpr int kFirstFlexibleVersion = {};",
           flexible.empty() ? schema::kMaxVersion : flexible.lowest);
  out.put("");
  for (const StructModel& s : model.structs())
    if (s.structure != &message.root) out.line("using {0} = {1}::{0};", s.structure->name, snake_case(message.name));
  out.put("");
  print_members(out, model, model.structs().back());
  out.put("");
  out.put("void encode(Writer& writer, int version) const;");
  out.put("[[nodiscard]] std::uint64_t encoded_size(int version) const;");
  out.put("// Reads into a new message; the reader tells whether it went well.");
  out.put("void decode(Reader& reader, int version);");
  out.line("friend bool operator==(const {0}&, const {0}&) = default;", message.name);
  out.close("};");
  out.put("");
  out.put("}  // namespace thalweg::protocol");
  return out.text();
}

}  // namespace thalweg::codegen
