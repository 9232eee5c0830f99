// LogRecovery: opens a log. See Log::open for what it does; this is how.
//
//   1. the folder is listed, leftovers are cleared away                        (LogFolder)
//   2. segments that are known to be durable are taken over as their files say; where an index is missing it is rebuilt
//   3. after an unclean shutdown the segment of the recovery point and those behind it are walked batch by batch; the
//   first
//      batch that is not sound ends the log
//   4. producer state: from the newest snapshot, and the batches behind it
//
// Segments before that of the recovery point are never cut or deleted: a fault there fails the open. A cut below the
// recovery point itself means that the disk has lost what it had promised to keep: an error line, and a flag in the
// report.
#pragma once

#include <cstdint>
#include <string>

#include "storage/log.h"
#include "storage/log_folder.h"

namespace thalweg::storage {

class LogRecovery {
 public:
  // `log` is empty as yet.
  LogRecovery(Log& log, const OpenOptions& options) : log_(log), options_(options) {}

  runtime::IoResult<void> run();

  // Producer state at `offset` into the log's state: from the newest snapshot at or before it, and the batches between.
  // Also for truncation, on a log that is open.
  runtime::IoResult<void> load_producers(std::int64_t offset);
  // Cuts the last segment of an open log to `size` bytes and rebuilds what follows from it: indexes, producer state,
  // log end.
  runtime::IoResult<void> recut(Segment& segment, std::uint32_t size);
  // Lists the snapshots in the folder, for what is called outside run().
  runtime::IoResult<void> list_snapshots();
  // Removes the snapshots that no start will ask for: those behind the log end and those not at a segment's begin,
  // except the newest.
  runtime::IoResult<void> remove_stray_snapshots();

 private:
  runtime::IoResult<bool> read_leader_epochs();
  runtime::IoResult<void> take_over_segments(std::size_t count);
  runtime::IoResult<void> rebuild_indexes(Segment& segment);
  runtime::IoResult<void> recover_segments(std::size_t first);
  runtime::IoResult<void> delete_segments(std::size_t first);
  runtime::IoResult<void> find_log_end();
  runtime::IoResult<void> restore_windows();
  runtime::IoResult<void> replay(Segment& segment, std::int64_t from_offset, std::int64_t end_offset);
  runtime::IoResult<void> note_producer(Segment& segment, std::span<const std::uint8_t> batch);

  Log& log_;
  const OpenOptions& options_;
  LogFolder folder_;
  bool recovered_ = false;  // producer state is that of the log end already
};

}  // namespace thalweg::storage
