#include "runtime/hard_link.h"

#include <unistd.h>

#include <cerrno>

namespace thalweg::runtime {

IoResult<void> hard_link(const std::string& from, const std::string& to) {
  if (::link(from.c_str(), to.c_str()) != 0) return std::unexpected(IoError{errno, "link " + from + " as " + to});
  return {};
}

}  // namespace thalweg::runtime
