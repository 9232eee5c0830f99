// Keys of a client metrics subscription.

#include "config/table_build.h"

namespace thalweg::config {

using namespace build;

std::span<const ConfigKey> client_metrics_keys() {
  static constexpr ConfigKey kKeys[] = {
      key("interval.ms", Type::int_, "300000", kMedium, kPerResource, kUsed, between(100, 3600000),
          "Time (ms) between two metrics pushes of a matching client."),
      key("match", Type::list, "", kMedium, kPerResource, kUsed, of(Rule::client_match),
          "Which clients are meant, as `attribute=regular expression` pairs that must all match. Empty: every client."),
      key("metrics", Type::list, "", kMedium, kPerResource, kUsed, any_list(),
          "Prefixes of the metric names to push. `*` means all, empty means none."),
  };
  return kKeys;
}

}  // namespace thalweg::config
