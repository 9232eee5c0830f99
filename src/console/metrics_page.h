// The /metrics page in the Prometheus text format.
#pragma once

#include <cstdint>
#include <string>

#include "broker/broker.h"

namespace thalweg::console {

// Everything that is counted, summed over the cores. `connections` is how many are open. Any thread.
std::string metrics_page(broker::Broker& broker, std::int64_t connections);

}  // namespace thalweg::console
