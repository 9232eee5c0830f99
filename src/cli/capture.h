// `thalweg decode` of a capture: a line for each exchange between Kafka clients and brokers, with -v their trees, and a
// summary.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace thalweg::cli {

struct CaptureArguments {
  std::vector<std::uint16_t> ports;
  std::vector<std::string> client_ids;
  bool errors = false;
  std::string slower_than;
  bool verbose = false;

  // Whether something is wanted that only captures have.
  [[nodiscard]] bool any() const { return !ports.empty() || !client_ids.empty() || errors || !slower_than.empty(); }
};

// What captures share with other input.
struct CaptureView {
  std::string apis;  // names with commas between them; empty: all
  bool show_secrets = false;
  bool colour = false;
};

// Adds the options that only captures have; --verbose is not among them.
void add_capture_options(CLI::App& command, CaptureArguments& arguments);

// The file that the words of the command line name, or standard input for none and "-", if it is a capture; null if it
// is none. Then nothing of it has been read, standard input included.
std::FILE* open_capture(const std::vector<std::string>& words);

// Lists the capture and closes the file. Returns the exit code: 0 when all went well, 1 where the file or a message in
// it is damaged or the output could not be written, 2 where the arguments make no sense; stderr says why.
int capture(std::FILE* file, const CaptureArguments& arguments, const CaptureView& view);

}  // namespace thalweg::cli
