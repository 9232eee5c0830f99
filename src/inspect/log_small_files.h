// The files beside a `.log` file as lines: indexes, producer snapshots, checkpoints, properties.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "inspect/log_files.h"
#include "inspect/log_sink.h"
#include "runtime/file.h"

namespace thalweg::inspect {

struct SmallFileReport {
  std::uint64_t damages = 0;
  bool closed = false;  // the sink takes no more
};

// Writes a line for each entry of the file, which is of any kind but LogFileKind::log; what breaks the format is a line
// that says so. Indexes are read in pieces.
//   in       json: an object on each line instead of text
//   errors   one line: the file cannot be read
base::Result<SmallFileReport, std::string> print_small_file(runtime::FileSystem& files, const LogFile& file, bool json,
                                                            LogSink& sink);

}  // namespace thalweg::inspect
