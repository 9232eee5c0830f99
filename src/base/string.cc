#include "base/string.h"

#include <cstring>

namespace thalweg::base {

void String::assign(std::string_view text) {
  if (text.empty()) return forget();
  char* copy = new char[text.size()];
  std::memcpy(copy, text.data(), text.size());
  data_ = copy;
  size_ = static_cast<std::uint32_t>(text.size());
  owned_ = true;
}

String& String::operator=(const String& other) {
  if (this != &other) *this = String(other);
  return *this;
}

String& String::operator=(String&& other) noexcept {
  if (this != &other) {
    if (owned_) delete[] data_;
    data_ = other.data_;
    size_ = other.size_;
    owned_ = other.owned_;
    other.forget();
  }
  return *this;
}

}  // namespace thalweg::base
