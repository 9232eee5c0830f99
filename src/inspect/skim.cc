#include "inspect/skim.h"

#include <algorithm>

#include "base/check.h"
#include "base/endian.h"
#include "base/varint.h"
#include "protocol/wire.h"

namespace thalweg::inspect {

using schema::Field;
using schema::Kind;
using schema::Message;
using schema::Struct;

namespace {

std::uint32_t fixed_size(Kind kind) {
  switch (kind) {
    case Kind::boolean:
    case Kind::int8:
      return 1;
    case Kind::int16:
    case Kind::uint16:
      return 2;
    case Kind::int32:
    case Kind::uint32:
      return 4;
    case Kind::int64:
    case Kind::float64:
      return 8;
    case Kind::uuid:
      return 16;
    case Kind::string:
    case Kind::bytes:
    case Kind::records:
    case Kind::structure:
      return 0;
  }
  return 0;
}

}  // namespace

class SkimProgram::Compiler {
 public:
  Compiler(const Message& message, int version, SkimProgram& into)
      : message_(message), version_(version), program_(into), ops_(into.ops_) {}

  void compile(bool header_tags) {
    if (header_tags) emit({.code = Code::tags, .operand = new_table()});
    structure(message_.root, true, 0);
    emit({.code = Code::finish});
    // Values of tagged fields stand behind the message; those that nest come to the end of the list while it is gone
    // through.
    for (std::size_t i = 0; i < tagged_.size(); ++i) {
      const Tagged tagged = tagged_[i];
      label();
      Tag& tag = program_.tags_[tagged.table][tagged.index];
      tag.start = here();
      field(*tagged.field, false, tagged.depth);
      emit({.code = Code::tag_end});
    }
  }

 private:
  struct Tagged {
    const Field* field;
    std::size_t table;
    std::size_t index;
    std::size_t depth;
  };

  [[nodiscard]] std::uint32_t here() const { return static_cast<std::uint32_t>(ops_.size()); }
  // What comes next is jumped to, so it stays apart from what stands before.
  void label() { label_ = here(); }
  void emit(Op op) { ops_.push_back(op); }
  void skip(std::uint32_t bytes) {
    if (!ops_.empty() && here() != label_ && ops_.back().code == Code::skip) {
      ops_.back().operand += bytes;
    } else {
      emit({.code = Code::skip, .operand = bytes});
    }
  }
  std::uint32_t new_table() {
    program_.tags_.emplace_back();
    return static_cast<std::uint32_t>(program_.tags_.size() - 1);
  }

  void structure(const Struct& structure, bool top, std::size_t depth) {
    for (const Field& f : structure.fields)
      if (!f.is_tagged() && f.versions.contains(version_)) field(f, top, depth);
    if (!message_.flexible.contains(version_)) return;
    const std::uint32_t table = new_table();
    for (const Field& f : structure.fields) {
      if (!f.is_tagged()) continue;
      const bool in_version = f.versions.contains(version_);
      program_.tags_[table].push_back({.tag = static_cast<std::uint32_t>(*f.tag), .in_version = in_version});
      if (in_version) tagged_.push_back({&f, table, program_.tags_[table].size() - 1, depth + 1});
    }
    CHECK(depth < Skim::kMaxDepth, "schemas nest a few levels");
    emit({.code = Code::tags, .operand = table});
  }

  void field(const Field& f, bool top, std::size_t depth) {
    const bool flexible = (f.flexible ? *f.flexible : message_.flexible).contains(version_);
    const bool null_allowed = f.nullable.contains(version_);
    if (f.type.array) {
      CHECK(depth < Skim::kMaxDepth, "schemas nest a few levels");
      const std::uint32_t array = here();
      emit({.code = Code::array, .flexible = flexible, .null_allowed = null_allowed});
      label();
      element(f, flexible, false, false, depth + 1);
      const bool fixed = here() == array + 2 && ops_.back().code == Code::skip;
      if (fixed) {
        ops_[array].element_size = ops_.back().operand;
        ops_.pop_back();
      } else if (here() != array + 1) {
        emit({.code = Code::next});
      }
      ops_[array].operand = here();
      label();
    } else if (f.type.kind == Kind::structure && null_allowed) {
      const std::uint32_t marker = here();
      emit({.code = f.is_tagged() ? Code::tag_marker : Code::marker});
      element(f, flexible, false, false, depth);
      ops_[marker].operand = here();
      label();
    } else {
      element(f, flexible, null_allowed, top, depth);
    }
  }

  // One value, or one element of an array.
  void element(const Field& f, bool flexible, bool null_allowed, bool top, std::size_t depth) {
    switch (f.type.kind) {
      case Kind::structure:
        return structure(*message_.find_struct(f.type.name), false, depth);
      case Kind::string:
        return emit({.code = Code::text, .flexible = flexible, .null_allowed = null_allowed});
      case Kind::bytes:
      case Kind::records:
        return emit({.code = Code::blob, .flexible = flexible, .null_allowed = null_allowed});
      case Kind::int16:
        if (f.name.ends_with("ErrorCode"))
          return emit(
              {.code = Code::note, .operand = static_cast<std::uint32_t>(top ? Note::top_error : Note::nested_error)});
        if (top && f.name == "Acks")
          return emit({.code = Code::note, .operand = static_cast<std::uint32_t>(Note::acks)});
        return skip(2);
      default:
        return skip(fixed_size(f.type.kind));
    }
  }

  const Message& message_;
  int version_;
  SkimProgram& program_;
  std::vector<Op>& ops_;
  std::uint32_t label_ = 0;
  std::vector<Tagged> tagged_;
};

SkimProgram::SkimProgram(const Message& message, int version, bool header_tags) {
  Compiler(message, version, *this).compile(header_tags);
}

const SkimProgram& SkimPrograms::of(const Message& message, int version, bool header_tags) {
  auto& program = programs_[{&message, version, header_tags}];
  if (!program) program = std::make_unique<const SkimProgram>(message, version, header_tags);
  return *program;
}

void Skim::start(const SkimProgram& program, std::uint64_t size) {
  // All but the tables, which hold what depth_ and error_kinds_ say.
  program_ = &program;
  left_ = size;
  skip_ = 0;
  rest_ = 0;
  fault_ = nullptr;
  place_ = 0;
  tag_ = 0;
  depth_ = 0;
  partial_size_ = 0;
  error_kinds_ = 0;
  tag_part_ = 0;
  counted_ = false;
  damaged_ = false;
  finished_ = false;
  saw_acks_ = false;
  acks_ = 0;
  if (size == 0) feed({});
}

bool Skim::fail(const char* reason) {
  fault_ = reason;
  return false;
}

void Skim::feed(std::span<const std::uint8_t> bytes) {
  CHECK(bytes.size() <= left_, "no more than the message has");
  if (fault_ == nullptr && !damaged_) {
    begin_ = bytes.data();
    Input in{begin_, begin_ + bytes.size()};
    run(in);
  }
  left_ -= bytes.size();
  if (left_ == 0 && fault_ == nullptr && !damaged_ && !finished_) fail("cut off");
}

void Skim::lose(std::uint64_t count) {
  CHECK(count <= left_, "no more than the message has");
  left_ -= count;
  if (fault_ != nullptr || damaged_) return;
  if (skip_ < count) {
    damaged_ = true;
    return;
  }
  skip_ -= count;
  // What the message ends with may need no more bytes.
  if (left_ == 0) feed({});
}

void Skim::run(Input& in) {
  while (true) {
    if (skip_ > 0) {
      const auto n = std::min<std::uint64_t>(skip_, static_cast<std::uint64_t>(in.end - in.at));
      in.at += n;
      skip_ -= n;
      if (skip_ > 0) return;
    }
    if (finished_ || !step(in, program_->ops_[place_])) return;
  }
}

// Does one op; false where it needs more bytes, or failed.
bool Skim::step(Input& in, const SkimProgram::Op& op) {
  using Code = SkimProgram::Code;
  switch (op.code) {
    case Code::skip:
      ++place_;
      return skip(in, op.operand, "cut off");
    case Code::note: {
      std::uint64_t value = 0;
      if (!fixed(in, 2, value)) return false;
      note(static_cast<SkimProgram::Note>(op.operand), static_cast<std::int16_t>(value));
      ++place_;
      return true;
    }
    case Code::text:
    case Code::blob: {
      std::int64_t size = 0;
      if (!length(in, op, op.code == Code::text, size)) return false;
      if (size < 0 && !op.null_allowed) return fail("null where null is not allowed");
      ++place_;
      return size <= 0 || skip(in, static_cast<std::uint64_t>(size), "a length beyond the end");
    }
    case Code::array:
      return begin_array(in, op);
    case Code::next: {
      Level& level = levels_[depth_ - 1U];
      if (--level.left > 0) {
        place_ = level.place;
      } else {
        --depth_;
        ++place_;
      }
      return true;
    }
    case Code::marker: {
      std::uint64_t value = 0;
      if (!fixed(in, 1, value)) return false;
      place_ = static_cast<std::int8_t>(value) < 0 ? op.operand : place_ + 1;
      return true;
    }
    case Code::tag_marker: {
      std::uint32_t value = 0;
      if (!uvarint(in, value)) return false;
      place_ = static_cast<std::int32_t>(value) <= 0 ? op.operand : place_ + 1;
      return true;
    }
    case Code::tags:
      return begin_tag(in, op);
    case Code::tag_end:
      // Back to the op that counts them.
      place_ = levels_[depth_ - 1U].place;
      --levels_[depth_ - 1U].left;
      counted_ = true;
      return true;
    case Code::finish:
      finished_ = true;
      rest_ = remaining(in);
      skip_ = rest_;
      return true;
  }
  return fail("no such op");
}

// Passes over bytes, of which most often all are there.
bool Skim::skip(Input& in, std::uint64_t count, const char* reason) {
  if (count <= static_cast<std::uint64_t>(in.end - in.at)) {
    in.at += count;
    return true;
  }
  if (count > remaining(in)) return fail(reason);
  skip_ = count;
  return true;
}

bool Skim::fixed(Input& in, std::size_t size, std::uint64_t& value) {
  if (partial_size_ == 0 && static_cast<std::size_t>(in.end - in.at) >= size) {
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | *in.at++;
    return true;
  }
  while (partial_size_ < size) {
    if (in.at == in.end) return false;
    partial_[partial_size_++] = *in.at++;
  }
  for (std::size_t i = 0; i < size; ++i) value = value << 8 | partial_[i];
  partial_size_ = 0;
  return true;
}

bool Skim::uvarint(Input& in, std::uint32_t& value) {
  if (partial_size_ == 0) {
    // One byte is the rule.
    if (in.at != in.end && *in.at < 0x80) {
      value = *in.at++;
      return true;
    }
    const std::uint8_t* next = base::get_uvarint32(in.at, in.end, value);
    if (next != nullptr) {
      in.at = next;
      return true;
    }
  }
  while (in.at != in.end) {
    if (partial_size_ == base::kMaxVarint32Bytes) return fail("a varint of more than five bytes");
    partial_[partial_size_++] = *in.at;
    if (*in.at++ < 0x80) {
      base::get_uvarint32(partial_.data(), partial_.data() + partial_size_, value);
      partial_size_ = 0;
      return true;
    }
  }
  return partial_size_ < base::kMaxVarint32Bytes ? false : fail("a varint of more than five bytes");
}

bool Skim::length(Input& in, const SkimProgram::Op& op, bool text, std::int64_t& value) {
  if (op.flexible) {
    std::uint32_t raw = 0;
    if (!uvarint(in, raw)) return false;
    value = static_cast<std::int32_t>(raw - 1U);
    if (text && value > INT16_MAX) return fail("a string longer than 32767 bytes");
    return true;
  }
  std::uint64_t raw = 0;
  if (!fixed(in, text ? 2 : 4, raw)) return false;
  value = text ? static_cast<std::int64_t>(static_cast<std::int16_t>(raw))
               : static_cast<std::int64_t>(static_cast<std::int32_t>(raw));
  return true;
}

bool Skim::begin_array(Input& in, const SkimProgram::Op& op) {
  std::int64_t count = 0;
  if (!length(in, op, false, count)) return false;
  if (count < 0 && !op.null_allowed) return fail("null where null is not allowed");
  if (count > protocol::kMaxArrayElements) return fail("an array of more than 1000000 elements");
  if (count > 0 && static_cast<std::uint64_t>(count) > remaining(in))
    return fail("an array longer than the bytes left");
  if (count <= 0 || op.operand == place_ + 1) {
    const std::uint64_t bytes = count <= 0 ? 0 : static_cast<std::uint64_t>(count) * op.element_size;
    if (bytes > remaining(in)) return fail("cut off");
    skip_ = bytes;
    place_ = op.operand;
    return true;
  }
  push(place_ + 1, static_cast<std::uint32_t>(count));
  ++place_;
  return true;
}

bool Skim::begin_tag(Input& in, const SkimProgram::Op& op) {
  if (!counted_) {
    // Hardly ever are there any.
    if (partial_size_ == 0 && in.at != in.end && *in.at == 0) {
      ++in.at;
      ++place_;
      return true;
    }
    std::uint32_t count = 0;
    if (!uvarint(in, count)) return false;
    if (count > protocol::kMaxTaggedFields) return fail("more than 10000 tagged fields");
    push(place_, count);
    counted_ = true;
    tag_part_ = 0;
  }
  if (levels_[depth_ - 1U].left == 0) {
    --depth_;
    counted_ = false;
    ++place_;
    return true;
  }
  if (tag_part_ == 0) {
    if (!uvarint(in, tag_)) return false;
    tag_part_ = 1;
  }
  std::uint32_t size = 0;
  if (!uvarint(in, size)) return false;
  tag_part_ = 0;
  for (const SkimProgram::Tag& tag : program_->tags_[op.operand]) {
    if (tag.tag != tag_) continue;
    if (!tag.in_version) return fail("a tag that this version lacks");
    counted_ = false;
    place_ = tag.start;
    return true;
  }
  if (size > remaining(in)) return fail("a length beyond the end");
  skip_ = size;
  --levels_[depth_ - 1U].left;
  return true;
}

void Skim::note(SkimProgram::Note kind, std::int16_t value) {
  if (kind == SkimProgram::Note::acks) {
    saw_acks_ = true;
    acks_ = value;
    return;
  }
  if (value == 0) return;
  const bool top = kind == SkimProgram::Note::top_error;
  for (std::size_t i = 0; i < error_kinds_; ++i) {
    if (errors_[i].code != value || errors_[i].top_level != top) continue;
    ++errors_[i].count;
    return;
  }
  if (error_kinds_ == kMaxErrors) {
    ++errors_[kMaxErrors - 1].count;
  } else {
    errors_[error_kinds_++] = {.code = value, .top_level = top, .count = 1};
  }
}

}  // namespace thalweg::inspect
