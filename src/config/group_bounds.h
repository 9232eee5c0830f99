// Which broker keys bound what a group may set.
#pragma once

#include <span>
#include <string_view>

namespace thalweg::config {

// A group key's value must lie between those of two broker keys; an empty name is no bound.
struct GroupBounds {
  std::string_view key;
  std::string_view low;
  std::string_view high;
};

std::span<const GroupBounds> group_bounds();

}  // namespace thalweg::config
