// `thalweg fsck`: checks the data folders of a broker that does not run, and repairs them when told.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace thalweg::cli {

struct FsckArguments {
  std::vector<std::string> folders;
  bool repair = false;
  bool logs_only = false;
};

// Adds the command with its options to the command line.
CLI::App* add_fsck(CLI::App& app, FsckArguments& arguments);

// Writes a line for each thing that is not as it must be, and a summary, to stdout.
//   returns  the exit code: 0 where all is sound; 1 where something is not, also where it is repaired now, or where the
//            folders cannot be read or are in use; 2 where it is asked wrongly
int fsck(const FsckArguments& arguments);

}  // namespace thalweg::cli
