// Where the bytes come from that `thalweg decode` explains.
#pragma once

#include <string>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace thalweg::cli {

// More than this is not read: what is decoded as one piece stands in memory as one piece.
inline constexpr std::size_t kInputMax = std::size_t{1} << 30;

// All of a file, or of standard input where `path` is "-". The error is one line.
base::Result<base::Bytes, std::string> read_all(const std::string& path);

// The bytes that the words of the command line stand for: nothing or "-" for standard input, the name of a file, or
// the bytes themselves as hexadecimal or base64. `form`: auto, hex, base64 or binary, of what was read. The error is
// one line.
base::Result<base::Bytes, std::string> read_input(const std::vector<std::string>& words, const std::string& form);

}  // namespace thalweg::cli
