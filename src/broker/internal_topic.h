// Topics that the broker makes for itself.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace thalweg::broker {

class Broker;

// Makes the topic with so many partitions and these configs where there is none of that name. Blocks; while the broker
// starts. True where it was made.
//   errors   one line: the metadata store cannot be written, no log directory takes new partitions
base::Result<bool, std::string> create_internal_topic(Broker& broker, std::string_view name, int partitions,
                                                      const std::vector<std::pair<std::string, std::string>>& configs);

}  // namespace thalweg::broker
