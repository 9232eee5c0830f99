// Result: a value or the reason why there is none. Faults that bytes from outside can cause are values, never
// exceptions.
#pragma once

#include <expected>
#include <utility>

namespace thalweg::base {

template <class T, class E>
using Result = std::expected<T, E>;

}  // namespace thalweg::base

#define THALWEG_CONCAT_(a, b) a##b
#define THALWEG_CONCAT(a, b) THALWEG_CONCAT_(a, b)

// TRY(expression): returns the error from the enclosing function where there is one.
#define TRY(expression)                                                       \
  do {                                                                        \
    if (auto try_result = (expression); !try_result.has_value()) [[unlikely]] \
      return std::unexpected(std::move(try_result).error());                  \
  } while (false)

// ASSIGN_OR_RETURN(declaration, expression): declares the value, or returns the error.
#define ASSIGN_OR_RETURN(declaration, expression) \
  ASSIGN_OR_RETURN_(THALWEG_CONCAT(result_, __LINE__), declaration, expression)
#define ASSIGN_OR_RETURN_(result, declaration, expression) \
  auto result = (expression);                              \
  if (!result.has_value()) [[unlikely]]                    \
    return std::unexpected(std::move(result).error());     \
  declaration = std::move(*result)

// The same inside a coroutine.
#define CO_TRY(expression)                                                    \
  do {                                                                        \
    if (auto try_result = (expression); !try_result.has_value()) [[unlikely]] \
      co_return std::unexpected(std::move(try_result).error());               \
  } while (false)
#define CO_ASSIGN_OR_RETURN(declaration, expression) \
  CO_ASSIGN_OR_RETURN_(THALWEG_CONCAT(result_, __LINE__), declaration, expression)
#define CO_ASSIGN_OR_RETURN_(result, declaration, expression) \
  auto result = (expression);                                 \
  if (!result.has_value()) [[unlikely]]                       \
    co_return std::unexpected(std::move(result).error());     \
  declaration = std::move(*result)
