// Committer: commits offsets for a group of its own, as a consumer that is assigned its partitions by hand does.
#pragma once

#include <cstdint>
#include <string>

#include "simulation/clients.h"

namespace thalweg::simulation {

class Committer final : public Actor {
 public:
  using Actor::Actor;
  // Every committer of a world has the same.
  static constexpr const char* kGroup = "committer";

 private:
  void do_something(bool winding_down) override;

  std::int64_t next_ = 1;  // each commit has an offset of its own
};

}  // namespace thalweg::simulation
