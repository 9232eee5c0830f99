// `thalweg serve`: runs the broker until a signal.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace thalweg::cli {

struct ServeArguments {
  std::optional<std::string> config_file;
  std::vector<std::string> overrides;     // key=value, each over the file
  std::optional<std::string> scram_file;  // credentials to add for users that have none
  bool json_log = false;
  std::string log_level = "info";
};

// Returns the exit code: 0 after a graceful stop, 1 where it cannot start, 2 where the arguments make no sense; one
// line on stderr says why.
int serve(const ServeArguments& arguments);

}  // namespace thalweg::cli
