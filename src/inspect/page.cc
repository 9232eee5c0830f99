#include "inspect/page.h"

#include <fmt/format.h>

#include <set>

#include "base/check.h"
#include "inspect/instance.h"
#include "inspect/value_text.h"
#include "inspect/walker.h"

namespace thalweg::inspect {

using schema::MessageType;

namespace {

std::string title_of(MessageType type) {
  switch (type) {
    case MessageType::request:
      return "Request";
    case MessageType::response:
      return "Response";
    case MessageType::coordinator_key:
      return "Key";
    case MessageType::coordinator_value:
      return "Value";
    case MessageType::metadata:
      return "Record";
    default:
      return "Structure";
  }
}

std::string caption_of(const PageMessage& message) {
  const std::string name = fmt::format("{} v{}", message.entry->message.name, message.envelope.version);
  const std::string size = counted(message.bytes.size(), "byte");
  switch (message.envelope.framing) {
    case Framing::framed:
      return fmt::format("{}, {} header v{}, {} on the wire", name,
                         message.entry->message.type == MessageType::request ? "request" : "response",
                         message.envelope.header_version, size);
    case Framing::bare:
      return fmt::format("{}, {}", name, size);
    default:
      return fmt::format("{}, {} in the log", name, size);
  }
}

// What the page's bytes are the smallest instance of.
std::string_view whole_of(const Subject& subject) {
  switch (subject.family) {
    case Family::api:
      return "the request and the response";
    case Family::coordinator_record:
      return "the key and the value of the record";
    case Family::metadata_record:
      return "the record";
    case Family::data:
      return "the structure";
  }
  return {};
}

std::string introduction_of(const Page& page, bool flexible) {
  const Subject& subject = *page.subject;
  std::string text = fmt::format(
      "This page encodes the smallest legal instance of {}: numeric fields are zero, strings and byte arrays are "
      "empty, "
      "every array carries exactly one sample element, and any records field holds one empty 61-byte RecordBatch v2. ",
      whole_of(subject));
  const std::string_view of_value = subject.family == Family::coordinator_record ? " of the value" : "";
  if (flexible) {
    text += fmt::format(
        "Version {}{} is a flexible version, so every struct is terminated by a uvarint tagged-field count and strings "
        "and arrays carry compact length-plus-one prefixes.",
        page.version, of_value);
  } else {
    text += fmt::format(
        "Version {}{} is not a flexible version, so no struct has tagged fields, strings carry int16 length prefixes, "
        "and byte arrays and arrays carry int32 ones.",
        page.version, of_value);
  }
  if (page.unstable)
    text += fmt::format(
        " Version {} is unstable: it may still change, and a broker offers it only with "
        "unstable.api.versions.enable.",
        page.version);
  switch (subject.family) {
    case Family::api:
      text += " Sizes below include the leading int32 size prefix.";
      break;
    case Family::coordinator_record:
      text +=
          " Sizes below include the int16 in front: the record's type before the key, the version before the value.";
      break;
    case Family::metadata_record:
      text += " Sizes below include the three varints that the log puts in front of the record.";
      break;
    case Family::data:
      break;
  }
  return text;
}

void add_facts(Page& page, const Catalog& catalog, const MessageEntry& main) {
  const Subject& subject = *page.subject;
  const auto add = [&](std::string label, std::string key, std::string value, bool number = false) {
    page.facts.push_back({std::move(label), std::move(key), std::move(value), number});
  };
  const auto versions = [](const MessageEntry& entry) { return entry.message.versions.str(); };
  const bool api = subject.family == Family::api;
  // Request and response go along; the key of a record keeps its own version.
  const auto size = [&](const MessageEntry& entry) {
    const int version = api || &entry == &main ? page.version : entry.newest_stable;
    return smallest_instance(catalog.envelope(entry, version)).size();
  };
  if (api) add("API key", "apiKey", std::to_string(*subject.key), true);
  if (!api && subject.key) add("record type", "recordType", std::to_string(*subject.key), true);
  if (!subject.home.empty()) add("stored in", "storedIn", subject.home);
  add("encoded at", "encodedAt", std::to_string(page.version), true);
  add("flexible versions", "flexibleVersions", main.message.flexible.str());
  if (api) {
    const auto header = [&](const MessageEntry& entry) { return catalog.envelope(entry, page.version).header_version; };
    add("headers", "headers", fmt::format("req v{}, resp v{}", header(*subject.first), header(*subject.second)));
  }
  const std::string first = api ? "request" : "key";
  const std::string second = api ? "response" : "value";
  if (subject.second == nullptr) {
    add("versions", "versions", versions(*subject.first));
    add("size", "size", std::to_string(size(*subject.first)), true);
  } else {
    add(first + " versions", first + "Versions", versions(*subject.first));
    add(second + " versions", second + "Versions", versions(*subject.second));
    add(first + " size", first + "Size", std::to_string(size(*subject.first)), true);
    add(second + " size", second + "Size", std::to_string(size(*subject.second)), true);
  }
}

// Of an API all colours that frames can have; of what is no frame those that it has.
std::vector<Part> colours_of(const Page& page) {
  if (page.subject->family == Family::api)
    return {Part::frame,  Part::rpc_header,    Part::request_body, Part::record_batch,
            Part::record, Part::response_body, Part::tagged_fields};
  std::set<Part> found;
  for (const PageMessage& message : page.messages)
    for (const Part part : parts_of(message.tree, message.bytes.size())) found.insert(part);
  return {found.begin(), found.end()};
}

}  // namespace

std::vector<const MessageEntry*> messages_of(const Match& match) {
  std::vector<const MessageEntry*> entries;
  if (match.side != Side::second && match.subject->first != nullptr) entries.push_back(match.subject->first);
  if (match.side != Side::first && match.subject->second != nullptr) entries.push_back(match.subject->second);
  return entries;
}

PageMessage make_message(const Catalog& catalog, const Subject& subject, const MessageEntry& entry, int version) {
  PageMessage message;
  message.entry = &entry;
  message.envelope = catalog.envelope(entry, version);
  message.title = title_of(entry.message.type);
  if (subject.family == Family::data && entry.message.type == MessageType::header) message.title = "Header";
  message.bytes = smallest_instance(message.envelope);
  message.body_size = smallest_instance(message.envelope.body()).size();
  message.header_size = message.bytes.size() - message.body_size -
                        (message.envelope.framing == Framing::framed ? sizeof(std::int32_t) : 0);
  Walk read = walk(message.envelope, message.bytes, {.sample = true});
  CHECK(!read.fault && read.rest == 0, "an instance made here can be read whole");
  message.tree = std::move(read.root);
  message.caption = caption_of(message);
  return message;
}

base::Result<Page, std::string> make_page(const Catalog& catalog, const PageRequest& request) {
  const std::vector<const MessageEntry*> entries = messages_of(request.match);
  // The versions of a record with key and value are those of its value.
  const MessageEntry& main =
      request.match.subject->family == Family::coordinator_record ? *entries.back() : *entries.front();
  Page page;
  page.subject = request.match.subject;
  page.version = request.version.value_or(main.newest_stable);
  for (const MessageEntry* entry : entries) {
    if (entry != &main && page.subject->family != Family::api) continue;
    if (auto fault = version_fault(*entry, page.version)) return std::unexpected(std::move(*fault));
  }
  page.unstable = page.version > main.newest_stable;
  page.introduction = introduction_of(page, main.message.flexible.contains(page.version));
  add_facts(page, catalog, main);
  for (const MessageEntry* entry : entries) {
    const bool along = entry == &main || page.subject->family == Family::api;
    page.messages.push_back(make_message(catalog, *page.subject, *entry, along ? page.version : entry->newest_stable));
  }
  page.colours = colours_of(page);
  return page;
}

std::string hex_rows(const base::Bytes& bytes) {
  constexpr std::size_t kPerRow = 16;
  std::string text;
  for (std::size_t row = 0; row < bytes.size(); row += kPerRow) {
    text += fmt::format("{:04x} ", row);
    for (std::size_t i = row; i < std::min(row + kPerRow, bytes.size()); ++i) text += fmt::format(" {:02x}", bytes[i]);
    text += '\n';
  }
  return text;
}

}  // namespace thalweg::inspect
