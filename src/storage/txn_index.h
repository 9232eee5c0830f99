// The `.txnindex` file of a segment: the transactions that were aborted by a marker in this segment, in the order of
// their markers. A consumer that reads committed records only is told which of them overlap what it reads.
//
//   0  version (0)          int16     18  offset of the marker    int64
//   2  producer id          int64     26  last stable offset      int64   once the marker is written
//  10  first offset         int64
//
// source: AbortedTxn.json, KIP-98
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "storage/read_fault.h"

namespace thalweg::storage {

struct AbortedTransaction {
  std::int64_t producer_id = -1;
  std::int64_t first_offset = -1;
  std::int64_t last_offset = -1;
  std::int64_t last_stable_offset = -1;

  friend bool operator==(const AbortedTransaction&, const AbortedTransaction&) = default;
};

inline constexpr std::size_t kTxnIndexEntrySize = 34;

void encode_txn_index_entry(const AbortedTransaction& transaction, std::uint8_t* out);
// Nothing where the version is not known.
std::optional<AbortedTransaction> decode_txn_index_entry(const std::uint8_t* in);

// Adds the transactions of the file, which has `count` entries, that overlap [offset, upper_bound_offset). True where
// no later segment can have any more.
ReadOutcome<bool> collect_aborted(const std::shared_ptr<runtime::File>& file, std::uint32_t count, std::int64_t offset,
                                  std::int64_t upper_bound_offset, Blocking blocking,
                                  std::vector<AbortedTransaction>& into);

}  // namespace thalweg::storage
