// What goes into Log::append and what comes out of it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "protocol/error.h"

namespace thalweg::storage {

// A whole record batch (format v2) that has passed validation: size, CRC, records, timestamps (log append time already
// stamped, max timestamp already right). append() patches its base offset and leader epoch in place.
using MutableBatch = std::span<std::uint8_t>;

enum class AppendOrigin : std::uint8_t {
  client,       // sequences are checked, duplicates found
  coordinator,  // transaction markers: epochs are checked, sequences are not
  replication,  // what another log has accepted: offsets and epochs stay as they are, nothing is refused for them
};

// What the broker remembers about a producer between asking the transaction coordinator and the append (KIP-890).
struct TransactionVerification {
  std::int32_t lowest_sequence = INT32_MAX;  // of the batches that asked so far
  bool supports_epoch_bump = false;          // the producer speaks transactions version 2
};

struct AppendOptions {
  AppendOrigin origin = AppendOrigin::client;
  std::int32_t leader_epoch = 0;
  std::int64_t now_ms = 0;  // wall clock; for rolling by time
  // The transaction version that a marker was written with (WriteTxnMarkers), 0 .. 2.
  std::int16_t transaction_version = 0;
  // Set while a transaction of the producer is being verified on this partition.
  std::optional<TransactionVerification> verification = std::nullopt;
};

struct AppendResult {
  protocol::ErrorCode error = protocol::ErrorCode::none;
  std::string detail;  // for the log, where there is an error

  // The write failed. Without `out_of_space` the owner takes the log directory offline; with it later appends may
  // succeed.
  bool write_failed = false;
  bool out_of_space = false;

  // The batch was there already (idempotent producer): the offsets are those of the first time, nothing was written.
  bool duplicate = false;
  std::int64_t duplicate_timestamp = -1;  // its max timestamp, which is the log append time where that is in force

  std::int64_t first_offset = -1;
  std::int64_t last_offset = -1;
  // An acknowledgement that promises durability waits until Log::recovery_point() has reached this offset. For a
  // duplicate as well: its first appearance may not have been synced yet.
  std::int64_t durable_end_offset = -1;
  std::int64_t log_start_offset = 0;
  // A new segment was begun. The owner flushes soon, whatever the acks, as Kafka does on a roll.
  bool rolled = false;
  // The first unstable offset may have changed: a transaction has begun or ended.
  bool transactions_changed = false;

  [[nodiscard]] bool ok() const { return error == protocol::ErrorCode::none; }
};

}  // namespace thalweg::storage
