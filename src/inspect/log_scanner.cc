#include "inspect/log_scanner.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/crc32c.h"
#include "inspect/value_text.h"
#include "protocol/batch_view.h"
#include "protocol/legacy_message_set.h"

namespace thalweg::inspect {

using protocol::BatchView;
using protocol::kBatchHeaderSize;
using protocol::kLogOverhead;
using runtime::IoResult;

namespace {

constexpr std::int32_t kBatchLengthMin = static_cast<std::int32_t>(kBatchHeaderSize - kLogOverhead);
constexpr std::int32_t kMessageLengthMin = 14;
constexpr std::int16_t kKnownAttributes = 0x7f;
constexpr int kCodecMax = 4;
// A batch beyond this is read into memory only once its CRC was found to be right: a damaged length may say 2 GiB.
constexpr std::uint64_t kWholeMax = std::uint64_t{64} << 20;
// What the search behind one damaged place may read again to compute CRCs of what looks like a header.
constexpr std::uint64_t kSearchBudget = std::uint64_t{4} << 30;

// Whether the header can be that of a batch, whatever its CRC.
bool makes_sense(BatchView header, std::uint64_t left) {
  return header.magic() == 2 && header.batch_length() >= kBatchLengthMin && header.size_bytes() <= left &&
         header.base_offset() >= 0 && header.last_offset_delta() >= 0 &&
         header.base_offset() <= INT64_MAX - header.last_offset_delta() - 1 &&
         (header.attributes() & ~kKnownAttributes) == 0 && header.codec() <= kCodecMax && header.record_count() >= 0 &&
         std::int64_t{header.record_count()} <= std::int64_t{header.last_offset_delta()} + 1;
}

bool all_zero(std::span<const std::uint8_t> bytes) {
  return std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte == 0; });
}

}  // namespace

LogScanner::LogScanner(std::shared_ptr<runtime::File> file, const Options& options)
    : file_(std::move(file)),
      next_(options.begin),
      end_(options.end),
      next_offset_(options.next_offset),
      window_(std::max(options.window, kBatchHeaderSize)) {}

IoResult<std::span<const std::uint8_t>> LogScanner::view(std::uint64_t position, std::size_t size) {
  if (position < buffer_position_ || position + size > buffer_position_ + buffer_size_) {
    const auto wanted = static_cast<std::size_t>(std::min<std::uint64_t>(std::max(window_, size), end_ - position));
    // A batch of an unusual size does not keep its memory.
    if (buffer_.size() > 4 * window_ && wanted <= window_) buffer_ = {};
    if (buffer_.size() < wanted) buffer_.resize(wanted);
    buffer_size_ = 0;
    ASSIGN_OR_RETURN(buffer_size_, file_->read_at(position, std::span(buffer_).first(wanted)));
    buffer_position_ = position;
    // A file that became shorter while it is read ends there.
    if (buffer_size_ < wanted) end_ = std::min(end_, position + buffer_size_);
  }
  const auto skip = static_cast<std::size_t>(position - buffer_position_);
  return std::span<const std::uint8_t>(buffer_).subspan(skip, std::min(size, buffer_size_ - skip));
}

IoResult<bool> LogScanner::plausible(std::uint64_t position, bool legacy) {
  ASSIGN_OR_RETURN(const auto header, view(position, kBatchHeaderSize));
  if (header.size() >= kBatchHeaderSize && makes_sense(BatchView(header.data()), end_ - position)) return true;
  if (!legacy || header.size() <= protocol::kMagicPosition) return false;
  const BatchView message(header.data());
  return (message.magic() == 0 || message.magic() == 1) && message.batch_length() >= kMessageLengthMin &&
         message.size_bytes() <= end_ - position && message.base_offset() >= 0;
}

IoResult<bool> LogScanner::crc_matches(std::uint64_t position, std::uint64_t size) {
  ASSIGN_OR_RETURN(const auto header, view(position, kBatchHeaderSize));
  const std::uint32_t stored = BatchView(header.data()).crc();
  std::uint32_t crc = 0;
  const std::uint64_t end = position + size;
  for (std::uint64_t at = position + protocol::kAttributesPosition; at < end;) {
    const auto step = static_cast<std::size_t>(std::min<std::uint64_t>(end - at, size <= kWholeMax ? size : window_));
    ASSIGN_OR_RETURN(const auto piece, view(at, step));
    if (piece.empty()) return false;
    crc = base::crc32c(piece, crc);
    at += piece.size();
  }
  return crc == stored;
}

IoResult<std::uint64_t> LogScanner::search(std::uint64_t from) {
  std::uint64_t budget = kSearchBudget;
  for (std::uint64_t at = from; at + kBatchHeaderSize <= end_;) {
    ASSIGN_OR_RETURN(const auto bytes, view(at, std::max(window_, kBatchHeaderSize)));
    if (bytes.size() < kBatchHeaderSize) break;
    // Places at which a whole header is in the window.
    const std::size_t places = bytes.size() - kBatchHeaderSize + 1;
    std::size_t found = places;
    for (std::size_t i = 0; i < places; ++i) {
      const void* magic = std::memchr(bytes.data() + i + protocol::kMagicPosition, 2, places - i);
      if (magic == nullptr) break;
      i = static_cast<std::size_t>(static_cast<const std::uint8_t*>(magic) - bytes.data()) - protocol::kMagicPosition;
      if (!makes_sense(BatchView(bytes.data() + i), end_ - at - i)) continue;
      found = i;
      break;
    }
    at += found;
    if (found == places) continue;
    ASSIGN_OR_RETURN(const auto header, view(at, kBatchHeaderSize));
    const std::uint64_t size = BatchView(header.data()).size_bytes();
    if (size > budget) break;
    budget -= size;
    ASSIGN_OR_RETURN(const bool sound, crc_matches(at, size));
    if (sound) return at;
    ++at;
  }
  return end_;
}

IoResult<LogItem> LogScanner::damage(std::string reason) {
  LogItem item{.kind = LogItem::Kind::damage, .position = next_, .size = 0, .bytes = {}, .fault = std::move(reason)};
  ASSIGN_OR_RETURN(const std::uint64_t behind, search(next_ + 1));
  item.size = behind - next_;
  next_ = behind;
  return item;
}

LogItem LogScanner::finish(LogItem item, std::int64_t first_offset, std::int64_t last_offset) {
  item.sound = item.fault.empty();
  if (item.sound) {
    if (first_offset < next_offset_)
      item.fault = fmt::format("offset {} where none below {} can be", first_offset, next_offset_);
    // Also where the order is broken: one offset that is wrong is one fault, not one of all batches behind it.
    next_offset_ = last_offset + 1;
  }
  next_ += item.size;
  return item;
}

IoResult<LogItem> LogScanner::batch() {
  const std::uint64_t left = end_ - next_;
  ASSIGN_OR_RETURN(const auto start, view(next_, kBatchHeaderSize));
  const BatchView header(start.data());
  if (start.size() < kBatchHeaderSize)
    return damage(fmt::format("the header of a batch is cut off after {}", counted(left, "byte")));
  if (header.batch_length() < kBatchLengthMin)
    return damage(fmt::format("a batch of length {}", header.batch_length()));
  if (header.size_bytes() > left)
    return damage(fmt::format("a batch of {} bytes is cut off after {}", header.size_bytes(), left));
  LogItem item{.kind = LogItem::Kind::batch, .position = next_, .size = header.size_bytes(), .bytes = {}, .fault = {}};
  const std::int64_t first = header.base_offset();
  const std::int64_t last = header.last_offset();
  const bool sense = makes_sense(header, left);
  ASSIGN_OR_RETURN(const bool sound, crc_matches(next_, item.size));
  if (!sound) {
    bool followed = next_ + item.size == end_;
    if (sense && !followed) {
      ASSIGN_OR_RETURN(followed, plausible(next_ + item.size, true));
    }
    // Of a header that cannot be trusted not even the length counts.
    if (!sense || !followed || item.size > kWholeMax)
      return damage(fmt::format("the CRC is wrong, and the header {}", sense ? "leads nowhere" : "makes no sense"));
  }
  ASSIGN_OR_RETURN(item.bytes, view(next_, static_cast<std::size_t>(item.size)));
  if (item.bytes.size() < item.size) return damage("the file became shorter while it was read");
  if (!sound) {
    item.fault = fmt::format("CRC {:08x} is stored, the bytes give {:08x}", BatchView(item.bytes.data()).crc(),
                             base::crc32c(item.bytes.subspan(protocol::kAttributesPosition)));
  } else if (!sense) {
    item.fault = "the CRC is right, but the header makes no sense";
  }
  return finish(std::move(item), first, last);
}

IoResult<LogItem> LogScanner::message() {
  const std::uint64_t left = end_ - next_;
  ASSIGN_OR_RETURN(const auto start, view(next_, protocol::kMagicPosition + 1));
  const BatchView header(start.data());
  if (header.batch_length() < kMessageLengthMin)
    return damage(fmt::format("a message of length {}", header.batch_length()));
  if (header.size_bytes() > left)
    return damage(fmt::format("a message of {} bytes is cut off after {}", header.size_bytes(), left));
  if (header.size_bytes() > kWholeMax) return damage(fmt::format("a message of {} bytes", header.size_bytes()));
  LogItem item{
      .kind = LogItem::Kind::message, .position = next_, .size = header.size_bytes(), .bytes = {}, .fault = {}};
  bool followed = next_ + item.size == end_;
  if (!followed) {
    ASSIGN_OR_RETURN(followed, plausible(next_ + item.size, true));
  }
  ASSIGN_OR_RETURN(item.bytes, view(next_, static_cast<std::size_t>(item.size)));
  if (item.bytes.size() < item.size) return damage("the file became shorter while it was read");
  const auto message = protocol::parse_legacy_message(item.bytes);
  if (!message) return damage(message.error().detail);
  if (const auto crc = protocol::validate_legacy_crc(*message); !crc) {
    if (!followed) return damage(crc.error().detail);
    item.fault = crc.error().detail;
  }
  // The offset of a message that wraps others is that of the last one inside; the first cannot be known from here.
  return finish(std::move(item), message->offset(), message->offset());
}

IoResult<std::optional<LogItem>> LogScanner::next() {
  if (next_ >= end_) return std::nullopt;
  ASSIGN_OR_RETURN(const auto start, view(next_, kBatchHeaderSize));
  if (start.empty()) return std::nullopt;
  if (start.size() <= protocol::kMagicPosition) {
    const std::string what = all_zero(start) ? "zeros" : "bytes";
    ASSIGN_OR_RETURN(LogItem item, damage(fmt::format("{} {} at the end, too few for a batch", start.size(), what)));
    return item;
  }
  if (all_zero(start)) {
    ASSIGN_OR_RETURN(LogItem item, damage("zeros: space that was set aside, or a write that never reached the disk"));
    return item;
  }
  const auto magic = static_cast<std::int8_t>(start[protocol::kMagicPosition]);
  if (magic == 2) {
    ASSIGN_OR_RETURN(LogItem item, batch());
    return item;
  }
  if (magic == 0 || magic == 1) {
    ASSIGN_OR_RETURN(LogItem item, message());
    return item;
  }
  ASSIGN_OR_RETURN(LogItem item, damage(fmt::format("magic {}", magic)));
  return item;
}

}  // namespace thalweg::inspect
