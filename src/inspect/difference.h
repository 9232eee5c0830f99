// What changed between two versions of a message.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "inspect/catalog.h"
#include "inspect/page.h"

namespace thalweg::inspect {

enum class ChangeKind : std::uint8_t { added, removed, nullable, not_nullable, flexible, not_flexible, header };
// "added", "made nullable" and so on.
std::string_view change_name(ChangeKind kind);

struct Change {
  ChangeKind kind = ChangeKind::added;
  std::string path;    // of the field, such as Topics[].TopicId; empty where the whole message changed
  std::string detail;  // the field's type, or what the change means
  std::string about;
};

// One row of two trees side by side; a side is empty where the other version alone has the node.
struct LayoutRow {
  enum class Mark : std::uint8_t { same, differs, only_left, only_right };
  Mark mark = Mark::same;
  std::string left;
  std::string right;
};

struct MessageDifference {
  const MessageEntry* entry = nullptr;
  std::size_t left_size = 0;  // bytes of the smallest instance
  std::size_t right_size = 0;
  std::vector<Change> changes;
  std::vector<LayoutRow> layout;
};

struct Difference {
  const Subject* subject = nullptr;
  int left = 0;
  int right = 0;
  std::vector<MessageDifference> messages;
};

// The error is one line: a version that none of the messages has.
base::Result<Difference, std::string> compare(const Catalog& catalog, const Match& match, int left, int right);

}  // namespace thalweg::inspect
