#include "codegen/print_catalog.h"

#include <algorithm>
#include <map>

#include "codegen/names.h"
#include "codegen/printer.h"

namespace thalweg::codegen {

using schema::Message;
using schema::MessageType;

namespace {

bool listens(const Message& request, std::string_view listener) {
  return std::ranges::find(request.listeners, listener) != request.listeners.end();
}

}  // namespace

std::string print_api_keys(const std::vector<Message>& messages) {
  std::map<int, const Message*> requests;
  for (const Message& message : messages)
    if (message.type == MessageType::request && message.api_key) requests[*message.api_key] = &message;

  Printer out;
  out.put("// Every API of the protocol: generated from the schemas.");
  out.put("#pragma once");
  out.put("");
  out.put("#include <array>");
  out.put("#include <cstdint>");
  out.put("#include <string_view>");
  out.put("");
  out.put("namespace thalweg::protocol {");
  out.put("");
  out.open("enum class ApiKey : std::int16_t");
  const auto api_name = [](const Message& m) {
    return m.name.substr(0, m.name.size() - std::string_view("Request").size());
  };
  for (const auto& [key, message] : requests) out.line("{} = {},", snake_case(api_name(*message)), key);
  out.close("};");
  out.put("");
  out.open("struct ApiInfo");
  out.put("ApiKey key;");
  out.put("std::string_view name;");
  out.put("// Versions that the schema has; lowest > highest where the API was removed.");
  out.put("std::int16_t lowest;");
  out.put("std::int16_t highest;");
  out.put("// Requests of this version and above are flexible; 32767 where none is.");
  out.put("std::int16_t first_flexible;");
  out.put("// Whether the highest version is offered only when unstable versions are.");
  out.put("bool latest_unstable;");
  out.put("bool on_broker_listeners;");
  out.close("};");
  out.put("");
  out.line("inline constexpr std::array<ApiInfo, {}> kApis = {{{{", requests.size());
  for (const auto& [key, message] : requests) {
    const schema::VersionRange flexible = message->flexible.intersect(message->versions);
    out.line("    {{ApiKey::{}, \"{}\", {}, {}, {}, {}, {}}},", snake_case(api_name(*message)), api_name(*message),
             message->versions.lowest, message->versions.highest,
             flexible.empty() ? schema::kMaxVersion : flexible.lowest, message->latest_version_unstable,
             listens(*message, "broker"));
  }
  out.put("}};");
  out.put("");
  out.put("// The API's facts, or null where there is none of that number.");
  out.open("constexpr const ApiInfo* find_api(std::int16_t key)");
  out.put("for (const ApiInfo& api : kApis)");
  out.put("  if (static_cast<std::int16_t>(api.key) == key) return &api;");
  out.put("return nullptr;");
  out.close();
  out.put("");
  out.put("}  // namespace thalweg::protocol");
  return out.text();
}

std::string print_registry(const std::vector<Message>& messages) {
  Printer out;
  out.put("#include \"vectors/message_json.h\"");
  out.put("");
  out.put("namespace thalweg::protocol {");
  out.put("");
  for (const Message& message : messages)
    if (!message.versions.empty()) out.line("MessageEntry entry_{}();", message.name);
  out.put("");
  out.open("const std::vector<MessageEntry>& message_entries()");
  out.open("static const auto* const entries = new std::vector<MessageEntry>");
  for (const Message& message : messages)
    if (!message.versions.empty()) out.line("entry_{}(),", message.name);
  out.close("};");
  out.put("return *entries;");
  out.close();
  out.put("");
  out.put("}  // namespace thalweg::protocol");
  return out.text();
}

}  // namespace thalweg::codegen
