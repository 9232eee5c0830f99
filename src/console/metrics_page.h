// The /metrics page in the Prometheus text format.
#pragma once

#include <cstdint>
#include <string>

#include "broker/broker.h"

namespace thalweg::console {

// What the listeners count.
struct ConnectionCounts {
  std::int64_t open = 0;
  std::int64_t tls_handshakes = 0;
  std::int64_t tls_handshake_failures = 0;
};

// Everything that is counted, summed over the cores. Any thread.
std::string metrics_page(broker::Broker& broker, const ConnectionCounts& connections);

}  // namespace thalweg::console
