// Reads a vector file: gzipped lines of JSON.
#pragma once

#include <functional>
#include <string>

#include "vectors/message_json.h"

namespace thalweg::protocol {

// Calls `each` with every line of tests/vectors/NAME, parsed. Aborts the test where the file is missing.
void for_each_line(const std::string& name, const std::function<void(const Json&)>& each);
// The bytes of a hexadecimal string.
Bytes from_hex(std::string_view hex);

}  // namespace thalweg::protocol
