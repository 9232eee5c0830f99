#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "inspect/print.h"
#include "inspect/value_text.h"

namespace thalweg::inspect {

namespace {

constexpr std::size_t kWidth = 100;

// Writes with or without the escape sequences of a terminal.
class Ink {
 public:
  explicit Ink(const TextOptions& options) : colour_(options.colour) {}

  [[nodiscard]] std::string part(Part part, std::string_view text) const {
    static constexpr std::string_view kCodes[kPartCount] = {"90", "34", "32", "35", "33", "36", "32", "31"};
    return put(kCodes[static_cast<std::size_t>(part)], text);
  }
  [[nodiscard]] std::string bold(std::string_view text) const { return put("1", text); }
  [[nodiscard]] std::string faint(std::string_view text) const { return put("2", text); }
  [[nodiscard]] std::string added(std::string_view text) const { return put("32", text); }
  [[nodiscard]] std::string removed(std::string_view text) const { return put("31", text); }
  [[nodiscard]] std::string changed(std::string_view text) const { return put("33", text); }

 private:
  [[nodiscard]] std::string put(std::string_view code, std::string_view text) const {
    return colour_ && !text.empty() ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : std::string(text);
  }
  bool colour_;
};

// The words in lines of at most kWidth characters.
std::string wrapped(std::string_view text) {
  std::string result;
  std::size_t column = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    if (column > 0 && column + 1 + word.size() > kWidth) {
      result += '\n';
      column = 0;
    } else if (column > 0) {
      result += ' ';
      ++column;
    }
    result += word;
    column += word.size();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return result + "\n";
}

std::string rows(const PageMessage& message, const Ink& ink, bool columns) {
  std::string text;
  if (columns) {
    text += "    ";
    for (int i = 0; i < 16; ++i) text += fmt::format("  {:X}", i);
    text += '\n';
  }
  const std::string plain = hex_rows(message.bytes);
  const std::vector<Part> parts = parts_of(message.tree, message.bytes.size());
  // Each line is four digits and a space, then a space and two digits a byte.
  std::size_t byte = 0;
  for (std::size_t at = 0; at < plain.size();) {
    const std::size_t end = plain.find('\n', at);
    text += ink.faint(plain.substr(at, 4)) + " ";
    for (std::size_t i = at + 5; i < end; i += 3) text += " " + ink.part(parts[byte++], plain.substr(i + 1, 2));
    text += '\n';
    at = end + 1;
  }
  return text;
}

std::string tree(const Node& root, const Ink& ink) {
  std::string text;
  for_each_node(root, [&](const Node& node, const std::vector<bool>& last) {
    const std::string head = head_of(node);
    text += ink.faint(branch_of(last));
    text += ink.part(node.part, node.name) + head.substr(node.name.size()) + " " + ink.faint(place_of(node));
    if (!node.about.empty()) text += " " + shorten(node.about);
    text += '\n';
  });
  return text;
}

std::string table(const std::vector<std::vector<std::string>>& lines, const Ink& ink) {
  std::vector<std::size_t> widths;
  for (const auto& line : lines) {
    widths.resize(std::max(widths.size(), line.size()));
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    std::string row;
    for (std::size_t i = 0; i < line.size(); ++i) row += fmt::format("{:{}}  ", line[i], widths[i]);
    row.erase(row.find_last_not_of(' ') + 1);
    text += &line == &lines.front() ? ink.bold(row) : row;
    text += '\n';
  }
  return text;
}

// The node that the byte lies in, or null.
const Node* leaf_at(const Node& node, std::size_t offset) {
  if (offset < node.offset || offset >= node.offset + node.size) return nullptr;
  for (const Node& child : node.children)
    if (const Node* leaf = leaf_at(child, offset)) return leaf;
  return node.children.empty() ? &node : nullptr;
}

// What stands where the fault is.
std::string found_at(const Decoded& decoded, const base::Bytes& bytes) {
  constexpr std::size_t kShown = 16;
  const std::size_t at = decoded.fault->offset;
  if (at >= bytes.size()) return "the end of the bytes";
  std::string text;
  for (std::size_t i = at; i < std::min(at + kShown, bytes.size()); ++i)
    text += may_show(decoded, leaf_at(decoded.tree, i)) ? fmt::format("{:02x} ", bytes[i]) : "** ";
  if (bytes.size() - at > kShown) return fmt::format("{}... {} to the end", text, counted(bytes.size() - at, "byte"));
  return text + "and the end";
}

}  // namespace

std::string decoded_caption(const Decoded& decoded) {
  const Envelope& envelope = decoded.envelope;
  if (envelope.message == nullptr) return fmt::format("Record batches, {}", counted(decoded.tree.size, "byte"));
  std::string caption = fmt::format("{} v{}", envelope.message->name, envelope.version);
  if (envelope.framing == Framing::framed)
    caption +=
        fmt::format(", {} header v{}", envelope.message->type == schema::MessageType::request ? "request" : "response",
                    envelope.header_version);
  return caption + ", " + counted(decoded.tree.size, "byte");
}

std::vector<std::pair<std::string, std::string>> fault_facts(const Decoded& decoded, const base::Bytes& bytes) {
  if (!decoded.fault) return {};
  return {{"field", decoded.fault->path},
          {"offset", fmt::format("{0} ({0:#06x})", decoded.fault->offset)},
          {"expected", decoded.fault->type},
          {"found", found_at(decoded, bytes)},
          {"fault", decoded.fault->reason}};
}

std::string decoded_text(const Decoded& decoded, const base::Bytes& bytes, const TextOptions& options) {
  const Ink ink(options);
  std::string text = ink.bold(decoded_caption(decoded)) + "\n\n" + tree(decoded.tree, ink);
  if (decoded.fault) {
    text += "\n" + ink.removed("These bytes do not parse.") + "\n";
    for (const auto& [label, value] : fault_facts(decoded, bytes)) text += fmt::format("{:<10} {}\n", label, value);
  } else if (decoded.rest > 0) {
    text += fmt::format("\n{} behind the message that nothing has read\n", counted(decoded.rest, "byte"));
  }
  if (decoded.secrets && decoded.hidden) text += "\nsecrets are hidden; --show-secrets shows them\n";
  return text;
}

std::string page_text(const Page& page, const TextOptions& options) {
  const Ink ink(options);
  std::string text = ink.bold(page.subject->name) + "\n\n";
  for (const Fact& fact : page.facts) {
    std::string value = fact.value;
    if (fact.key == "encodedAt") value = fmt::format("v{}{}", value, page.unstable ? ", unstable" : "");
    if (fact.key.ends_with("ize")) value += " bytes";
    text += fmt::format("{:<18} {}\n", fact.label, value);
  }
  text += "\n" + wrapped(page.introduction) + "\ncolours: ";
  for (const Part part : page.colours)
    text += (part == page.colours.front() ? "" : ", ") + ink.part(part, part_name(part));
  text += '\n';
  for (const PageMessage& message : page.messages) {
    text += fmt::format("\n{}\n\n{}\n\n", ink.bold(message.title), message.caption);
    text += fmt::format("{} ({} bytes, 16 bytes per row)\n\n{}\n", ink.bold("byte layout"), message.bytes.size(),
                        rows(message, ink, true));
    text += ink.bold("object tree") + "\n\n" + tree(message.tree, ink) + "\n";
    text += ink.bold("schema") + "\n\n" + std::string(message.entry->file.text);
  }
  return text;
}

std::string page_bytes(const Page& page, const TextOptions& options) {
  const Ink ink(options);
  std::string text;
  for (const PageMessage& message : page.messages) {
    if (page.messages.size() > 1) text += fmt::format("{}# {}\n", text.empty() ? "" : "\n", message.caption);
    text += rows(message, ink, false);
  }
  return text;
}

std::string page_schemas(const Page& page) {
  std::string text;
  for (const PageMessage& message : page.messages) {
    if (page.messages.size() > 1) text += fmt::format("{}// {}\n", text.empty() ? "" : "\n", message.entry->file.path);
    text += message.entry->file.text;
  }
  return text;
}

std::string list_text(const Catalog& catalog, const TextOptions& options) {
  const Ink ink(options);
  std::vector<std::vector<std::string>> apis = {
      {"key", "API", "request", "response", "flexible", "newest stable", "listeners"}};
  std::vector<std::vector<std::string>> records = {
      {"type", "record or structure", "versions", "flexible", "stored in"}};
  for (const Subject& subject : catalog.subjects()) {
    const schema::Message& first = subject.first->message;
    const std::string key = subject.key ? std::to_string(*subject.key) : "";
    if (subject.family == Family::api) {
      const bool removed = first.versions.empty();
      apis.push_back({key, subject.name, first.versions.str(), subject.second->message.versions.str(),
                      removed ? "" : first.flexible.str(),
                      removed ? "removed" : std::to_string(subject.first->newest_stable),
                      fmt::format("{}", fmt::join(first.listeners, ", "))});
    } else {
      const schema::Message& main = (subject.second != nullptr ? subject.second : subject.first)->message;
      records.push_back({key, subject.name, main.versions.str(), main.flexible.str(), subject.home});
    }
  }
  return table(apis, ink) + "\n" + table(records, ink);
}

std::string difference_text(const Difference& difference, const TextOptions& options) {
  const Ink ink(options);
  std::string text = fmt::format(
      "{}\n", ink.bold(fmt::format("{} v{} to v{}", difference.subject->name, difference.left, difference.right)));
  for (const MessageDifference& message : difference.messages) {
    text += fmt::format("\n{}\n\n", ink.bold(fmt::format("{}, {} to {} bytes", message.entry->message.name,
                                                         message.left_size, message.right_size)));
    if (message.changes.empty()) text += "no field changed\n";
    for (const Change& change : message.changes) {
      std::string line = std::string(change_name(change.kind));
      if (change.kind == ChangeKind::added) line = ink.added(line);
      if (change.kind == ChangeKind::removed) line = ink.removed(line);
      line += change.path.empty() ? ": " : " " + change.path + " ";
      text += line + change.detail + (change.about.empty() ? "" : "  " + shorten(change.about)) + "\n";
    }
    std::size_t width = 0;
    for (const LayoutRow& row : message.layout) width = std::max(width, row.left.size());
    text += '\n';
    for (const LayoutRow& row : message.layout) {
      const std::string left = fmt::format("{:{}}", row.left, width);
      switch (row.mark) {
        case LayoutRow::Mark::same:
          text += left + "   " + row.right;
          break;
        case LayoutRow::Mark::differs:
          text += ink.changed(left) + " ~ " + ink.changed(row.right);
          break;
        case LayoutRow::Mark::only_left:
          text += ink.removed(left) + " <";
          break;
        case LayoutRow::Mark::only_right:
          text += left + " > " + ink.added(row.right);
          break;
      }
      text += '\n';
    }
  }
  return text;
}

}  // namespace thalweg::inspect
