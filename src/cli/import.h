// `thalweg import`: takes over the data folders of a Kafka broker of the KRaft
// kind.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace thalweg::cli {

struct ImportArguments {
  std::vector<std::string> folders;
  std::string target;
  bool move = false;
};

// Adds the command with its options to the command line.
CLI::App* add_import(CLI::App& app, ImportArguments& arguments);

// Says what it finds; with a target makes a data folder of it, by copying or by
// moving the logs.
//   returns  the exit code: 0 where everything could be (or is) taken over; 1
//   with one line on stderr, or where the
//            logs have faults; 2 where it is asked wrongly
int import_kafka(const ImportArguments& arguments);

}  // namespace thalweg::cli
