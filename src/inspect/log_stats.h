// LogStats: what the batches of a log add up to.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "inspect/log_scanner.h"
#include "protocol/compression.h"

namespace thalweg::inspect {

struct LogStats {
  // Of one compression; by number of protocol::CompressionType.
  struct Codec {
    std::uint64_t batches = 0;
    std::uint64_t records = 0;
    std::uint64_t stored_bytes = 0;  // of the records, as they are in the file
    std::uint64_t plain_bytes = 0;   // of the records, decompressed
  };
  static constexpr std::size_t kCodecs = 5;
  struct Largest {
    std::uint64_t size_bytes = 0;
    std::int64_t offset = -1;
    std::string where;  // its file
  };

  std::uint64_t files = 0;
  std::uint64_t file_bytes = 0;
  std::uint64_t batches = 0;  // messages of old formats count as one each
  std::uint64_t batch_bytes = 0;
  std::uint64_t old_messages = 0;
  std::uint64_t transactional_batches = 0;
  std::uint64_t control_batches = 0;
  std::uint64_t control_records = 0;
  // Without control records.
  std::uint64_t records = 0;
  std::uint64_t keys = 0;         // that are not null
  std::uint64_t null_values = 0;  // tombstones of compacted topics
  std::uint64_t key_bytes = 0;
  std::uint64_t value_bytes = 0;
  std::uint64_t headers = 0;
  std::array<Codec, kCodecs> codecs{};
  std::optional<std::int64_t> first_offset;
  std::optional<std::int64_t> last_offset;
  std::optional<std::int64_t> first_timestamp;  // the smallest, in milliseconds
  std::optional<std::int64_t> last_timestamp;   // the greatest
  Largest largest_batch;
  Largest largest_record;
  std::uint64_t damages = 0;
  std::uint64_t damaged_bytes = 0;

  // Counts a sound batch or message with its records. `where` names the file that it is in.
  //   errors   one line: what is wrong with the records; those before it are counted
  base::Result<void, std::string> add(const LogItem& item, const std::string& where,
                                      protocol::Decompressor& decompressor);
  // Counts what is damaged.
  void add_damage(const LogItem& item);
  // Adds what another log has. Offsets of different partitions say nothing together and go.
  void merge(const LogStats& other);
};

}  // namespace thalweg::inspect
