// Any bytes as the name in a client's certificate, which is read before anybody is known: what is printed has no zero
// byte, and the rules for principals take it.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/check.h"
#include "security/distinguished_name.h"
#include "security/principal_mapping.h"

using namespace thalweg;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto mapping = security::PrincipalMapping::parse("RULE:^CN=(.*?),OU=(.*)$/$1@$2/L,DEFAULT");
  CHECK(mapping.has_value(), "the rules are good");
  const unsigned char* at = data;
  X509_NAME* name = d2i_X509_NAME(nullptr, &at, static_cast<long>(size));
  if (name == nullptr) return 0;
  const std::string text = security::distinguished_name(name);
  const int parts = X509_NAME_entry_count(name);
  X509_NAME_free(name);
  CHECK(text.empty() == (parts == 0), "a part is at least its type");
  CHECK(text.find('\0') == std::string::npos, "a zero is written as \\00");
  const auto user = mapping->user_name(text);
  CHECK(user.has_value(), "DEFAULT takes what is left");
  return 0;
}
