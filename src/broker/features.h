// Feature levels: what clients read to decide how to behave. A feature is told only once what it stands for is served.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace thalweg::broker {

struct Feature {
  std::string_view name;
  std::int16_t min_supported;
  std::int16_t max_supported;
  std::int16_t finalized;
};

// source   what a freshly formatted 4.4.0 broker answers to ApiVersions
inline constexpr std::array<Feature, 2> kFeatures = {{
    {"kraft.version", 0, 1, 1},
    {"metadata.version", 7, 33, 33},
}};

}  // namespace thalweg::broker
