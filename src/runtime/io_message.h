// Errors of the file layer for those who answer in lines.
#pragma once

#include <string>
#include <type_traits>
#include <utility>

#include "base/result.h"
#include "runtime/file.h"

namespace thalweg::runtime {

// The same result, with the message of the error as the error.
template <class T>
base::Result<T, std::string> with_message(IoResult<T> result) {
  if (!result) return std::unexpected(result.error().message());
  if constexpr (std::is_void_v<T>) {
    return {};
  } else {
    return std::move(*result);
  }
}

}  // namespace thalweg::runtime
