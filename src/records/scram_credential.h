// What is kept of a user's SCRAM password: enough to check who knows it, not enough to log in with (RFC 5802).
#pragma once

#include <cstdint>
#include <string>

#include "base/bytes.h"

namespace thalweg::records {

// The numbers are Kafka's (ScramMechanism); they are stored and must not change.
enum class ScramMechanism : std::int8_t { unknown = 0, sha_256 = 1, sha_512 = 2 };

struct ScramCredential {
  std::int32_t iterations = 0;
  base::Bytes salt{};
  base::Bytes stored_key{};
  base::Bytes server_key{};
  friend bool operator==(const ScramCredential&, const ScramCredential&) = default;
};

// Whose credential it is, and for which mechanism.
struct ScramKey {
  std::string user{};
  ScramMechanism mechanism = ScramMechanism::unknown;
  friend bool operator==(const ScramKey&, const ScramKey&) = default;
  friend auto operator<=>(const ScramKey&, const ScramKey&) = default;
};

}  // namespace thalweg::records
