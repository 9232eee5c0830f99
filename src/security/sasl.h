// What the SASL mechanisms share: how a login fails.
#pragma once

#include <string>

#include "base/result.h"

namespace thalweg::security {

struct SaslFailure {
  std::string reason;     // for the log; no secrets and no user names
  std::string told = {};  // what the client is told; empty: only that its credentials were not taken
};

template <class T>
using SaslResult = base::Result<T, SaslFailure>;

}  // namespace thalweg::security
