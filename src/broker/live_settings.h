// LiveSettings: what the broker itself reads of the settings that change while it runs. Each core has its own, as of
// its view of the metadata (Shard::live). What topics take over from the broker is in TopicSettings.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "config/config.h"

namespace thalweg::broker {

struct LiveSettings {
  struct Cleaner {
    std::int32_t threads = 1;                      // log.cleaner.threads
    double io_max_bytes_per_second = 0;            // log.cleaner.io.max.bytes.per.second
    std::int64_t dedupe_buffer_bytes = 128 << 20;  // log.cleaner.dedupe.buffer.size
    double load_factor = 0.9;                      // log.cleaner.io.buffer.load.factor
    std::int64_t backoff_ms = 15'000;              // log.cleaner.backoff.ms
  };
  struct Connections {
    std::int32_t most = INT32_MAX;                                 // max.connections
    std::int32_t most_a_second = INT32_MAX;                        // max.connection.creation.rate
    std::int32_t most_per_ip = INT32_MAX;                          // max.connections.per.ip
    std::vector<std::pair<std::string, std::int32_t>> most_of_ip;  // max.connections.per.ip.overrides
  };
  Cleaner cleaner;
  Connections connections;
  std::int32_t recovery_threads = 2;  // num.recovery.threads.per.data.dir
  std::int64_t reserved_bytes = 0;    // thalweg.log.dirs.reserved.bytes

  // Reads them from the settings in force.
  static LiveSettings read(const config::Config& config);
};

}  // namespace thalweg::broker
