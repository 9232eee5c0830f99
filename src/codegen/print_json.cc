#include "codegen/names.h"
#include "codegen/print_message.h"
#include "codegen/printer.h"

namespace thalweg::codegen {

using schema::Field;
using schema::Kind;
using schema::VersionRange;

namespace {

// Prints how one structure goes to the reference's JSON and back. Keys stand in the order of the schema; a field that
// the version lacks, and a tagged one at its default, is left out.
void print_struct(Printer& out, const MessageModel& model, const StructModel& s) {
  const std::string& name = s.structure->name;
  out.open(
      fmt::format("Json to_json_{}([[maybe_unused]] const {}& m, [[maybe_unused]] int version, [[maybe_unused]] "
                  "JsonContext& context)",
                  name, s.cpp_name));
  out.put("Json json = Json::object();");
  if (!model.message().flexible.intersect(s.versions).empty()) out.put("context.note(m.unknown_tagged_fields);");
  for (const Field& field : s.structure->fields) {
    const VersionRange present = field.versions.intersect(s.versions);
    if (present.empty()) continue;
    const std::string member = "m." + snake_case(field.name);
    std::string guard = condition(present, s.versions);
    if (field.is_tagged()) guard += (guard.empty() ? "" : " && ") + model.differs(field, s, member);
    if (!guard.empty()) out.open(fmt::format("if ({})", guard));
    const std::string key = json_key(field.name);
    const std::string element =
        field.type.kind == Kind::structure
            ? fmt::format("[&](const auto& e) {{ return to_json_{}(e, version, context); }}", field.type.name)
            : std::string("[](const auto& e) { return json_of(e); }");
    out.line("put(json, \"{}\", {}, context, {});", key, member, element);
    if (!guard.empty()) out.close();
  }
  out.put("return json;");
  out.close();
  out.put("");
  out.open(fmt::format(
      "void from_json_{}([[maybe_unused]] const Json& json, [[maybe_unused]] {}& m, [[maybe_unused]] int version)",
      name, s.cpp_name));
  for (const Field& field : s.structure->fields) {
    const VersionRange present = field.versions.intersect(s.versions);
    if (present.empty()) continue;
    const std::string element =
        field.type.kind == Kind::structure
            ? fmt::format("[&](const Json& j, auto& e) {{ from_json_{}(j, e, version); }}", field.type.name)
            : std::string("[](const Json& j, auto& e) { value_of(j, e); }");
    out.line("get(json, \"{}\", m.{}, {});", json_key(field.name), snake_case(field.name), element);
  }
  out.close();
  out.put("");
}

}  // namespace

std::string print_json(const MessageModel& model) {
  const std::string& name = model.message().name;
  Printer out;
  out.line("#include \"protocol/messages/{}.h\"", snake_case(name));
  out.put("#include \"vectors/message_json.h\"");
  out.put("");
  out.put("namespace thalweg::protocol {");
  out.put("");
  out.line("namespace json_{} {{", name);
  out.put("namespace {");
  out.put("");
  for (const StructModel& s : model.structs()) print_struct(out, model, s);
  out.put("}  // namespace");
  out.line("}}  // namespace json_{}", name);
  out.put("");
  out.line("MessageEntry entry_{}();", name);
  out.line("MessageEntry entry_{0}() {{ return make_entry<{0}>(json_{0}::to_json_{0}, json_{0}::from_json_{0}); }}",
           name);
  out.put("");
  out.put("}  // namespace thalweg::protocol");
  return out.text();
}

}  // namespace thalweg::codegen
