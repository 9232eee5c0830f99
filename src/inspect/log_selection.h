// What people write to name offsets, times and keys of a log.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace thalweg::inspect {

struct OffsetRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};
// 42, 42-50, or 42- for all from there on. The error is one line.
base::Result<OffsetRange, std::string> parse_offsets(std::string_view text);

// Milliseconds since 1970: a number of them, or a date of UTC, with a time or without: 2024-05-01, 2024-05-01T12:00,
// 2024-05-01T12:00:00.250Z. The error is one line.
base::Result<std::int64_t, std::string> parse_time(std::string_view text);

// The bytes of a key: the text itself, or behind `hex:` hexadecimal digits. The error is one line.
base::Result<std::string, std::string> parse_key(std::string_view text);

}  // namespace thalweg::inspect
