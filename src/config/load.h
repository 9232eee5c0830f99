// From a file and the command line to a broker's settings.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <vector>

#include "config/config.h"
#include "config/providers.h"

namespace thalweg::config {

struct LoadOptions {
  std::optional<std::string> file;     // server.properties; none: the defaults
  std::vector<std::string> overrides;  // `key=value` each, over the file; of two with one key the later counts
};

// Reads, resolves `${...}`, checks every value and all of them together.
//   errors   one line that says what to mend: place, key, value, what is allowed
std::expected<Config, std::string> load_broker_config(const LoadOptions& options,
                                                      const ProviderSources& sources = system_sources());

}  // namespace thalweg::config
