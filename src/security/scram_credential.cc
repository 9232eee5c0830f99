#include "security/scram_credential.h"

#include "base/check.h"

namespace thalweg::security {

using records::ScramCredential;
using records::ScramMechanism;

std::string_view name_of(ScramMechanism mechanism) {
  switch (mechanism) {
    case ScramMechanism::sha_256:
      return "SCRAM-SHA-256";
    case ScramMechanism::sha_512:
      return "SCRAM-SHA-512";
    default:
      return {};
  }
}

std::optional<ScramMechanism> scram_mechanism(std::string_view name) {
  for (const auto mechanism : {ScramMechanism::sha_256, ScramMechanism::sha_512})
    if (name_of(mechanism) == name) return mechanism;
  return std::nullopt;
}

Hash hash_of(ScramMechanism mechanism) {
  CHECK(!name_of(mechanism).empty(), "the mechanism is known");
  return mechanism == ScramMechanism::sha_256 ? Hash::sha_256 : Hash::sha_512;
}

ScramCredential credential_of_salted(ScramMechanism mechanism, std::string_view salted, std::string_view salt,
                                     std::int32_t iterations) {
  const Hash hash = hash_of(mechanism);
  return {.iterations = iterations,
          .salt = base::Bytes::copy_of(salt),
          .stored_key = base::Bytes::copy_of(digest(hash, hmac(hash, salted, "Client Key"))),
          .server_key = base::Bytes::copy_of(hmac(hash, salted, "Server Key"))};
}

ScramCredential credential_of(ScramMechanism mechanism, std::string_view password, std::string_view salt,
                              std::int32_t iterations) {
  return credential_of_salted(mechanism, pbkdf2(hash_of(mechanism), password, salt, iterations), salt, iterations);
}

std::string salt_for(std::string_view secret, std::string_view name, std::size_t size) {
  return hmac(Hash::sha_512, secret, std::string("salt ") + std::string(name)).substr(0, size);
}

ScramCredential decoy_credential(ScramMechanism mechanism, std::string_view secret, std::string_view user,
                                 ScramShape shape) {
  // Users have a salt for each mechanism.
  const std::string name = std::string(name_of(mechanism)) + " " + std::string(user);
  return {.iterations = shape.iterations,
          .salt = base::Bytes::copy_of(salt_for(secret, name, shape.salt_bytes)),
          .stored_key = base::Bytes::copy_of(hmac(hash_of(mechanism), secret, "stored " + name)),
          .server_key = base::Bytes::copy_of(hmac(hash_of(mechanism), secret, "server " + name))};
}

}  // namespace thalweg::security
