// `thalweg decode`: explains bytes that stood on a wire or in a log; it needs no broker and no network.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/capture.h"
#include "cli/decode_log.h"

namespace CLI {
class App;
}

namespace thalweg::cli {

struct DecodeArguments {
  std::vector<std::string> input;  // a file, - for standard input, or the bytes themselves as text
  std::string form = "auto";       // auto, hex, base64 or binary
  std::string api;                 // empty: each request says it
  std::optional<int> version;
  bool response = false;
  bool body = false;
  bool records = false;
  std::string topic;
  std::string enveloped;  // NAME:VERSION of the request that the response inside Envelope answers
  bool open = false;
  bool show_secrets = false;
  std::string format = "text";
  std::string colour = "auto";
  CaptureArguments capture;
  LogSelection log;
};

// Adds the command with its options to the command line.
CLI::App* add_decode(CLI::App& app, DecodeArguments& arguments);

// Returns the exit code: 0 when everything was read, 1 where bytes could not be read or break their format, 2 where the
// arguments make no sense; stderr says why.
int decode(const DecodeArguments& arguments);

}  // namespace thalweg::cli
