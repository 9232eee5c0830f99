// Randomness, injected: ids, jitter.
#pragma once

#include <cstdint>
#include <memory>
#include <random>

#include "base/uuid.h"

namespace thalweg::runtime {

// A source of random numbers and ids; one for each core, as it keeps state.
class Random final : public base::UuidSource {
 public:
  // The same seed gives the same sequence.
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  // Seeded by the machine.
  static Random from_machine();

  std::uint64_t next_u64() { return engine_(); }
  // A number in [0, bound); bound > 0.
  std::uint64_t below(std::uint64_t bound) {
    return std::uniform_int_distribution<std::uint64_t>(0, bound - 1)(engine_);
  }
  base::Uuid next() override;

 private:
  std::mt19937_64 engine_;
};

}  // namespace thalweg::runtime
