#include "inspect/difference.h"

#include <fmt/format.h>

#include <algorithm>

namespace thalweg::inspect {

using schema::Field;
using schema::Kind;
using schema::Message;
using schema::Struct;

namespace {

struct Versions {
  int left;
  int right;
};

void compare_fields(const Message& message, const Struct& structure, Versions at, const std::string& path,
                    std::vector<Change>& changes) {
  for (const Field& field : structure.fields) {
    const bool left = field.versions.contains(at.left);
    const bool right = field.versions.contains(at.right);
    if (!left && !right) continue;
    const std::string here = path + field.name;
    const std::string type = (field.type.array ? "[]" : "") + field.type.name;
    if (left != right) {
      std::string detail = type;
      if (field.nullable.contains(right ? at.right : at.left)) detail += ", nullable";
      if (field.is_tagged()) detail += fmt::format(", tag {}", *field.tag);
      changes.push_back({right ? ChangeKind::added : ChangeKind::removed, here, std::move(detail), field.about});
      continue;
    }
    const bool left_null = field.nullable.contains(at.left);
    const bool right_null = field.nullable.contains(at.right);
    if (left_null != right_null)
      changes.push_back({right_null ? ChangeKind::nullable : ChangeKind::not_nullable, here, type, field.about});
    if (field.type.kind == Kind::structure)
      compare_fields(message, *message.find_struct(field.type.name), at, here + (field.type.array ? "[]." : "."),
                     changes);
  }
}

// Rows of two trees: a node stands beside the one of the same name under the same parent.
class SideBySide {
 public:
  std::vector<LayoutRow> rows;

  void both(const Node& left, const Node& right) {
    const bool same = head_of(left) == head_of(right) && left.size == right.size;
    rows.push_back({same ? LayoutRow::Mark::same : LayoutRow::Mark::differs, line(left, left_), line(right, right_)});
    children(left.children, right.children);
  }

 private:
  static std::string line(const Node& node, const std::vector<bool>& last) {
    return branch_of(last) + head_of(node) + " " + place_of(node);
  }
  void only(const Node& node, bool on_left) {
    for_each_node(node, on_left ? left_ : right_, [&](const Node& n, const std::vector<bool>& last) {
      if (on_left) {
        rows.push_back({LayoutRow::Mark::only_left, line(n, last), ""});
      } else {
        rows.push_back({LayoutRow::Mark::only_right, "", line(n, last)});
      }
    });
  }
  void children(const std::vector<Node>& left, const std::vector<Node>& right);

  std::vector<bool> left_;
  std::vector<bool> right_;
};

void SideBySide::children(const std::vector<Node>& left, const std::vector<Node>& right) {
  // Longest common subsequence of the names: lengths[i][j] is that of what follows i and j.
  std::vector<std::vector<std::size_t>> lengths(left.size() + 1, std::vector<std::size_t>(right.size() + 1));
  for (std::size_t i = left.size(); i-- > 0;)
    for (std::size_t j = right.size(); j-- > 0;)
      lengths[i][j] =
          left[i].name == right[j].name ? lengths[i + 1][j + 1] + 1 : std::max(lengths[i + 1][j], lengths[i][j + 1]);
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < left.size() || j < right.size()) {
    const bool pair = i < left.size() && j < right.size() && left[i].name == right[j].name;
    const bool take_left = pair || j == right.size() || (i < left.size() && lengths[i + 1][j] >= lengths[i][j + 1]);
    const bool take_right = pair || !take_left;
    left_.push_back(i + 1 >= left.size());
    right_.push_back(j + 1 >= right.size());
    if (pair) {
      both(left[i], right[j]);
    } else if (take_left) {
      only(left[i], true);
    } else {
      only(right[j], false);
    }
    left_.pop_back();
    right_.pop_back();
    i += take_left ? 1 : 0;
    j += take_right ? 1 : 0;
  }
}

}  // namespace

std::string_view change_name(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::added:
      return "added";
    case ChangeKind::removed:
      return "removed";
    case ChangeKind::nullable:
      return "made nullable";
    case ChangeKind::not_nullable:
      return "no longer nullable";
    case ChangeKind::flexible:
      return "became flexible";
    case ChangeKind::not_flexible:
      return "no longer flexible";
    case ChangeKind::header:
      return "header";
  }
  return {};
}

base::Result<Difference, std::string> compare(const Catalog& catalog, const Match& match, int left, int right) {
  Difference result{.subject = match.subject, .left = left, .right = right};
  std::optional<std::string> fault;
  for (const MessageEntry* entry : messages_of(match)) {
    auto here = version_fault(*entry, left);
    if (!here) here = version_fault(*entry, right);
    if (here) {
      if (!fault) fault = std::move(here);
      continue;
    }
    const PageMessage a = make_message(catalog, *match.subject, *entry, left);
    const PageMessage b = make_message(catalog, *match.subject, *entry, right);
    MessageDifference difference{.entry = entry, .left_size = a.bytes.size(), .right_size = b.bytes.size()};
    const bool was = entry->message.flexible.contains(left);
    const bool is = entry->message.flexible.contains(right);
    if (was != is)
      difference.changes.push_back(
          {is ? ChangeKind::flexible : ChangeKind::not_flexible, "",
           is ? "compact lengths, tagged fields behind every struct" : "fixed lengths, no tagged fields", ""});
    if (a.envelope.header_version != b.envelope.header_version)
      difference.changes.push_back(
          {ChangeKind::header, "",
           fmt::format("{} v{} to v{}", a.envelope.header->name, a.envelope.header_version, b.envelope.header_version),
           ""});
    compare_fields(entry->message, entry->message.root, {left, right}, "", difference.changes);
    SideBySide layout;
    layout.both(a.tree, b.tree);
    difference.layout = std::move(layout.rows);
    result.messages.push_back(std::move(difference));
  }
  // The key of a record keeps its version while the value goes on.
  if (result.messages.empty() || (fault && match.subject->family != Family::coordinator_record))
    return std::unexpected(fault.value_or("nothing to compare"));
  return result;
}

}  // namespace thalweg::inspect
