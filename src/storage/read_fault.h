// ReadFault: why a read of a log's files gave nothing: the disk failed, the bytes make no sense, or they are not in
// memory and the caller did not want to wait.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "runtime/file.h"

namespace thalweg::storage {

// A piece of an open file. It keeps the file open and readable, also after a rename or removal.
struct FileRange {
  std::shared_ptr<runtime::File> file;
  std::uint64_t position = 0;  // bytes
  std::uint64_t size = 0;      // bytes
};

struct ReadFault {
  enum class Kind : std::uint8_t { io, corrupt, cold };
  Kind kind = Kind::io;
  runtime::IoError io;  // io: what failed; corrupt: `what` says where and why
  FileRange cold;       // cold: what to warm() before trying again

  static ReadFault of(runtime::IoError error) { return {.kind = Kind::io, .io = std::move(error), .cold = {}}; }
  static ReadFault corrupt(std::string what) {
    return {.kind = Kind::corrupt, .io = {.error_number = 0, .what = std::move(what)}, .cold = {}};
  }
  static ReadFault wait_for(FileRange range) { return {.kind = Kind::cold, .io = {}, .cold = std::move(range)}; }
};

// The fault as an error of a file (EBADMSG where the bytes make no sense), for callers that wait for the disk anyway.
runtime::IoError as_io_error(ReadFault fault);

template <class T>
using ReadOutcome = base::Result<T, ReadFault>;

// Whether a lookup may wait for the disk. `never` is for an event loop, `allowed` for a pool or a start-up.
enum class Blocking : std::uint8_t { never, allowed };

// Reads the range from disk and drops it, so that it is in the page cache afterwards. For a blocking pool; touches
// nothing but the file.
runtime::IoResult<void> warm(const FileRange& range);
// Whether the range seems to be in the page cache: looks at its first and last page and at one page in each 128 KiB.
bool seems_cached(const FileRange& range);

}  // namespace thalweg::storage
