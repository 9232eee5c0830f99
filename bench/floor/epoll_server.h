// The least that a server does for a byte: one thread, one epoll loop, no coroutine and no check.
//   Produce  recv, pwrite, a canned answer; with `flush` one fdatasync for all requests of a round of the loop, before
//            their answers leave
//   Fetch    sendfile out of logs that were written before, behind a canned head
#pragma once

#include <string>

#include "floor/usage.h"

namespace thalweg::floor {

struct EpollOptions {
  std::string folder;           // where files are made; they are removed from it at once
  unsigned short port = 0;      // on 127.0.0.1; 0 takes a free one
  bool flush = false;           // see above
  std::uint64_t log_bytes = 0;  // written to each partition before serving, for Fetch
};

// Serves until SIGTERM or SIGINT, and prints where it listens.
void serve_bytes(const EpollOptions& options, Usage& usage);

}  // namespace thalweg::floor
