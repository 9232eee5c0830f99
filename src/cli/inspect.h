// `thalweg inspect`: the page of a message, from the schemas in the program; it needs no broker and no network.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace thalweg::cli {

struct InspectArguments {
  std::string message;
  std::optional<int> version;
  bool request = false;
  bool response = false;
  bool schema = false;
  bool hex = false;
  bool list = false;
  std::vector<int> diff;  // two versions, or none
  std::string format = "text";
  std::string colour = "auto";
};

// Adds the command with its options to the command line.
CLI::App* add_inspect(CLI::App& app, InspectArguments& arguments);

// Returns the exit code: 0 when the page was written, 1 when it could not be, 2 where no such message or version is
// there; one line on stderr says why.
int inspect(const InspectArguments& arguments);

}  // namespace thalweg::cli
