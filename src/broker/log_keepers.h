// LogKeepers: who looks after the logs of one core between requests.
#pragma once

#include "broker/retention.h"

namespace thalweg::broker {

struct LogKeepers {
  explicit LogKeepers(Shard& shard) : retention(shard) {}

  Retention retention;
};

}  // namespace thalweg::broker
