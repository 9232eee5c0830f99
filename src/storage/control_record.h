// The record of a control batch that ends a transaction.
//
//   key    version int16, type int16 (0 abort, 1 commit)
//   value  version int16, coordinator epoch int32
//
// source: EndTxnMarker.json, KIP-98
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace thalweg::storage {

struct EndTransactionMarker {
  bool commit = false;
  std::int32_t coordinator_epoch = 0;
  std::int64_t timestamp = -1;
};

// The marker in a whole control batch; nothing where the batch is empty, holds another kind of control record, or makes
// no sense.
std::optional<EndTransactionMarker> read_end_transaction_marker(std::span<const std::uint8_t> batch);

}  // namespace thalweg::storage
