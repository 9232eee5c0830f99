// The least that a coroutine server does for a request: read the frame, copy a canned answer, write it. A Produce
// request is written to a file first.
#pragma once

#include <string>

#include "floor/usage.h"

namespace thalweg::floor {

// Serves on 127.0.0.1:`port` (0: a free one) with one thread until SIGTERM or SIGINT, and prints where it listens.
// Files are made in `folder` and removed from it at once.
void serve_requests(const std::string& folder, unsigned short port, Usage& usage);

}  // namespace thalweg::floor
