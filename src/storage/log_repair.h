// LogRepair: brings the folder of a partition back into a state that a broker opens without loss of what is sound.
//
// Nothing is deleted. A file that is out of use afterwards stays where it is under another name: its own with
// `.damaged` behind it, which no broker reads. Of a last segment whose end alone is torn, the torn bytes go into such a
// file. Any other damaged segment is written anew from its sound batches, at the offsets that they have; where records
// at its end are lost, a batch without records stands for them, so that segments still follow one another. Then
// indexes, producer state and leader epochs are made from the batches, as a broker makes them after an unclean stop.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "runtime/file.h"
#include "storage/topic_partition.h"

namespace thalweg::storage {

// What stands behind the name of a file that is out of use.
inline constexpr const char* kDamagedSuffix = ".damaged";

// A row of sound batches in a `.log` file.
struct SoundRange {
  std::uint64_t position = 0;
  std::uint64_t size = 0;  // bytes

  friend bool operator==(const SoundRange&, const SoundRange&) = default;
};

// A segment of which not all is sound.
struct SegmentRepair {
  std::int64_t base_offset = 0;
  std::uint64_t size_bytes = 0;     // of the `.log` file
  std::vector<SoundRange> sound;    // in the order of the file
  std::int64_t next_offset = 0;     // behind the last sound batch
  std::optional<std::int64_t> end;  // where the next segment begins; nothing: it is the last
};

// Whether all that is wrong with the segment is that it is the last and its end is torn, as a kill may leave it.
bool only_end_is_torn(const SegmentRepair& segment);

struct RepairPlan {
  std::vector<SegmentRepair> segments;
  std::vector<std::string> bad_files;  // names of indexes, snapshots and the like, to be made anew
  bool remake = false;                 // something that is made from the batches is missing

  [[nodiscard]] bool empty() const { return segments.empty() && bad_files.empty() && !remake; }
};

struct RepairOptions {
  std::int64_t log_start_offset = 0;  // of the checkpoint
  std::int64_t log_end_offset = 0;    // behind the last sound batch
  std::int64_t now_ms = 0;            // wall clock
};

struct Repaired {
  std::vector<std::string> done;  // a line for each thing that was done
  std::int64_t log_end_offset = 0;
};

// Does what the plan says, and makes it durable. Nobody else may use the folder.
//   errors   of files; what was done until then stays, and the folder can be checked and repaired again
runtime::IoResult<Repaired> repair_log(runtime::FileSystem& files, const std::string& folder,
                                       const TopicPartition& partition, const RepairPlan& plan,
                                       const RepairOptions& options);

// The first name of NAME.damaged, NAME.damaged.2, … that is free in the folder. Renames the file to it.
//   returns  the new name
runtime::IoResult<std::string> set_aside(runtime::FileSystem& files, const std::string& folder,
                                         const std::string& name);

}  // namespace thalweg::storage
