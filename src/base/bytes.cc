#include "base/bytes.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <new>

#include "base/check.h"

namespace thalweg::base {

namespace internal {

Block* Block::allocate(std::size_t capacity) {
  void* memory = std::malloc(sizeof(Block) + capacity);
  if (memory == nullptr) throw std::bad_alloc();
  auto* block = new (memory) Block;
  block->capacity = capacity;
  return block;
}

void Block::destroy(Block* block) {
  block->~Block();
  std::free(block);
}

}  // namespace internal

Bytes Bytes::copy_of(std::span<const std::uint8_t> from) {
  if (from.empty()) return {};
  Buffer buffer(from.size());
  std::memcpy(buffer.data(), from.data(), from.size());
  return std::move(buffer).freeze(from.size());
}

Bytes Bytes::copy_of(std::string_view from) {
  return copy_of(std::span(reinterpret_cast<const std::uint8_t*>(from.data()), from.size()));
}

Bytes Bytes::slice(std::size_t position, std::size_t count) const {
  position = std::min(position, size_);
  Bytes result(*this);
  result.data_ += position;
  result.size_ = std::min(count, size_ - position);
  return result;
}

Bytes Buffer::share(std::size_t position, std::size_t count) const {
  CHECK(block_ != nullptr && position + count <= block_->capacity);
  Bytes bytes;
  bytes.data_ = block_->data() + position;
  bytes.size_ = count;
  bytes.block_ = block_;
  block_->retain();
  return bytes;
}

Bytes Buffer::freeze(std::size_t count) && {
  CHECK(block_ != nullptr && count <= block_->capacity);
  Bytes bytes;
  bytes.data_ = block_->data();
  bytes.size_ = count;
  bytes.block_ = std::exchange(block_, nullptr);
  return bytes;
}

void BufferChain::append(Bytes bytes) {
  if (bytes.empty()) return;
  size_ += bytes.size();
  const std::uint64_t size = bytes.size();
  segments_.push_back({.bytes = std::move(bytes), .source = nullptr, .position = 0, .size = size});
}

void BufferChain::append(BufferChain chain) {
  size_ += chain.size_;
  if (segments_.empty()) {
    segments_ = std::move(chain.segments_);
    return;
  }
  for (Segment& segment : chain.segments_) segments_.push_back(std::move(segment));
}

void BufferChain::append_external(std::shared_ptr<const ExternalSource> source, std::uint64_t position,
                                  std::uint64_t size) {
  if (size == 0) return;
  size_ += size;
  segments_.push_back({.bytes = {}, .source = std::move(source), .position = position, .size = size});
}

bool BufferChain::in_memory() const {
  return std::ranges::all_of(segments_, [](const Segment& segment) { return segment.source == nullptr; });
}

Bytes BufferChain::flatten() const {
  CHECK(in_memory());
  if (segments_.empty()) return {};
  if (segments_.size() == 1) return segments_.front().bytes;
  Buffer buffer(size_);
  std::size_t at = 0;
  for (const Segment& segment : segments_) {
    std::memcpy(buffer.data() + at, segment.bytes.data(), segment.bytes.size());
    at += segment.bytes.size();
  }
  return std::move(buffer).freeze(at);
}

bool operator==(const BufferChain& a, const BufferChain& b) {
  return a.size() == b.size() && a.in_memory() && b.in_memory() && a.flatten() == b.flatten();
}

}  // namespace thalweg::base
