#include "security/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include "base/check.h"

namespace thalweg::security {

namespace {

const EVP_MD* md_of(Hash hash) { return hash == Hash::sha_256 ? EVP_sha256() : EVP_sha512(); }

unsigned char* out_of(std::string& bytes) { return reinterpret_cast<unsigned char*>(bytes.data()); }

// Never null: OpenSSL takes a null key for "the same key again".
const unsigned char* in_of(std::string_view bytes) {
  return reinterpret_cast<const unsigned char*>(bytes.empty() ? "" : bytes.data());
}

}  // namespace

std::string digest(Hash hash, std::string_view bytes) {
  std::string result(hash_size(hash), '\0');
  unsigned int size = 0;
  const int done = EVP_Digest(bytes.data(), bytes.size(), out_of(result), &size, md_of(hash), nullptr);
  CHECK(done == 1 && size == result.size(), "OpenSSL hashes");
  return result;
}

std::string hmac(Hash hash, std::string_view key, std::string_view bytes) {
  std::string result(hash_size(hash), '\0');
  unsigned int size = 0;
  const unsigned char* const done =
      HMAC(md_of(hash), in_of(key), static_cast<int>(key.size()), in_of(bytes), bytes.size(), out_of(result), &size);
  CHECK(done != nullptr && size == result.size(), "OpenSSL hashes with a key");
  return result;
}

std::string pbkdf2(Hash hash, std::string_view password, std::string_view salt, std::int32_t iterations) {
  std::string result(hash_size(hash), '\0');
  const int done = PKCS5_PBKDF2_HMAC(password.empty() ? "" : password.data(), static_cast<int>(password.size()),
                                     in_of(salt), static_cast<int>(salt.size()), iterations, md_of(hash),
                                     static_cast<int>(result.size()), out_of(result));
  CHECK(done == 1, "OpenSSL derives a key");
  return result;
}

bool equal_secrets(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

std::string base64_encode(std::string_view bytes) {
  std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0');  // with the zero that OpenSSL puts behind it
  const int size = EVP_EncodeBlock(out_of(text), in_of(bytes), static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

std::optional<std::string> base64_decode(std::string_view text) {
  if (text.size() % 4 != 0) return std::nullopt;
  std::string bytes(text.size() / 4 * 3, '\0');
  if (!text.empty()) {
    const int size = EVP_DecodeBlock(out_of(bytes), in_of(text), static_cast<int>(text.size()));
    if (size < 0) return std::nullopt;
    // It counts what padding stands for as zeros.
    std::size_t padding = 0;
    while (padding < 2 && text[text.size() - 1 - padding] == '=') ++padding;
    if (static_cast<std::size_t>(size) < padding) return std::nullopt;
    bytes.resize(static_cast<std::size_t>(size) - padding);
  }
  // OpenSSL passes over white space and loose bits: only one text stands for the bytes.
  if (base64_encode(bytes) != text) return std::nullopt;
  return bytes;
}

}  // namespace thalweg::security
