#include "storage/producer_snapshot.h"

#include "base/crc32c.h"
#include "base/endian.h"

namespace thalweg::storage {

namespace {

constexpr std::int16_t kVersion = 1;
constexpr std::size_t kCrcAt = 2;
constexpr std::size_t kCoveredFrom = 6;
constexpr std::size_t kHeaderSize = 10;
constexpr std::size_t kEntrySize = 46;

}  // namespace

std::vector<std::uint8_t> encode_producer_snapshot(const ProducerState& state) {
  const std::vector<ProducerEntry> entries = state.entries();
  std::vector<std::uint8_t> bytes(kHeaderSize + entries.size() * kEntrySize);
  base::store_be(bytes.data(), kVersion);
  base::store_be(bytes.data() + kCoveredFrom, static_cast<std::int32_t>(entries.size()));
  std::uint8_t* out = bytes.data() + kHeaderSize;
  for (const ProducerEntry& entry : entries) {
    base::store_be(out, entry.producer_id);
    base::store_be(out + 8, entry.epoch);
    base::store_be(out + 10, entry.last_sequence());
    base::store_be(out + 14, entry.last_offset());
    base::store_be(out + 22, entry.has_batches() ? entry.batches[entry.batch_count - 1U].offset_delta : 0);
    base::store_be(out + 26, entry.last_timestamp);
    base::store_be(out + 34, entry.coordinator_epoch);
    base::store_be(out + 38, entry.current_txn_first_offset);
    out += kEntrySize;
  }
  base::store_be(bytes.data() + kCrcAt, base::crc32c(std::span(bytes).subspan(kCoveredFrom)));
  return bytes;
}

std::optional<std::vector<ProducerEntry>> decode_producer_snapshot(std::span<const std::uint8_t> bytes) {
  if (bytes.size() < kHeaderSize || base::load_be<std::int16_t>(bytes.data()) != kVersion) return std::nullopt;
  if (base::load_be<std::uint32_t>(bytes.data() + kCrcAt) != base::crc32c(bytes.subspan(kCoveredFrom)))
    return std::nullopt;
  const auto count = base::load_be<std::int32_t>(bytes.data() + kCoveredFrom);
  if (count < 0 || bytes.size() != kHeaderSize + static_cast<std::size_t>(count) * kEntrySize) return std::nullopt;
  std::vector<ProducerEntry> entries(static_cast<std::size_t>(count));
  const std::uint8_t* in = bytes.data() + kHeaderSize;
  for (ProducerEntry& entry : entries) {
    entry.producer_id = base::load_be<std::int64_t>(in);
    entry.epoch = base::load_be<std::int16_t>(in + 8);
    entry.last_timestamp = base::load_be<std::int64_t>(in + 26);
    entry.coordinator_epoch = base::load_be<std::int32_t>(in + 34);
    entry.current_txn_first_offset = base::load_be<std::int64_t>(in + 38);
    const auto last_offset = base::load_be<std::int64_t>(in + 14);
    if (last_offset >= 0)
      entry.add_batch({.last_offset = last_offset,
                       .timestamp = entry.last_timestamp,
                       .last_sequence = base::load_be<std::int32_t>(in + 10),
                       .offset_delta = base::load_be<std::int32_t>(in + 22)});
    in += kEntrySize;
  }
  return entries;
}

}  // namespace thalweg::storage
