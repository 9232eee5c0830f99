// The error codes of the Kafka protocol, and Result: a value or a code for the client with a detail for the log.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"

namespace thalweg::protocol {

enum class ErrorCode : std::int16_t {
#define ERROR_CODE(name, number, retriable, text) name = number,
#include "protocol/error_codes.def"
#undef ERROR_CODE
};

// Kafka's name of the code, such as NOT_COORDINATOR; "UNKNOWN(n)" has no name of its own and gives an empty view.
std::string_view error_name(ErrorCode code);
// What the code says to a person.
std::string_view error_text(ErrorCode code);
// Whether a client may try the same again.
bool is_retriable(ErrorCode code);

struct Error {
  ErrorCode code = ErrorCode::none;
  std::string detail;
  friend bool operator==(const Error&, const Error&) = default;
};

template <class T>
using Result = base::Result<T, Error>;

// `return fail(ErrorCode::corrupt_message, "crc …")`.
inline std::unexpected<Error> fail(ErrorCode code, std::string detail = {}) {
  return std::unexpected(Error{code, std::move(detail)});
}

}  // namespace thalweg::protocol
