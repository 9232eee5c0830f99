#include "inspect/tree.h"

#include <fmt/format.h>

#include <algorithm>

namespace thalweg::inspect {

namespace {

void mark(const Node& node, std::vector<Part>& parts) {
  if (node.children.empty()) {
    const std::size_t end = std::min(node.offset + node.size, parts.size());
    for (std::size_t i = node.offset; i < end; ++i) parts[i] = node.part;
  }
  for (const Node& child : node.children) mark(child, parts);
}

}  // namespace

std::string_view part_name(Part part) {
  static constexpr std::string_view kNames[kPartCount] = {"frame",  "rpc header",    "request body", "RecordBatch",
                                                          "Record", "response body", "message body", "tagged_fields"};
  return kNames[static_cast<std::size_t>(part)];
}

std::size_t count_nodes(const Node& node) {
  std::size_t count = 1;
  for (const Node& child : node.children) count += count_nodes(child);
  for (const Node& inside : node.opened) count += count_nodes(inside);
  return count;
}

bool covers(const Node& node) {
  std::size_t at = node.offset;
  for (const Node& child : node.children) {
    if (child.offset != at || !covers(child)) return false;
    at += child.size;
  }
  if (!std::ranges::all_of(node.opened, covers)) return false;
  return node.children.empty() || at == node.offset + node.size;
}

void place_at(Node& node, std::size_t begin, bool unpacked) {
  if (node.unpacked) return;
  node.offset += begin;
  node.unpacked = unpacked;
  for (Node& child : node.children) place_at(child, begin, unpacked);
  for (Node& inside : node.opened) place_at(inside, begin, unpacked);
}

std::vector<Part> parts_of(const Node& root, std::size_t size) {
  std::vector<Part> parts(size, root.part);
  mark(root, parts);
  return parts;
}

std::string head_of(const Node& node) {
  std::string text = node.name;
  if (!node.type.empty()) text.append(" ").append(node.type);
  if (!node.value.empty()) text.append(" = ").append(node.value);
  if (!node.encoding.empty()) text.append(" (").append(node.encoding).append(")");
  return text;
}

std::string place_of(const Node& node) {
  return fmt::format("[{}{:#06x}, {}B]", node.unpacked ? "unpacked " : "", node.offset, node.size);
}

std::string shorten(std::string_view about) {
  constexpr std::size_t kLongest = 78;
  constexpr std::size_t kKept = 75;
  if (about.size() <= kLongest) return std::string(about);
  std::size_t end = kKept;
  // Not inside a character of UTF-8.
  while (end > 0 && (static_cast<unsigned char>(about[end]) & 0xc0) == 0x80) --end;
  return std::string(about.substr(0, end)) + "...";
}

std::string branch_of(const std::vector<bool>& last) {
  std::string text;
  for (std::size_t level = 0; level < last.size(); ++level) {
    if (level + 1 == last.size()) {
      text += "+-- ";
    } else {
      text += last[level] ? "    " : "|   ";
    }
  }
  return text;
}

std::string tree_text(const Node& root) {
  std::string text;
  for_each_node(root, [&text](const Node& node, const std::vector<bool>& last) {
    text.append(branch_of(last)).append(head_of(node)).append(" ").append(place_of(node));
    if (!node.about.empty()) text.append(" ").append(shorten(node.about));
    text += '\n';
  });
  return text;
}

}  // namespace thalweg::inspect
