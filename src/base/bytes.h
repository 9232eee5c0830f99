// Bytes, Buffer and BufferChain: how bytes travel from a socket to a file and back without being copied.
//
//   Buffer       a block that one owner fills; share() and freeze() hand out immutable slices of it
//   Bytes        an immutable, ref-counted slice of a block; copying one shares it, and any thread may drop it
//   BufferChain  a list of slices and of ranges of external sources (files), written to a socket in one go
//
// A small slice pins its whole block: copy() before keeping.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace thalweg::base {

namespace internal {

// Head of an allocation whose bytes follow it.
struct Block {
  std::atomic<std::uint32_t> references{1};
  std::size_t capacity = 0;
  std::uint8_t* data() { return reinterpret_cast<std::uint8_t*>(this + 1); }

  static Block* allocate(std::size_t capacity);
  void retain() { references.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    // The sole owner needs no read-modify-write: nobody else can be copying it.
    if (references.load(std::memory_order_acquire) == 1 || references.fetch_sub(1, std::memory_order_acq_rel) == 1)
      destroy(this);
  }
  static void destroy(Block* block);
};

}  // namespace internal

class Bytes {
 public:
  Bytes() = default;
  Bytes(const Bytes& other) : data_(other.data_), size_(other.size_), block_(other.block_) {
    if (block_ != nullptr) block_->retain();
  }
  Bytes(Bytes&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        block_(std::exchange(other.block_, nullptr)) {}
  Bytes& operator=(const Bytes& other) {
    if (this != &other) *this = Bytes(other);
    return *this;
  }
  Bytes& operator=(Bytes&& other) noexcept {
    if (this != &other) {
      if (block_ != nullptr) block_->release();
      data_ = std::exchange(other.data_, nullptr);
      size_ = std::exchange(other.size_, 0);
      block_ = std::exchange(other.block_, nullptr);
    }
    return *this;
  }
  ~Bytes() {
    if (block_ != nullptr) block_->release();
  }

  // A block of its own with a copy of `from`.
  static Bytes copy_of(std::span<const std::uint8_t> from);
  static Bytes copy_of(std::string_view from);
  // A view of memory that outlives every copy of the result, such as a string literal.
  static Bytes unowned(std::span<const std::uint8_t> memory) {
    Bytes bytes;
    bytes.data_ = memory.data();
    bytes.size_ = memory.size();
    return bytes;
  }

  [[nodiscard]] const std::uint8_t* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const std::uint8_t* begin() const { return data_; }
  [[nodiscard]] const std::uint8_t* end() const { return data_ + size_; }
  std::uint8_t operator[](std::size_t i) const { return data_[i]; }
  [[nodiscard]] std::span<const std::uint8_t> span() const { return {data_, size_}; }
  [[nodiscard]] std::string_view view() const { return {reinterpret_cast<const char*>(data_), size_}; }

  // The slice [position, position + count); both are clamped to what is there.
  [[nodiscard]] Bytes slice(std::size_t position, std::size_t count = SIZE_MAX) const;
  [[nodiscard]] Bytes first(std::size_t count) const { return slice(0, count); }
  // The bytes in a block of their own, so that keeping them pins nothing else.
  [[nodiscard]] Bytes copy() const { return copy_of(span()); }

  // The bytes as something to write to. For the one owner that patches offsets into a frame it has just read, before
  // anything else can see it.
  [[nodiscard]] std::uint8_t* patchable() const { return const_cast<std::uint8_t*>(data_); }

  friend bool operator==(const Bytes& a, const Bytes& b) { return a.view() == b.view(); }

 private:
  friend class Buffer;
  const std::uint8_t* data_ = nullptr;
  std::size_t size_ = 0;
  internal::Block* block_ = nullptr;
};

// A block with one owner that fills it.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t capacity) : block_(internal::Block::allocate(capacity)) {}
  Buffer(Buffer&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    if (this != &other) {
      reset();
      block_ = std::exchange(other.block_, nullptr);
    }
    return *this;
  }
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  ~Buffer() { reset(); }

  [[nodiscard]] std::uint8_t* data() const { return block_ == nullptr ? nullptr : block_->data(); }
  [[nodiscard]] std::size_t capacity() const { return block_ == nullptr ? 0 : block_->capacity; }
  // True where no slice of the block is alive, so that it may be filled from the start again.
  [[nodiscard]] bool unshared() const {
    return block_ != nullptr && block_->references.load(std::memory_order_acquire) == 1;
  }
  // A slice of what has been filled; those bytes must not be written again while it lives.
  [[nodiscard]] Bytes share(std::size_t position, std::size_t count) const;
  // Gives the block up as a slice of its first `count` bytes.
  Bytes freeze(std::size_t count) &&;
  void reset() {
    if (block_ != nullptr) std::exchange(block_, nullptr)->release();
  }

 private:
  internal::Block* block_ = nullptr;
};

// Something outside memory that a chain can point into; the stream that sends the chain knows the kinds it can send.
class ExternalSource {
 public:
  virtual ~ExternalSource() = default;
};

class BufferChain {
 public:
  struct Segment {
    Bytes bytes;                                   // in memory, where `source` is null
    std::shared_ptr<const ExternalSource> source;  // else this range of the source
    std::uint64_t position = 0;
    std::uint64_t size = 0;
  };

  BufferChain() = default;
  explicit BufferChain(Bytes bytes) { append(std::move(bytes)); }

  void append(Bytes bytes);
  void append(BufferChain chain);
  void append_external(std::shared_ptr<const ExternalSource> source, std::uint64_t position, std::uint64_t size);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  [[nodiscard]] const std::vector<Segment>& segments() const { return segments_; }
  [[nodiscard]] bool in_memory() const;
  // All bytes in one block; only for chains that are in memory.
  [[nodiscard]] Bytes flatten() const;

  // Equal where both are in memory and hold the same bytes.
  friend bool operator==(const BufferChain& a, const BufferChain& b);

 private:
  std::vector<Segment> segments_;
  std::uint64_t size_ = 0;
};

}  // namespace thalweg::base
