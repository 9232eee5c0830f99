#include "security/distinguished_name.h"

#include <fmt/format.h>
#include <openssl/asn1.h>
#include <openssl/objects.h>

#include <array>
#include <memory>
#include <string_view>

namespace thalweg::security {

namespace {

struct Keyword {
  int nid;
  std::string_view name;
};
constexpr std::array kKeywords = {
    Keyword{NID_commonName, "CN"},        Keyword{NID_countryName, "C"},
    Keyword{NID_localityName, "L"},       Keyword{NID_stateOrProvinceName, "ST"},
    Keyword{NID_organizationName, "O"},   Keyword{NID_organizationalUnitName, "OU"},
    Keyword{NID_streetAddress, "STREET"}, Keyword{NID_domainComponent, "DC"},
    Keyword{NID_userId, "UID"},
};

std::string number_of(const ASN1_OBJECT* type) {
  std::array<char, 128> text{};
  OBJ_obj2txt(text.data(), text.size(), type, 1);
  return text.data();
}

// Types of strings that Java prints as text.
bool is_text(int type) {
  switch (type) {
    case V_ASN1_PRINTABLESTRING:
    case V_ASN1_UTF8STRING:
    case V_ASN1_T61STRING:
    case V_ASN1_IA5STRING:
    case V_ASN1_GENERALSTRING:
    case V_ASN1_BMPSTRING:
      return true;
    default:
      return false;
  }
}

std::string hexadecimal(const ASN1_STRING* value) {
  ASN1_TYPE any{};
  any.type = ASN1_STRING_type(value);
  any.value.asn1_string = const_cast<ASN1_STRING*>(value);
  unsigned char* der = nullptr;
  const int size = i2d_ASN1_TYPE(&any, &der);
  const std::unique_ptr<unsigned char, void (*)(unsigned char*)> owner(der, [](unsigned char* p) { OPENSSL_free(p); });
  std::string text = "#";
  for (int i = 0; i < size; ++i) text += fmt::format("{:02x}", der[i]);
  return text;
}

// How many of the bytes at the front are one character of UTF-8; 0 where they are none.
std::size_t character_size(std::string_view bytes) {
  const auto at = [&](std::size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U; };
  const auto follows = [&](std::size_t i) { return (at(i) & 0xC0U) == 0x80U; };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const bool too_short = first == 0xE0 && at(1) < 0xA0;
    const bool surrogate = first == 0xED && at(1) >= 0xA0;
    return follows(1) && follows(2) && !too_short && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool too_short = first == 0xF0 && at(1) < 0x90;
    const bool too_large = first == 0xF4 && at(1) >= 0x90;
    return follows(1) && follows(2) && follows(3) && !too_short && !too_large ? 4 : 0;
  }
  return 0;
}

// The bytes as Java reads them whatever the type of the string: as UTF-8, and what is none becomes U+FFFD.
std::string utf8(const ASN1_STRING* value) {
  std::string_view bytes(reinterpret_cast<const char*>(ASN1_STRING_get0_data(value)),
                         static_cast<std::size_t>(ASN1_STRING_length(value)));
  std::string text;
  while (!bytes.empty()) {
    const std::size_t size = character_size(bytes);
    text += size == 0 ? std::string_view("\xEF\xBF\xBD") : bytes.substr(0, size);
    bytes.remove_prefix(size == 0 ? 1 : size);
  }
  return text;
}

// Characters with a meaning of their own get a backslash, and so do blanks at either end.
std::string escaped(std::string_view value) {
  constexpr std::string_view kSpecial = ",=+<>#;\"\\";
  const auto is_blank = [](char c) { return c == ' ' || c == '\r'; };
  std::size_t lead = 0;
  while (lead < value.size() && is_blank(value[lead])) ++lead;
  std::size_t tail = value.size();
  while (tail > lead && is_blank(value[tail - 1])) --tail;
  std::string text;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (value[i] == '\0') {
      text += "\\00";
      continue;
    }
    if (i < lead || i >= tail || kSpecial.contains(value[i])) text += '\\';
    text += value[i];
  }
  return text;
}

std::string attribute(const X509_NAME_ENTRY* entry) {
  const ASN1_OBJECT* type = X509_NAME_ENTRY_get_object(entry);
  const ASN1_STRING* value = X509_NAME_ENTRY_get_data(entry);
  const int nid = OBJ_obj2nid(type);
  for (const Keyword& keyword : kKeywords)
    if (keyword.nid == nid)
      return fmt::format("{}={}", keyword.name,
                         is_text(ASN1_STRING_type(value)) ? escaped(utf8(value)) : hexadecimal(value));
  return number_of(type) + "=" + hexadecimal(value);
}

}  // namespace

std::string distinguished_name(const X509_NAME* name) {
  // Entries of one set are one part of the name, joined by `+`; the parts come in the opposite order.
  std::string text;
  std::string part;
  int set = -1;
  const auto put_part_first = [&] {
    if (part.empty()) return;
    text = text.empty() ? part : part + "," + text;
    part.clear();
  };
  for (int i = 0; i < X509_NAME_entry_count(name); ++i) {
    const X509_NAME_ENTRY* entry = X509_NAME_get_entry(name, i);
    if (X509_NAME_ENTRY_set(entry) != set) put_part_first();
    set = X509_NAME_ENTRY_set(entry);
    part += (part.empty() ? "" : "+") + attribute(entry);
  }
  put_part_first();
  return text;
}

}  // namespace thalweg::security
