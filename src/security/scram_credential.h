// SCRAM credentials: made of a password, and pretended for users that do not exist.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "records/scram_credential.h"
#include "security/crypto.h"

namespace thalweg::security {

// What Kafka takes; the least is also what is used where nobody says.
inline constexpr std::int32_t kLeastScramIterations = 4096;
inline constexpr std::int32_t kMostScramIterations = 16'384;
inline constexpr std::size_t kScramSaltBytes = 32;

// The mechanism's SASL name, such as SCRAM-SHA-256; empty for a number that is none.
std::string_view name_of(records::ScramMechanism mechanism);
// The mechanism of that SASL name.
std::optional<records::ScramMechanism> scram_mechanism(std::string_view name);
// The hash that a mechanism is made with. It must be a known one.
Hash hash_of(records::ScramMechanism mechanism);

// The credential of whoever knows `salted`, which is a password that pbkdf2 has salted: what admin clients send.
//   source   RFC 5802, section 3
records::ScramCredential credential_of_salted(records::ScramMechanism mechanism, std::string_view salted,
                                              std::string_view salt, std::int32_t iterations);
// The credential of whoever knows the password. Costs `iterations` keyed hashes: milliseconds.
records::ScramCredential credential_of(records::ScramMechanism mechanism, std::string_view password,
                                       std::string_view salt, std::int32_t iterations);

// A salt of up to 64 bytes that always is the same for a name, and tells nothing to whoever does not know the secret.
std::string salt_for(std::string_view secret, std::string_view name, std::size_t size = kScramSaltBytes);

// What can be seen of a credential from outside.
struct ScramShape {
  std::size_t salt_bytes = kScramSaltBytes;
  std::int32_t iterations = kLeastScramIterations;
};

// The credential that a user without one is answered from, so that a client cannot find out who exists: the same salt
// each time, as if it were stored, and keys that no password has.
records::ScramCredential decoy_credential(records::ScramMechanism mechanism, std::string_view secret,
                                          std::string_view user, ScramShape shape = {});

}  // namespace thalweg::security
