#include "storage/txn_index.h"

#include <algorithm>
#include <array>

#include "base/endian.h"
#include "storage/batch_scanner.h"

namespace thalweg::storage {

namespace {

constexpr std::int16_t kVersion = 0;

std::unexpected<ReadFault> unknown_version(const runtime::File& file) {
  return std::unexpected(ReadFault::corrupt("version of an entry in " + file.path()));
}

}  // namespace

void encode_txn_index_entry(const AbortedTransaction& transaction, std::uint8_t* out) {
  base::store_be(out, kVersion);
  base::store_be(out + 2, transaction.producer_id);
  base::store_be(out + 10, transaction.first_offset);
  base::store_be(out + 18, transaction.last_offset);
  base::store_be(out + 26, transaction.last_stable_offset);
}

std::optional<AbortedTransaction> decode_txn_index_entry(const std::uint8_t* in) {
  if (base::load_be<std::int16_t>(in) != kVersion) return std::nullopt;
  return AbortedTransaction{.producer_id = base::load_be<std::int64_t>(in + 2),
                            .first_offset = base::load_be<std::int64_t>(in + 10),
                            .last_offset = base::load_be<std::int64_t>(in + 18),
                            .last_stable_offset = base::load_be<std::int64_t>(in + 26)};
}

ReadOutcome<bool> collect_aborted(const std::shared_ptr<runtime::File>& file, std::uint32_t count, std::int64_t offset,
                                  std::int64_t upper_bound_offset, Blocking blocking,
                                  std::vector<AbortedTransaction>& into) {
  // Markers are in the order of their offsets: find the first at or after `offset`.
  std::uint32_t next = 0;
  for (std::uint32_t high = count; next < high;) {
    const std::uint32_t middle = next + (high - next) / 2;
    std::array<std::uint8_t, kTxnIndexEntrySize> bytes;
    TRY(read_exactly(file, std::uint64_t{middle} * kTxnIndexEntrySize, bytes, blocking));
    const auto entry = decode_txn_index_entry(bytes.data());
    if (!entry) return unknown_version(*file);
    if (entry->last_offset < offset) {
      next = middle + 1;
    } else {
      high = middle;
    }
  }
  constexpr std::uint32_t kAtOnce = 120;
  std::array<std::uint8_t, kAtOnce * kTxnIndexEntrySize> chunk;
  while (next < count) {
    const std::uint32_t n = std::min(count - next, kAtOnce);
    TRY(read_exactly(file, std::uint64_t{next} * kTxnIndexEntrySize, std::span(chunk).first(n * kTxnIndexEntrySize),
                     blocking));
    for (std::uint32_t i = 0; i < n; ++i) {
      const auto entry = decode_txn_index_entry(chunk.data() + i * kTxnIndexEntrySize);
      if (!entry) return unknown_version(*file);
      if (entry->last_offset >= offset && entry->first_offset < upper_bound_offset) into.push_back(*entry);
      if (entry->last_stable_offset >= upper_bound_offset) return true;
    }
    next += n;
  }
  return false;
}

}  // namespace thalweg::storage
