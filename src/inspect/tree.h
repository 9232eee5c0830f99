// The tree of a message: one node for each thing that stands in its bytes, with where it stands and what it means.
//
// A node covers [offset, offset + size) of the bytes that were read; children lie inside their parent, in order, and
// the leaves below a node cover it without a gap. What was found inside a value (a message in a bytes field, records
// behind a compression) is beside the children, and need not cover anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "schema/message.h"

namespace thalweg::inspect {

// What a byte belongs to: its colour.
enum class Part : std::uint8_t {
  frame,
  rpc_header,
  request_body,
  record_batch,
  record,
  response_body,
  message_body,  // of what is neither request nor response: a record of a log, a data structure
  tagged_fields
};
inline constexpr std::size_t kPartCount = 8;
// As the key of the colours names it.
std::string_view part_name(Part part);

// What a node is, for code that goes on from a tree: opens embedded messages, hides secrets, prints values.
enum class NodeKind : std::uint8_t {
  group,         // message, frame, header, batch: holds others, has no value
  structure,     // a structure that stands there
  array,         // first child is its length
  length,        // of an array or of records
  scalar,        // one value; the last `content_size` bytes are the value itself
  records,       // first child is its length
  marker,        // tells whether a structure is there or null
  tagged_count,  // number of tagged fields that follow
  tagged_field,  // tag, size, then the value; the last child has no schema where the tag is unknown
};

struct Node {
  std::string name;
  std::string type;
  std::string value;     // as text, without its encoding; empty: it has none
  std::string encoding;  // how the value is written, or what it stands for; shown in brackets
  std::string about;     // whole; line() cuts it
  std::size_t offset = 0;
  std::size_t size = 0;
  std::size_t content_size = 0;
  NodeKind kind = NodeKind::group;
  Part part = Part::frame;
  bool null = false;
  // Nobody should see the value, or the bytes.
  bool secret = false;
  // What was opened was read from its first byte to its last.
  bool opened_whole = false;
  // The offsets here and below count in bytes that came out of a compression, not in those that were read.
  bool unpacked = false;
  // What the schema says, or null for what no schema describes. Lives as long as the message's schema.
  const schema::Field* field = nullptr;
  std::vector<Node> children;
  std::vector<Node> opened;
};

// Every node of the tree, itself included.
std::size_t count_nodes(const Node& node);

// Whether the children of each node follow one another inside it and cover it whole; so too in what was opened.
bool covers(const Node& node);
// Moves a tree that was made of a part of some bytes to where that part begins in them; `unpacked` as of these bytes.
// What came out of a compression inside the part stays where it is.
void place_at(Node& node, std::size_t begin, bool unpacked);

// The part of each byte of [0, size): that of the leaf it lies in.
std::vector<Part> parts_of(const Node& root, std::size_t size);

// NAME TYPE = VALUE (ENCODING): what a line says in front of the bracket.
std::string head_of(const Node& node);
// [0xOFFSET, SIZEB], or [unpacked 0xOFFSET, SIZEB].
std::string place_of(const Node& node);
// A description as a line has it: longer ones are cut.
std::string shorten(std::string_view about);
// The branch in front of a line: four columns a level. `last` tells for each level from the top whether its node is the
// last child; empty for the root.
std::string branch_of(const std::vector<bool>& last);

// Calls visit(node, last) with every node from the top, `last` as branch_of() takes it. What was opened comes behind
// the children.
template <class Visit>
void for_each_node(const Node& node, std::vector<bool>& last, const Visit& visit) {
  visit(node, last);
  const std::size_t count = node.children.size() + node.opened.size();
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t opened = i - node.children.size();
    last.push_back(i + 1 == count);
    for_each_node(i < node.children.size() ? node.children[i] : node.opened[opened], last, visit);
    last.pop_back();
  }
}
template <class Visit>
void for_each_node(const Node& root, const Visit& visit) {
  std::vector<bool> last;
  for_each_node(root, last, visit);
}

// The whole tree, a line for each node.
std::string tree_text(const Node& root);

}  // namespace thalweg::inspect
