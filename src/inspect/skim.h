// The skim: goes along a message whose bytes come piece by piece, keeps none of them, and notes the error codes on its
// way. It takes and refuses what the walker does, without making a tree.
//
// A message in a version is compiled once into a program: what to skip, where a length stands, where an array repeats,
// which int16 is an error code. The state of a run is small and can be copied, so a run may be tried out.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "schema/message.h"

namespace thalweg::inspect {

// Error codes other than 0 and how often each stood in a message.
struct ErrorCount {
  std::int16_t code = 0;
  bool top_level = false;  // in the message itself, not in an element of it
  std::uint32_t count = 0;
  friend bool operator==(const ErrorCount&, const ErrorCount&) = default;
};

class SkimProgram {
 public:
  // `header_tags`: the body has the tagged fields of a flexible header in front.
  SkimProgram(const schema::Message& message, int version, bool header_tags);

  enum class Code : std::uint8_t {
    skip,        // `operand` bytes
    note,        // an int16, see Note in `operand`
    text,        // length of a string, then that many bytes
    blob,        // length of bytes or records, then that many
    array,       // count; the body follows, `operand` is the place behind its `next`
    next,        // the end of an array's element
    marker,      // int8; below zero: on at `operand`
    tag_marker,  // the same of a tagged field: a varint, null unless above zero
    tags,        // count of tagged fields; `operand` is their table
    tag_end,     // the end of a tagged field's value
    finish
  };
  enum class Note : std::uint8_t { nested_error, top_error, acks };
  struct Op {
    Code code = Code::finish;
    bool flexible = false;
    bool null_allowed = false;
    std::uint32_t operand = 0;
    std::uint32_t element_size = 0;  // of an array whose elements all have this size, else 0
  };
  struct Tag {
    std::uint32_t tag = 0;
    bool in_version = false;
    std::uint32_t start = 0;
  };

 private:
  friend class Skim;
  class Compiler;

  std::vector<Op> ops_;
  std::vector<std::vector<Tag>> tags_;
};

class Skim {
 public:
  // Arrays and tagged fields inside one another.
  static constexpr std::size_t kMaxDepth = 16;

  // Starts on a message of `size` bytes; `program` must outlive the run.
  void start(const SkimProgram& program, std::uint64_t size);
  // Reads the next bytes, of which there must be no more than left(). Stops at a fault.
  void feed(std::span<const std::uint8_t> bytes);
  // The next `count` bytes are lost; no more than left(). Where they are only skipped, reading goes on behind them;
  // else nothing more is noted, and damaged() tells.
  void lose(std::uint64_t count);

  [[nodiscard]] std::uint64_t left() const { return left_; }
  // What breaks the schema, or null. Bytes left over are none; who minds them asks rest().
  [[nodiscard]] const char* fault() const { return fault_; }
  // Bytes behind the message once it was read whole.
  [[nodiscard]] std::uint64_t rest() const { return rest_; }
  [[nodiscard]] bool damaged() const { return damaged_; }
  // In the order in which they came first. A message has a few; from the table's end on the last one counts for all.
  [[nodiscard]] std::span<const ErrorCount> errors() const { return {errors_.data(), error_kinds_}; }
  [[nodiscard]] bool saw_acks() const { return saw_acks_; }
  [[nodiscard]] std::int16_t acks() const { return acks_; }

 private:
  struct Level {
    std::uint32_t place = 0;  // of the array's body or of the tags op
    std::uint32_t left = 0;
  };
  static constexpr std::size_t kMaxErrors = 16;

  struct Input {
    const std::uint8_t* at;
    const std::uint8_t* end;
  };
  void run(Input& in);
  bool step(Input& in, const SkimProgram::Op& op);
  bool skip(Input& in, std::uint64_t count, const char* reason);
  bool fixed(Input& in, std::size_t size, std::uint64_t& value);
  bool uvarint(Input& in, std::uint32_t& value);
  bool length(Input& in, const SkimProgram::Op& op, bool text, std::int64_t& value);
  bool begin_array(Input& in, const SkimProgram::Op& op);
  bool begin_tag(Input& in, const SkimProgram::Op& op);
  void push(std::uint32_t place, std::uint32_t count) { levels_[depth_++] = {place, count}; }
  void note(SkimProgram::Note kind, std::int16_t value);
  bool fail(const char* reason);
  [[nodiscard]] std::uint64_t remaining(const Input& in) const {
    return left_ - static_cast<std::uint64_t>(in.at - begin_);
  }

  const SkimProgram* program_ = nullptr;
  const std::uint8_t* begin_ = nullptr;  // of the bytes being fed
  std::uint64_t left_ = 0;
  std::uint64_t skip_ = 0;
  std::uint64_t rest_ = 0;
  const char* fault_ = nullptr;
  std::uint32_t place_ = 0;
  std::uint32_t tag_ = 0;
  std::uint8_t depth_ = 0;
  std::uint8_t partial_size_ = 0;
  std::uint8_t error_kinds_ = 0;
  // Within a tagged field: 0 the tag comes, 1 its size.
  std::uint8_t tag_part_ = 0;
  bool counted_ = false;  // the count of the tagged fields at `place_` has been read
  bool damaged_ = false;
  bool finished_ = false;
  bool saw_acks_ = false;
  std::int16_t acks_ = 0;
  std::array<std::uint8_t, 8> partial_{};  // a number that the pieces cut
  std::array<Level, kMaxDepth> levels_{};
  std::array<ErrorCount, kMaxErrors> errors_{};
};

// The programs of messages, each compiled when it is first asked for.
class SkimPrograms {
 public:
  const SkimProgram& of(const schema::Message& message, int version, bool header_tags);

 private:
  struct Key {
    const schema::Message* message;
    int version;
    bool header_tags;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  std::map<Key, std::unique_ptr<const SkimProgram>> programs_;
};

}  // namespace thalweg::inspect
