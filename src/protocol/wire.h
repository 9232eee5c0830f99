// Reader, Writer and Sizer: the scalar types of the Kafka protocol on the wire. The generated message code is made of
// calls to these; nothing here throws.
//
// The Reader holds the first fault it meets and from then on returns zeros, so generated code checks once, at the end
// and in its loops. Every length and count is compared with the bytes left before anything is reserved for it.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/endian.h"
#include "base/string.h"
#include "base/uuid.h"
#include "base/varint.h"
#include "protocol/error.h"
#include "protocol/ids.h"

namespace thalweg::protocol {

using base::Bytes;
using base::String;
using base::Uuid;

// What the Java reference allows at most.
inline constexpr std::uint32_t kMaxArrayElements = 1'000'000;
inline constexpr std::uint32_t kMaxTaggedFields = 10'000;

// The value of a `records` field: usually one slice of a frame; in fetch responses a chain with ranges of files.
class Records {
 public:
  Records() = default;
  explicit Records(Bytes bytes) : bytes_(std::move(bytes)) {}
  explicit Records(base::BufferChain chain) : chain_(std::make_unique<base::BufferChain>(std::move(chain))) {}
  Records(Records&&) = default;
  Records& operator=(Records&&) = default;
  Records(const Records& other)
      : bytes_(other.bytes_), chain_(other.chain_ ? std::make_unique<base::BufferChain>(*other.chain_) : nullptr) {}
  Records& operator=(const Records& other) {
    if (this != &other) *this = Records(other);
    return *this;
  }
  ~Records() = default;

  [[nodiscard]] std::uint64_t size() const { return chain_ ? chain_->size() : bytes_.size(); }
  [[nodiscard]] bool is_chain() const { return chain_ != nullptr; }
  // The one slice; for values that were decoded.
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }
  [[nodiscard]] const base::BufferChain& chain() const { return *chain_; }
  // All bytes in memory, in one piece; only for values without file ranges.
  [[nodiscard]] Bytes flatten() const { return chain_ ? chain_->flatten() : bytes_; }
  friend bool operator==(const Records& a, const Records& b) { return a.flatten() == b.flatten(); }

 private:
  Bytes bytes_;
  std::unique_ptr<base::BufferChain> chain_;
};

struct RawTaggedField {
  std::uint32_t tag = 0;
  Bytes data;
  friend bool operator==(const RawTaggedField&, const RawTaggedField&) = default;
};

// Tagged fields that this schema does not know, in the order they came. Nearly always none, so it costs one pointer.
class UnknownTaggedFields {
 public:
  UnknownTaggedFields() = default;
  UnknownTaggedFields(UnknownTaggedFields&&) = default;
  UnknownTaggedFields& operator=(UnknownTaggedFields&&) = default;
  UnknownTaggedFields(const UnknownTaggedFields& other)
      : fields_(other.fields_ ? std::make_unique<std::vector<RawTaggedField>>(*other.fields_) : nullptr) {}
  UnknownTaggedFields& operator=(const UnknownTaggedFields& other) {
    if (this != &other) *this = UnknownTaggedFields(other);
    return *this;
  }
  ~UnknownTaggedFields() = default;

  [[nodiscard]] std::size_t size() const { return fields_ ? fields_->size() : 0; }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] const RawTaggedField* begin() const { return fields_ ? fields_->data() : nullptr; }
  [[nodiscard]] const RawTaggedField* end() const { return begin() + size(); }
  void add(RawTaggedField field) {
    if (!fields_) fields_ = std::make_unique<std::vector<RawTaggedField>>();
    fields_->push_back(std::move(field));
  }
  void clear() { fields_.reset(); }
  friend bool operator==(const UnknownTaggedFields& a, const UnknownTaggedFields& b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
      if (!(a.begin()[i] == b.begin()[i])) return false;
    return true;
  }

 private:
  std::unique_ptr<std::vector<RawTaggedField>> fields_;
};

class Reader {
 public:
  // Reads `source`; strings alias it and bytes are slices of it.
  explicit Reader(const Bytes& source) : source_(source), p_(source.begin()), end_(source.end()) {}

  [[nodiscard]] bool ok() const { return fault_ == nullptr; }
  // What the first fault was and where (bytes from the start of the source); null while there is none.
  [[nodiscard]] const char* fault() const { return fault_; }
  [[nodiscard]] std::size_t fault_position() const { return fault_position_; }
  [[nodiscard]] std::size_t position() const { return static_cast<std::size_t>(p_ - source_.begin()); }
  [[nodiscard]] std::size_t remaining() const { return static_cast<std::size_t>(end_ - p_); }
  void fail(const char* reason);

  bool boolean() { return fixed<std::uint8_t>() != 0; }
  template <class T>
  T fixed() {
    if (remaining() < sizeof(T)) [[unlikely]] {
      fail("cut off");
      return T{};
    }
    const T value = base::load_be<T>(p_);
    p_ += sizeof(T);
    return value;
  }
  double float64() { return std::bit_cast<double>(fixed<std::uint64_t>()); }
  Uuid uuid();
  std::uint32_t uvarint();

  template <class S>
  void string(S& into, bool flexible) {
    const std::int64_t length = string_length(flexible);
    if (length < 0) return fail_unless_failed("a string that must not be null is null");
    into = S::alias(take_view(static_cast<std::uint64_t>(length)));
  }
  template <class S>
  void nullable_string(std::optional<S>& into, bool flexible, bool null_allowed) {
    const std::int64_t length = string_length(flexible);
    if (length < 0) {
      if (!null_allowed) return fail_unless_failed("a string that must not be null is null");
      into.reset();
      return;
    }
    into.emplace(S::alias(take_view(static_cast<std::uint64_t>(length))));
  }
  void bytes(Bytes& into, bool flexible);
  void nullable_bytes(std::optional<Bytes>& into, bool flexible, bool null_allowed);
  void records(Records& into, bool flexible);
  void nullable_records(std::optional<Records>& into, bool flexible, bool null_allowed);

  // Number of elements of an array, -1 for null. `least_bytes` is what one element takes at least.
  std::int64_t array_length(bool flexible, bool null_allowed, std::size_t least_bytes);
  template <class T, class Each>
  void array(std::vector<T>& into, bool flexible, std::size_t least_bytes, Each&& each) {
    elements(into, array_length(flexible, false, least_bytes), each);
  }
  template <class T, class Each>
  void nullable_array(std::optional<std::vector<T>>& into, bool flexible, bool null_allowed, std::size_t least_bytes,
                      Each&& each) {
    const std::int64_t count = array_length(flexible, null_allowed, least_bytes);
    if (count < 0) {
      into.reset();
      return;
    }
    elements(into.emplace(), count, each);
  }

  // Number of tagged fields that follow.
  std::uint32_t tagged_field_count();
  // Keeps a field whose tag this schema does not know.
  void unknown_tagged_field(UnknownTaggedFields& into, std::uint32_t tag, std::uint32_t size);

 private:
  template <class T, class Each>
  void elements(std::vector<T>& into, std::int64_t count, Each& each) {
    into.clear();
    if (count <= 0) return;
    into.reserve(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count && ok(); ++i) each(into.emplace_back());
  }
  std::int64_t string_length(bool flexible);
  std::int64_t bytes_length(bool flexible);
  std::string_view take_view(std::uint64_t length);
  Bytes take_bytes(std::uint64_t length);
  void fail_unless_failed(const char* reason) {
    if (ok()) fail(reason);
  }

  const Bytes& source_;
  const std::uint8_t* p_;
  const std::uint8_t* end_;
  const char* fault_ = nullptr;
  std::size_t fault_position_ = 0;
};

// Counts the bytes that a Writer would write.
class Sizer {
 public:
  [[nodiscard]] std::uint64_t size() const { return size_; }

  void boolean(bool) { ++size_; }
  template <class T>
  void fixed(T) {
    size_ += sizeof(T);
  }
  void float64(double) { size_ += 8; }
  void uuid(const Uuid&) { size_ += 16; }
  void uvarint(std::uint64_t value) { size_ += base::uvarint_size(value); }
  void string(std::string_view text, bool flexible) {
    size_ += text.size() + (flexible ? base::uvarint_size(text.size() + 1) : 2);
  }
  void null_string(bool flexible) { size_ += flexible ? 1 : 2; }
  void bytes(const Bytes& value, bool flexible) { length(value.size(), flexible); }
  void records(const Records& value, bool flexible) { length(value.size(), flexible); }
  void null_bytes(bool flexible) { size_ += flexible ? 1 : 4; }
  void array_length(std::size_t count, bool flexible) { size_ += flexible ? base::uvarint_size(count + 1) : 4; }
  void null_array(bool flexible) { size_ += flexible ? 1 : 4; }
  void raw(const Bytes& value) { size_ += value.size(); }
  void fail(const char*) {}

 private:
  void length(std::uint64_t size, bool flexible) { size_ += size + (flexible ? base::uvarint_size(size + 1) : 4); }
  std::uint64_t size_ = 0;
};

// Writes into a chain. Records are not copied but linked in, file ranges included.
class Writer {
 public:
  // `size_hint`: bytes of the first block.
  explicit Writer(std::size_t size_hint = 512);

  [[nodiscard]] bool ok() const { return fault_ == nullptr; }
  // Which rule of the schema the message broke; null while none.
  [[nodiscard]] const char* fault() const { return fault_; }
  void fail(const char* reason) {
    if (fault_ == nullptr) fault_ = reason;
  }
  // Bytes so far.
  [[nodiscard]] std::uint64_t size() const { return chain_.size() + static_cast<std::uint64_t>(p_ - segment_); }

  void boolean(bool value) { fixed<std::uint8_t>(value ? 1 : 0); }
  template <class T>
  void fixed(T value) {
    base::store_be(room(sizeof(T)), value);
    p_ += sizeof(T);
  }
  void float64(double value) { fixed(std::bit_cast<std::uint64_t>(value)); }
  void uuid(const Uuid& value) { put(value.bytes.data(), value.bytes.size()); }
  void uvarint(std::uint64_t value) {
    room(base::kMaxVarint64Bytes);
    p_ = base::put_uvarint(p_, value);
  }
  void string(std::string_view text, bool flexible);
  void null_string(bool flexible) { flexible ? fixed<std::uint8_t>(0) : fixed<std::int16_t>(-1); }
  void bytes(const Bytes& value, bool flexible);
  void records(const Records& value, bool flexible);
  void null_bytes(bool flexible) { flexible ? fixed<std::uint8_t>(0) : fixed<std::int32_t>(-1); }
  void array_length(std::size_t count, bool flexible) { length(count, flexible); }
  void null_array(bool flexible) { null_bytes(flexible); }
  void raw(const Bytes& value) { put(value.data(), value.size()); }

  // Overwrites the int32 at the very start: a frame's size, known only at its end.
  void patch_first_int32(std::int32_t value) { base::store_be(first_, value); }
  // Gives up what was written.
  base::BufferChain finish() &&;

 private:
  std::uint8_t* room(std::size_t count) {
    if (static_cast<std::size_t>(end_ - p_) < count) [[unlikely]]
      grow(count);
    return p_;
  }
  void put(const void* data, std::size_t size) {
    if (size == 0) return;
    std::memcpy(room(size), data, size);
    p_ += size;
  }
  void length(std::uint64_t size, bool flexible);
  void grow(std::size_t count);
  void close_segment();

  base::Buffer block_;
  std::uint8_t* p_;
  std::uint8_t* end_;
  std::uint8_t* segment_;  // start of what is not in the chain yet
  std::uint8_t* first_;
  base::BufferChain chain_;
  const char* fault_ = nullptr;
};

// Writes the tagged fields that this schema does not know whose tags lie in [from, before). They are written in rising
// order among the known ones.
template <class Sink>
void put_unknown_tagged_fields(Sink& sink, const UnknownTaggedFields& fields, std::uint32_t from,
                               std::uint32_t before) {
  for (const RawTaggedField& field : fields) {
    if (field.tag < from || field.tag >= before) continue;
    sink.uvarint(field.tag);
    sink.uvarint(field.data.size());
    sink.raw(field.data);
  }
}

// Whether the tags rise; only such fields can be written.
bool tags_rise(const UnknownTaggedFields& fields);

}  // namespace thalweg::protocol
