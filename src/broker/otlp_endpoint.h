// Where a collector of OpenTelemetry listens.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace thalweg::broker {

struct OtlpEndpoint {
  std::string host;
  std::string port;
  std::string target;  // /v1/metrics

  // Reads http://HOST[:PORT][/PATH]; without a port it is 4318, without a path /v1/metrics.
  //   errors   what is allowed
  static base::Result<OtlpEndpoint, std::string> parse(std::string_view url);
};

}  // namespace thalweg::broker
