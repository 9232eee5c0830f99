#include "protocol/wire.h"

#include <algorithm>

namespace thalweg::protocol {

void Reader::fail(const char* reason) {
  if (fault_ != nullptr) return;
  fault_ = reason;
  fault_position_ = position();
  p_ = end_;
}

Uuid Reader::uuid() {
  Uuid value;
  if (remaining() < value.bytes.size()) {
    fail("cut off");
    return value;
  }
  std::memcpy(value.bytes.data(), p_, value.bytes.size());
  p_ += value.bytes.size();
  return value;
}

std::uint32_t Reader::uvarint() {
  if (p_ != end_ && *p_ < 0x80) [[likely]]
    return *p_++;
  std::uint32_t value = 0;
  const std::uint8_t* next = base::get_uvarint32(p_, end_, value);
  if (next == nullptr) {
    fail(remaining() < base::kMaxVarint32Bytes ? "cut off in a varint" : "a varint of more than five bytes");
    return 0;
  }
  p_ = next;
  return value;
}

// A compact length is one more than the length; zero, or what overflows int32 on the way back, is null.
std::int64_t Reader::string_length(bool flexible) {
  if (!flexible) return fixed<std::int16_t>();
  const auto length = static_cast<std::int32_t>(uvarint() - 1U);
  // The reference reads a compact length as int and refuses what a string cannot have.
  if (length > INT16_MAX) fail("a string longer than 32767 bytes");
  return length;
}

std::int64_t Reader::bytes_length(bool flexible) {
  return flexible ? static_cast<std::int32_t>(uvarint() - 1U) : fixed<std::int32_t>();
}

std::string_view Reader::take_view(std::uint64_t length) {
  if (length > remaining()) {
    fail("a length beyond the end");
    return {};
  }
  const std::string_view view(reinterpret_cast<const char*>(p_), length);
  p_ += length;
  return view;
}

Bytes Reader::take_bytes(std::uint64_t length) {
  if (length > remaining()) {
    fail("a length beyond the end");
    return {};
  }
  Bytes bytes = source_.slice(position(), length);
  p_ += length;
  return bytes;
}

void Reader::bytes(Bytes& into, bool flexible) {
  const std::int64_t length = bytes_length(flexible);
  if (length < 0) return fail_unless_failed("bytes that must not be null are null");
  into = take_bytes(static_cast<std::uint64_t>(length));
}

void Reader::nullable_bytes(std::optional<Bytes>& into, bool flexible, bool null_allowed) {
  const std::int64_t length = bytes_length(flexible);
  if (length < 0) {
    if (!null_allowed) return fail_unless_failed("bytes that must not be null are null");
    into.reset();
    return;
  }
  into = take_bytes(static_cast<std::uint64_t>(length));
}

void Reader::records(Records& into, bool flexible) {
  Bytes value;
  bytes(value, flexible);
  into = Records(std::move(value));
}

void Reader::nullable_records(std::optional<Records>& into, bool flexible, bool null_allowed) {
  std::optional<Bytes> value;
  nullable_bytes(value, flexible, null_allowed);
  if (value) {
    into.emplace(std::move(*value));
  } else {
    into.reset();
  }
}

std::int64_t Reader::array_length(bool flexible, bool null_allowed, std::size_t least_bytes) {
  const std::int64_t count = bytes_length(flexible);
  if (count < 0) {
    if (!null_allowed) fail_unless_failed("an array that must not be null is null");
    return -1;
  }
  if (count > kMaxArrayElements) {
    fail("an array of more than 1000000 elements");
    return 0;
  }
  if (static_cast<std::uint64_t>(count) * least_bytes > remaining()) {
    fail("an array longer than the bytes left");
    return 0;
  }
  return count;
}

std::uint32_t Reader::tagged_field_count() {
  const std::uint32_t count = uvarint();
  if (count > kMaxTaggedFields) {
    fail("more than 10000 tagged fields");
    return 0;
  }
  return count;
}

void Reader::unknown_tagged_field(UnknownTaggedFields& into, std::uint32_t tag, std::uint32_t size) {
  Bytes data = take_bytes(size);
  if (ok()) into.add({.tag = tag, .data = std::move(data)});
}

Writer::Writer(std::size_t size_hint) : block_(size_hint) {
  p_ = segment_ = first_ = block_.data();
  end_ = p_ + block_.capacity();
}

void Writer::string(std::string_view text, bool flexible) {
  if (text.size() > INT16_MAX) return fail("a string longer than 32767 bytes");
  if (flexible) {
    uvarint(text.size() + 1);
  } else {
    fixed(static_cast<std::int16_t>(text.size()));
  }
  put(text.data(), text.size());
}

void Writer::length(std::uint64_t size, bool flexible) {
  if (size > INT32_MAX) return fail("more than 2147483647 bytes or elements");
  if (flexible) {
    uvarint(size + 1);
  } else {
    fixed(static_cast<std::int32_t>(size));
  }
}

void Writer::bytes(const Bytes& value, bool flexible) {
  length(value.size(), flexible);
  put(value.data(), value.size());
}

void Writer::records(const Records& value, bool flexible) {
  // Below this a copy is cheaper than one more piece for the socket.
  constexpr std::uint64_t kCopyAtMost = 512;
  length(value.size(), flexible);
  if (!value.is_chain() && value.size() <= kCopyAtMost) return put(value.bytes().data(), value.bytes().size());
  close_segment();
  if (value.is_chain()) {
    chain_.append(value.chain());
  } else {
    chain_.append(value.bytes());
  }
}

void Writer::close_segment() {
  if (p_ == segment_) return;
  chain_.append(
      block_.share(static_cast<std::size_t>(segment_ - block_.data()), static_cast<std::size_t>(p_ - segment_)));
  segment_ = p_;
}

void Writer::grow(std::size_t count) {
  constexpr std::size_t kMostDoubling = 256 * 1024;
  close_segment();
  block_ = base::Buffer(std::max(count, std::min(block_.capacity() * 2, kMostDoubling)));
  p_ = segment_ = block_.data();
  end_ = p_ + block_.capacity();
}

base::BufferChain Writer::finish() && {
  close_segment();
  return std::move(chain_);
}

bool tags_rise(const UnknownTaggedFields& fields) {
  // Kafka reads tags as signed numbers, and writes none from the greatest one on.
  if (!fields.empty() && (fields.end() - 1)->tag >= INT32_MAX) return false;
  for (std::size_t i = 1; i < fields.size(); ++i)
    if (fields.begin()[i - 1].tag >= fields.begin()[i].tag) return false;
  return true;
}

}  // namespace thalweg::protocol
