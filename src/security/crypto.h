// The few cryptographic functions that logins are made of, over OpenSSL. Bytes are held as text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace thalweg::security {

enum class Hash : std::uint8_t { sha_256, sha_512 };

// How many bytes it gives.
constexpr std::size_t hash_size(Hash hash) { return hash == Hash::sha_256 ? 32 : 64; }

// The hash of the bytes.
std::string digest(Hash hash, std::string_view bytes);
// The keyed hash of the bytes.
//   source   RFC 2104
std::string hmac(Hash hash, std::string_view key, std::string_view bytes);
// A key of the hash's size made of a password, at the cost of `iterations` (at least 1) keyed hashes.
//   source   RFC 8018, PBKDF2
std::string pbkdf2(Hash hash, std::string_view password, std::string_view salt, std::int32_t iterations);

// Whether two secrets are the same, in a time that only depends on their sizes.
bool equal_secrets(std::string_view a, std::string_view b);

// Base64 with padding, the alphabet that ends in + and /.
//   source   RFC 4648, section 4
std::string base64_encode(std::string_view bytes);
// Nothing where the text is not of that form; exactly what base64_encode gives is taken.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace thalweg::security
