// LogKeepers: who looks after the logs of one core between requests.
#pragma once

#include "broker/log_cleaner.h"
#include "broker/log_scrub.h"
#include "broker/producer_expiry.h"
#include "broker/retention.h"

namespace thalweg::broker {

struct LogKeepers {
  explicit LogKeepers(Shard& shard) : retention(shard), cleaner(shard), producers(shard), scrub(shard) {}

  Retention retention;
  LogCleaner cleaner;
  ProducerExpiry producers;
  LogScrub scrub;
};

}  // namespace thalweg::broker
