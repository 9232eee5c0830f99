// Audit: looks through everything that the broker has, while no other client asks for anything, and compares it with
// the ledger: topics, records, offsets found by number and by time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "simulation/clients.h"
#include "simulation/ledger.h"
#include "simulation/life.h"

namespace thalweg::simulation {

class Audit {
 public:
  Audit(Life& life, Surroundings& world, std::uint64_t seed) : life_(life), world_(world), random_(seed) {}
  ~Audit();
  Audit(const Audit&) = delete;
  Audit& operator=(const Audit&) = delete;

  // Throws a Violation. False where the broker died, or its disk failed, before it was through. `nobody_connected`: the
  // life has just begun, so that nothing of other clients is under way.
  bool run(bool nobody_connected);

 private:
  // Sends and waits for the answer; nothing where the connection ended.
  template <class Request>
  std::optional<typename Request::Response> ask(const Request& request, int version);
  bool check_topics(bool nobody_connected);
  bool check_offsets(bool nobody_connected);
  bool check_partition(const Topic& topic, PartitionId where);
  // The batches from `offset` to the high watermark, or as far as max_bytes go.
  struct Read {
    std::vector<base::Bytes> batches;
    std::int64_t high_watermark = 0;
  };
  std::optional<Read> read(PartitionId where, std::int64_t offset, std::int32_t max_bytes);
  bool check_times(const Topic& topic, PartitionId where, const Read& whole);
  bool check_time(const Topic& topic, PartitionId where, std::int64_t timestamp, std::int64_t expected_offset);

  Life& life_;
  Surroundings& world_;
  runtime::Random random_;
  Client client_;
};

}  // namespace thalweg::simulation
