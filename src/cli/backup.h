// `thalweg backup` and `thalweg restore`.
#pragma once

#include <string>

namespace CLI {
class App;
}

namespace thalweg::cli {

struct BackupArguments {
  std::string target;
  std::string data = "thalweg-data";
};
struct RestoreArguments {
  std::string backup;
  std::string target;
};

// Add the commands with their options to the command line.
CLI::App* add_backup(CLI::App& app, BackupArguments& arguments);
CLI::App* add_restore(CLI::App& app, RestoreArguments& arguments);

// Asks the broker that runs on the data folder for a backup of it, and waits until that is done.
//   returns  the exit code: 0 where the backup is whole; 1 with one line on stderr
int backup(const BackupArguments& arguments);
// Copies a backup to where a broker is to run on it.
//   returns  the exit code: 0 where all is copied; 1 with one line on stderr
int restore(const RestoreArguments& arguments);

}  // namespace thalweg::cli
