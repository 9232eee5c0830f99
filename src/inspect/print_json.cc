#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text.h"
#include "inspect/print.h"

namespace thalweg::inspect {

namespace {

using Json = nlohmann::ordered_json;

std::string dump(const Json& json) {
  return json.dump(2, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace) + "\n";
}

Json number(const std::string& digits) { return std::stoll(digits); }

Json json_of(const Node& node) {
  Json json = {{"name", node.name}, {"type", node.type}};
  if (!node.value.empty()) json["value"] = node.value;
  if (!node.encoding.empty()) json["encoding"] = node.encoding;
  json["offset"] = node.offset;
  json["size"] = node.size;
  json["part"] = part_name(node.part);
  if (!node.about.empty()) json["about"] = node.about;
  if (!node.children.empty()) {
    Json& children = json["children"] = Json::array();
    for (const Node& child : node.children) children.push_back(json_of(child));
  }
  return json;
}

std::string small(std::string_view title) {
  std::string text(title);
  text[0] = static_cast<char>(text[0] - 'A' + 'a');
  return text;
}

Json json_of(const PageMessage& message) {
  Json json = {{"name", message.entry->message.name},
               {"kind", small(message.title)},
               {"caption", message.caption},
               {"version", message.envelope.version}};
  if (message.envelope.header != nullptr) json["headerVersion"] = message.envelope.header_version;
  if (message.envelope.framing != Framing::bare) json["headerSize"] = message.header_size;
  json["bodySize"] = message.body_size;
  json["size"] = message.bytes.size();
  json["nodes"] = count_nodes(message.tree);
  Json& rows = json["rows"] = Json::array();
  for (std::size_t row = 0; row < message.bytes.size(); row += 16) rows.push_back(fmt::format("{:04x}", row));
  json["frame"] = base::hex_encode(message.bytes.span());
  json["tree"] = json_of(message.tree);
  json["schema"] = message.entry->file.text;
  return json;
}

Json versions_of(const MessageEntry& entry) { return entry.message.versions.str(); }

}  // namespace

std::string page_json(const Page& page) {
  Json json = {{page.subject->family == Family::api ? "api" : "name", page.subject->name}};
  for (const Fact& fact : page.facts) {
    json[fact.key] = fact.number ? number(fact.value) : Json(fact.value);
    if (fact.key == "encodedAt" && page.unstable) json["unstable"] = true;
  }
  json["introduction"] = page.introduction;
  Json& messages = json["messages"] = Json::array();
  for (const PageMessage& message : page.messages) messages.push_back(json_of(message));
  return dump(json);
}

std::string list_json(const Catalog& catalog) {
  Json json = {{"apis", Json::array()}, {"records", Json::array()}};
  for (const Subject& subject : catalog.subjects()) {
    const bool api = subject.family == Family::api;
    Json item = Json::object();
    if (subject.key) item[api ? "apiKey" : "recordType"] = *subject.key;
    item["name"] = subject.name;
    if (subject.second == nullptr) {
      item["versions"] = versions_of(*subject.first);
    } else {
      item[api ? "requestVersions" : "keyVersions"] = versions_of(*subject.first);
      item[api ? "responseVersions" : "valueVersions"] = versions_of(*subject.second);
    }
    const MessageEntry& main = subject.second != nullptr && !api ? *subject.second : *subject.first;
    item["flexibleVersions"] = main.message.flexible.str();
    if (api) {
      item["newestStable"] = main.newest_stable < 0 ? Json(nullptr) : Json(main.newest_stable);
      item["listeners"] = main.message.listeners;
    }
    if (!subject.home.empty()) item["storedIn"] = subject.home;
    json[api ? "apis" : "records"].push_back(std::move(item));
  }
  return dump(json);
}

std::string difference_json(const Difference& difference) {
  Json json = {{"name", difference.subject->name}, {"from", difference.left}, {"to", difference.right}};
  Json& messages = json["messages"] = Json::array();
  for (const MessageDifference& message : difference.messages) {
    Json changes = Json::array();
    for (const Change& change : message.changes) {
      Json item = {{"change", change_name(change.kind)}};
      if (!change.path.empty()) item["field"] = change.path;
      item["detail"] = change.detail;
      if (!change.about.empty()) item["about"] = change.about;
      changes.push_back(std::move(item));
    }
    Json layout = Json::array();
    for (const LayoutRow& row : message.layout) {
      static constexpr std::string_view kMarks[] = {"same", "differs", "from", "to"};
      layout.push_back({{"in", kMarks[static_cast<std::size_t>(row.mark)]}, {"from", row.left}, {"to", row.right}});
    }
    messages.push_back({{"name", message.entry->message.name},
                        {"sizes", {message.left_size, message.right_size}},
                        {"changes", std::move(changes)},
                        {"layout", std::move(layout)}});
  }
  return dump(json);
}

}  // namespace thalweg::inspect
