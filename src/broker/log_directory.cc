#include "broker/log_directory.h"

#include <functional>
#include <queue>
#include <utility>

namespace thalweg::broker {

std::vector<std::size_t> fewest_first(const std::vector<std::optional<std::int64_t>>& partitions, std::int32_t count) {
  using Load = std::pair<std::int64_t, std::size_t>;  // partitions, directory
  std::priority_queue<Load, std::vector<Load>, std::greater<>> loads;
  for (std::size_t i = 0; i < partitions.size(); ++i)
    if (partitions[i]) loads.emplace(*partitions[i], i);
  std::vector<std::size_t> result;
  while (!loads.empty() && static_cast<std::int32_t>(result.size()) < count) {
    const auto [load, directory] = loads.top();
    loads.pop();
    result.push_back(directory);
    loads.emplace(load + 1, directory);
  }
  return result;
}

}  // namespace thalweg::broker
