// The least that a coroutine server does for a request: read the frame, copy a canned answer, write it. A Produce
// request is written to a file first, the offsets of an OffsetCommit request to an OffsetTable.
#pragma once

#include <string>

#include "floor/usage.h"

namespace thalweg::floor {

struct CoroutineOptions {
  std::string folder;       // where files are made, which do not stay
  unsigned short port = 0;  // on 127.0.0.1; 0 takes a free one
  bool commits = false;     // with an OffsetTable, so that OffsetCommit is served
};

// Serves with one thread, and one more for the offsets, until SIGTERM or SIGINT, and prints where it listens.
void serve_requests(const CoroutineOptions& options, Usage& usage);

}  // namespace thalweg::floor
