// The header of a request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/bytes.h"

namespace thalweg::server {

// The client id is a 16-bit string in every version; version 2 has tagged fields behind it.
struct RequestHeader {
  std::int16_t api_key = 0;
  std::int16_t api_version = 0;
  std::int32_t correlation_id = 0;
  std::string_view client_id;  // aliases the frame
  std::size_t size = 0;
};

// Reads the header that a frame begins with. Returns what is wrong with it, or null.
const char* parse_header(const base::Bytes& frame, RequestHeader& header);

// The name of the API, "unknown" where the key is none.
std::string_view api_name(std::int16_t key);

}  // namespace thalweg::server
