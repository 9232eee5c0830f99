// LogCheck: whether the folder of a partition holds what it should, file by file and file against file. Reads only.
//
// Checked are: every batch (header, CRC, order of offsets, its records), the two indexes and the transaction index
// against the batches, the snapshots of the producers, the leader epochs against the batches, and whether the segments
// follow one another. What a repair needs to know comes out of the same walk (storage/log_repair.h).
//
// Formats are Kafka's, so a folder that Kafka has written can be checked too; what only Kafka leaves (indexes with room
// set aside behind their entries) is no fault.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "base/uuid.h"
#include "protocol/compression.h"
#include "runtime/file.h"
#include "storage/log_repair.h"

namespace thalweg::inspect {

// One thing that is not as it must be.
struct Finding {
  std::string file;                       // its path, or that of a folder
  std::optional<std::uint64_t> position;  // bytes
  std::optional<std::int64_t> offset;
  std::string what;  // what was expected and what stands there
};
using FindingSink = std::function<void(Finding)>;

// "FILE: position 12, offset 3: WHAT", on one line.
std::string finding_line(const Finding& finding);

struct LogCheckReport {
  std::optional<base::Uuid> topic_id;     // of partition.metadata, where that can be read
  std::int64_t first_offset = 0;          // of the oldest segment
  std::int64_t log_end_offset = 0;        // behind the last sound batch
  std::int32_t latest_epoch = -1;         // of the checkpoint or of a batch, whichever is later
  std::int64_t largest_producer_id = -1;  // that a batch or a snapshot names
  std::uint64_t segments = 0;
  std::uint64_t batches = 0;  // sound ones
  std::uint64_t records = 0;
  std::uint64_t bytes = 0;
  std::size_t open_transactions = 0;  // at its end
  std::uint64_t findings = 0;
  // What a repair would do; nothing where there is nothing that it can do.
  storage::RepairPlan plan;
};

class LogCheck {
 public:
  struct Options {
    std::int64_t log_start_offset = 0;  // of the checkpoint; batches before it may be gone
    // Compaction takes records, so offsets may be missing between segments.
    bool gaps_allowed = false;
  };
  // `sink` is called with each finding as it is met.
  LogCheck(runtime::FileSystem& files, FindingSink sink) : files_(files), sink_(std::move(sink)) {}

  // Checks the folder of the partition.
  //   errors   the folder cannot be listed
  runtime::IoResult<LogCheckReport> run(const std::string& folder, const Options& options);

 private:
  class Folder;
  runtime::FileSystem& files_;
  FindingSink sink_;
  protocol::Decompressor decompressor_;
};

}  // namespace thalweg::inspect
