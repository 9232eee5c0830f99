// The skim against the walker, on all the bytes that the Java reference wrote, and on those that it refuses.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "inspect/catalog.h"
#include "inspect/skim.h"
#include "inspect/walker.h"
#include "vectors/vector_file.h"

namespace thalweg::inspect {
namespace {

using base::Bytes;
using protocol::for_each_line;
using protocol::from_hex;
using protocol::Json;

// What a run over a message finds, in a form that both ways can give.
struct Found {
  bool fault = false;
  std::uint64_t rest = 0;
  std::vector<ErrorCount> errors;
  friend bool operator==(const Found&, const Found&) = default;
};

std::ostream& operator<<(std::ostream& out, const Found& found) {
  out << (found.fault ? "a fault" : "no fault") << ", rest " << found.rest << ", errors";
  for (const ErrorCount& error : found.errors)
    out << ' ' << error.code << (error.top_level ? " top" : "") << " x" << error.count;
  return out;
}

void add_errors(const Node& node, std::size_t depth, std::vector<ErrorCount>& into) {
  if (node.field != nullptr && node.kind == NodeKind::scalar && node.type == "int16" &&
      node.field->name.ends_with("ErrorCode") && !node.value.empty() && node.value != "0") {
    // Below the message and its body.
    const auto code = static_cast<std::int16_t>(std::stoi(node.value));
    const bool top = depth == 2;
    const auto same = [&](const ErrorCount& e) { return e.code == code && e.top_level == top; };
    const auto it = std::ranges::find_if(into, same);
    if (it == into.end()) {
      into.push_back({.code = code, .top_level = top, .count = 1});
    } else {
      ++it->count;
    }
  }
  for (const Node& child : node.children) add_errors(child, depth + 1, into);
}

Found walked(const schema::Message& message, int version, const Bytes& bytes) {
  const Walk walk = inspect::walk({.message = &message, .version = version}, bytes);
  Found found{.fault = walk.fault.has_value(), .rest = walk.fault ? 0 : walk.rest};
  if (!found.fault) add_errors(walk.root, 0, found.errors);
  return found;
}

// In pieces that end at each of `cuts`.
Found skimmed(const SkimProgram& program, const Bytes& bytes, const std::vector<std::size_t>& cuts) {
  Skim skim;
  skim.start(program, bytes.size());
  std::size_t at = 0;
  for (const std::size_t cut : cuts) {
    skim.feed(bytes.slice(at, cut - at).span());
    at = cut;
  }
  skim.feed(bytes.slice(at).span());
  EXPECT_EQ(skim.left(), 0U);
  EXPECT_FALSE(skim.damaged());
  Found found{.fault = skim.fault() != nullptr, .rest = skim.fault() != nullptr ? 0 : skim.rest()};
  if (!found.fault) found.errors.assign(skim.errors().begin(), skim.errors().end());
  return found;
}

void compare(SkimPrograms& programs, const Json& line) {
  SCOPED_TRACE(line["message"].get<std::string>() + " v" + line["version"].dump() + " " +
               line["hex"].get<std::string>());
  const schema::Message& message = Catalog::built_in().find(line["message"].get<std::string>())->message;
  const int version = line["version"].get<int>();
  const Bytes bytes = from_hex(line["hex"].get<std::string>());
  const SkimProgram& program = programs.of(message, version, false);
  const Found expected = walked(message, version, bytes);
  ASSERT_EQ(skimmed(program, bytes, {}), expected);
  std::vector<std::size_t> each_byte(bytes.size());
  for (std::size_t i = 0; i < each_byte.size(); ++i) each_byte[i] = i;
  ASSERT_EQ(skimmed(program, bytes, each_byte), expected);
  // In two pieces, in long messages not at every place.
  const std::size_t stride = 1 + bytes.size() / 25;
  for (std::size_t cut = 1; cut < bytes.size(); cut += stride) ASSERT_EQ(skimmed(program, bytes, {cut}), expected);
}

TEST(Skim, FindsInEveryReferenceMessageWhatTheWalkerFinds) {
  SkimPrograms programs;
  int lines = 0;
  for (const char* file :
       {"requests.jsonl.gz", "responses.jsonl.gz", "data.jsonl.gz", "internal.jsonl.gz", "MetadataRequest.v14.jsonl"}) {
    for_each_line(file, [&](const Json& line) {
      ++lines;
      compare(programs, line);
    });
  }
  EXPECT_EQ(lines, 2591 + 2629 + 194 + 923 + 6);
}

TEST(Skim, RefusesWhatTheReferenceRefuses) {
  SkimPrograms programs;
  int lines = 0;
  for_each_line("mutations.jsonl.gz", [&](const Json& line) {
    ++lines;
    compare(programs, line);
  });
  EXPECT_EQ(lines, 2519);
}

}  // namespace
}  // namespace thalweg::inspect
