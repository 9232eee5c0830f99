#include "broker/live_settings.h"

#include "config/value.h"

namespace thalweg::broker {

LiveSettings LiveSettings::read(const config::Config& config) {
  LiveSettings live;
  live.cleaner.threads = config.get_int("log.cleaner.threads");
  live.cleaner.io_max_bytes_per_second = config.get_double("log.cleaner.io.max.bytes.per.second");
  live.cleaner.dedupe_buffer_bytes = config.get_long("log.cleaner.dedupe.buffer.size");
  live.cleaner.load_factor = config.get_double("log.cleaner.io.buffer.load.factor");
  live.cleaner.backoff_ms = config.get_long("log.cleaner.backoff.ms");
  live.connections.most = config.get_int("max.connections");
  live.connections.most_a_second = config.get_int("max.connection.creation.rate");
  live.connections.most_per_ip = config.get_int("max.connections.per.ip");
  const std::string overrides = config.find_string("max.connections.per.ip.overrides").value_or("");
  for (const auto& [address, count] :
       config::parse_address_counts(overrides).value_or(std::vector<config::AddressCount>{}))
    live.connections.most_of_ip.emplace_back(address, count);
  live.recovery_threads = config.get_int("num.recovery.threads.per.data.dir");
  live.reserved_bytes = config.get_long("thalweg.log.dirs.reserved.bytes");
  return live;
}

}  // namespace thalweg::broker
