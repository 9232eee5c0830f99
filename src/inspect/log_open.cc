#include "inspect/log_open.h"

#include <fmt/format.h>

#include "inspect/control_records.h"
#include "inspect/decode.h"
#include "inspect/embedded.h"
#include "inspect/walker.h"

namespace thalweg::inspect {

using base::Bytes;

namespace {

bool holds(const Node& node, const Bytes& bytes, std::string_view text) {
  if (node.kind == NodeKind::scalar && node.field != nullptr && node.field->type.kind == schema::Kind::string &&
      !node.null && node.content_size == text.size() &&
      bytes.slice(node.offset + node.size - node.content_size, node.content_size).view() == text)
    return true;
  for (const Node& child : node.children)
    if (holds(child, bytes, text)) return true;
  return false;
}

// What a reader of one line can do without: how values are written.
bool is_form(const Node& node) {
  return node.kind == NodeKind::length || node.kind == NodeKind::marker || node.kind == NodeKind::tagged_count;
}

void append_compact(std::string& text, const Node& node) {
  const bool array = node.kind == NodeKind::array;
  if (node.null || (node.children.empty() && node.kind != NodeKind::structure)) {
    text += node.null ? "null" : node.value;
    return;
  }
  // A tagged field is its value: tag and size stand in front of it.
  if (node.kind == NodeKind::tagged_field) return append_compact(text, node.children.back());
  text += array ? '[' : '{';
  bool first = true;
  for (const Node& child : node.children) {
    if (is_form(child)) continue;
    if (!first) text += ", ";
    first = false;
    if (!array) text.append(child.name).append(": ");
    append_compact(text, child);
  }
  text += array ? ']' : '}';
}

}  // namespace

OpenedRecord open_record(const Catalog& catalog, std::string_view topic, bool control, const protocol::Record& record) {
  OpenedRecord opened;
  const RecordMessages found =
      find_record_messages(catalog, {.topic = topic, .control = control, .key = record.key, .value = record.value});
  if (found.value) opened.value = OpenedMessage{.envelope = *found.value, .bytes = Bytes::unowned(*record.value)};
  if (!control) {
    if (found.key) opened.key = OpenedMessage{.envelope = *found.key, .bytes = Bytes::unowned(*record.key)};
    return opened;
  }
  // The key of a control record is its kind and nothing else.
  const auto type = protocol::control_type(record);
  const ControlKind* kind = type ? find_control(*type) : nullptr;
  if (kind != nullptr) opened.control = kind->name;
  return opened;
}

std::optional<std::string> opened_json(const OpenedMessage& message) {
  MessageJson result = decode_json(message.envelope, message.bytes);
  if (!result.whole || result.rest != 0) return std::nullopt;
  return std::move(result.json);
}

std::optional<std::string> opened_text(const Catalog& catalog, const OpenedMessage& message, bool show_secrets) {
  const Decoded decoded = decode(catalog, message.envelope, message.bytes, {.show_secrets = show_secrets});
  if (decoded.fault || decoded.rest != 0 || decoded.tree.children.empty()) return std::nullopt;
  return fmt::format("{} v{} {}", message.envelope.message->name, message.envelope.version,
                     compact_text(decoded.tree.children.back()));
}

bool holds_text(const OpenedMessage& message, std::string_view text) {
  const Walk read = walk(message.envelope, message.bytes);
  return !read.fault && holds(read.root, message.bytes, text);
}

std::string compact_text(const Node& node) {
  std::string text;
  append_compact(text, node);
  return text;
}

}  // namespace thalweg::inspect
