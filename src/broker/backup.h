// Backup: a copy of everything that a running broker keeps, as one data folder that another can be started on.
//
// The store is copied first, as of one moment; then the logs, one partition after the other. So every topic and every
// committed offset of the copy has its records in it, and everything that was acknowledged before the backup began is
// there. What comes while it runs may be there, partition by partition. Closed segments get a second name where the
// target is on the same file system, for nothing of them changes any more; everything else is copied. While its files
// are copied, a partition's segments are neither deleted nor compacted; appends go on.
//
// The copy is like the folder of a broker that was killed: a start recovers the last segment of each log. Partitions of
// several log.dirs come together in the one folder.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include "base/result.h"
#include "broker/broker.h"

namespace thalweg::broker {

// In a folder that is being copied to and is not whole as yet. No broker starts on one.
inline constexpr const char* kIncompleteCopyFileName = "incomplete-copy";

struct BackupReport {
  std::size_t topics = 0;
  std::size_t partitions = 0;
  std::uint64_t bytes_copied = 0;
  std::uint64_t bytes_linked = 0;
  std::size_t topics_left_out = 0;  // deleted while the backup ran
};

// Writes the backup to `target`, a folder that is missing or empty. Blocks, so call it on a thread that is no core's.
// Where `cancelled` becomes true it ends with an error.
//   errors   one line: what could not be read or written; what was written stays, marked as incomplete
base::Result<BackupReport, std::string> back_up(Broker& broker, const std::string& target,
                                                const std::atomic<bool>& cancelled);

}  // namespace thalweg::broker
