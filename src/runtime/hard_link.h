// A second name for a file that nobody changes any more.
#pragma once

#include <string>

#include "runtime/file.h"

namespace thalweg::runtime {

// Makes `to` another name of `from`.
//   errors   EXDEV, EPERM and others where the two cannot share a file: then it has to be copied
IoResult<void> hard_link(const std::string& from, const std::string& to);

}  // namespace thalweg::runtime
