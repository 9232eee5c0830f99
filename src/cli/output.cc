#include "cli/output.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace thalweg::cli {

int wrong(std::string_view what) {
  fmt::print(stderr, "thalweg: {}\n", what);
  return 2;
}

int failed(std::string_view what) {
  fmt::print(stderr, "thalweg: {}\n", what);
  return 1;
}

int write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return 0;
  return failed("the output could not be written");
}

bool wants_colour(const std::string& when) {
  if (when != "auto") return when == "always";
  const char* no_color = std::getenv("NO_COLOR");
  const char* terminal = std::getenv("TERM");
  return (no_color == nullptr || *no_color == '\0') && isatty(STDOUT_FILENO) != 0 &&
         (terminal == nullptr || std::string_view(terminal) != "dumb");
}

}  // namespace thalweg::cli
