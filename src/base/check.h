// CHECK states what our own code guarantees. It is always on and never guards bytes from outside.
#pragma once

#include <string_view>

namespace thalweg::base {

// Writes the failed condition with its place to stderr and aborts.
[[noreturn]] void check_failed(const char* condition, const char* file, int line, std::string_view message);

}  // namespace thalweg::base

#define CHECK(condition, ...)                                                                         \
  do {                                                                                                \
    if (!(condition)) [[unlikely]]                                                                    \
      ::thalweg::base::check_failed(#condition, __FILE__, __LINE__, ::std::string_view{__VA_ARGS__}); \
  } while (false)
