// `thalweg decode` of logs: a segment or a file beside it, the folder of a partition, a folder of partitions.
#pragma once

#include <optional>
#include <string>

namespace CLI {
class App;
}

namespace thalweg::cli {

// What of a log is asked for.
struct LogSelection {
  std::string offset;              // as parse_offsets() takes it; empty: all
  std::string from_time;           // as parse_time() takes it; empty: from the start
  std::optional<std::string> key;  // as parse_key() takes it
  bool stats = false;

  [[nodiscard]] bool any() const { return !offset.empty() || !from_time.empty() || key || stats; }
};
// Adds its options to the command.
void add_log_options(CLI::App& command, LogSelection& selection);

struct DecodeLogArguments {
  std::string path;
  LogSelection selection;
  std::string topic;  // what the folder's name does not say
  std::string format = "text";
  bool verbose = false;  // records too
  bool show_secrets = false;
};

// Whether the path is a folder, or a file with the name of one of a log.
bool is_log(const std::string& path);

// Writes to stdout what is asked for.
//   returns  the exit code: 0; 1 where something is damaged or cannot be read; 2 where it is asked wrongly
int decode_log(const DecodeLogArguments& arguments);

}  // namespace thalweg::cli
