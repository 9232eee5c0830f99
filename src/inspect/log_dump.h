// Shows logs: files, partitions or folders of them, batch by batch, record by record, or summed up.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "inspect/catalog.h"
#include "inspect/log_files.h"
#include "inspect/log_sink.h"
#include "runtime/file.h"

namespace thalweg::inspect {

struct LogDumpOptions {
  // Only records with offsets in [first_offset, last_offset]. The offset index, where it is sound, says where to begin.
  std::optional<std::int64_t> first_offset;
  std::int64_t last_offset = INT64_MAX;
  // From the first record of each partition on that is not older; milliseconds.
  std::optional<std::int64_t> from_time_ms;
  // Only records with exactly this key, or whose key is a message of a coordinator in which this text stands.
  std::optional<std::string> key;
  bool stats = false;    // what it adds up to, instead of batches
  bool records = false;  // the records of every batch
  bool json = false;     // an object on each line
  bool show_secrets = false;

  [[nodiscard]] bool selects() const { return first_offset || from_time_ms || key; }
};

struct LogDumpReport {
  std::uint64_t damages = 0;
  std::uint64_t batches = 0;  // shown or summed up
  bool closed = false;        // the sink takes no more
};

// Writes what is asked for to the sink. What is damaged is named, and the next that is sound follows.
//   errors   one line: a file cannot be read
base::Result<LogDumpReport, std::string> dump_logs(runtime::FileSystem& files, const Catalog& catalog,
                                                   const LogTree& tree, const LogDumpOptions& options, LogSink& sink);

}  // namespace thalweg::inspect
