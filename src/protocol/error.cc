#include "protocol/error.h"

#include <array>

#include "base/letter_case.h"

namespace thalweg::protocol {

namespace {

struct Entry {
  ErrorCode code;
  std::string name;
  std::string_view text;
  bool retriable;
};

const Entry* find(ErrorCode code) {
  static const auto* const table = new auto(std::to_array<Entry>({
#define ERROR_CODE(name, number, retriable, text) Entry{ErrorCode::name, base::upper_case(#name), text, retriable},
#include "protocol/error_codes.def"
#undef ERROR_CODE
  }));
  // The numbers are dense from -1 up.
  const int index = static_cast<int>(code) + 1;
  if (index < 0 || static_cast<std::size_t>(index) >= table->size()) return nullptr;
  return &(*table)[static_cast<std::size_t>(index)];
}

}  // namespace

std::string_view error_name(ErrorCode code) {
  const Entry* entry = find(code);
  return entry == nullptr ? std::string_view{} : std::string_view(entry->name);
}

std::string_view error_text(ErrorCode code) {
  const Entry* entry = find(code);
  return entry == nullptr ? std::string_view{} : entry->text;
}

bool is_retriable(ErrorCode code) {
  const Entry* entry = find(code);
  return entry != nullptr && entry->retriable;
}

}  // namespace thalweg::protocol
