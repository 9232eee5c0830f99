// The records of a batch or an old message in a log.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "inspect/log_scanner.h"
#include "protocol/compression.h"
#include "protocol/legacy_message_set.h"
#include "protocol/record_batch.h"

namespace thalweg::inspect {

// What the records of one batch may take once they are decompressed, in bytes.
inline constexpr std::uint64_t kUnpackedMax = std::uint64_t{256} << 20;

// Reads the records of a sound item, one after the other. The item and the decompressor must outlive it.
class LogRecords {
 public:
  //   errors   one line: the records cannot be decompressed
  static base::Result<LogRecords, std::string> open(const LogItem& item, protocol::Decompressor& decompressor);

  // The next record; false: there are no more.
  //   errors   one line: a record that breaks the format
  base::Result<bool, std::string> next(protocol::Record& record);
  // Bytes of all records, decompressed.
  [[nodiscard]] std::uint64_t plain_bytes() const { return plain_bytes_; }

 private:
  LogRecords() = default;
  std::optional<protocol::RecordReader> records_;
  std::optional<protocol::LegacyReader> messages_;
  std::uint64_t plain_bytes_ = 0;
};

}  // namespace thalweg::inspect
