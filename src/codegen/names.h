// How names of the schemas become names of C++.
#pragma once

#include <string>
#include <string_view>

namespace thalweg::codegen {

// ThrottleTimeMs, throttleTimeMs -> throttle_time_ms. A C++ keyword gets an underscore behind it.
std::string snake_case(std::string_view name);
// ThrottleTimeMs -> throttleTimeMs, the key that the reference's JSON uses.
std::string json_key(std::string_view name);

}  // namespace thalweg::codegen
