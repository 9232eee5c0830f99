#include "codegen/names.h"

#include <algorithm>
#include <cctype>

namespace thalweg::codegen {

namespace {

bool upper(char c) { return std::isupper(static_cast<unsigned char>(c)) != 0; }
char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

std::string snake_case(std::string_view name) {
  std::string result;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool starts_word =
        upper(name[i]) && i > 0 && (!upper(name[i - 1]) || (i + 1 < name.size() && !upper(name[i + 1])));
    if (starts_word) result += '_';
    result += lower(name[i]);
  }
  static constexpr std::string_view kKeywords[] = {"default",   "operator", "delete", "new", "class",
                                                   "namespace", "and",      "or",     "not", "union",
                                                   "int",       "bool",     "this",   "enum"};
  if (std::ranges::find(kKeywords, result) != std::end(kKeywords)) result += '_';
  return result;
}

std::string json_key(std::string_view name) {
  std::string result(name);
  if (!result.empty()) result[0] = lower(result[0]);
  return result;
}

}  // namespace thalweg::codegen
