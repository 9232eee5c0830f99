#include "cli/decode_log.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <memory>
#include <string_view>

#include "base/clock.h"
#include "cli/data_folder.h"
#include "cli/output.h"
#include "inspect/catalog.h"
#include "inspect/log_dump.h"
#include "inspect/log_files.h"
#include "inspect/log_selection.h"
#include "runtime/file.h"

namespace thalweg::cli {

namespace {

// Lines to stdout, and how far it is to stderr where that is a terminal and the lines go elsewhere.
class Output final : public inspect::LogSink {
 public:
  explicit Output(bool few_lines)
      : shows_progress_(isatty(STDERR_FILENO) != 0 && (few_lines || isatty(STDOUT_FILENO) == 0)) {}

  bool write(std::string_view lines) override {
    if (shown_ && isatty(STDOUT_FILENO) != 0) clear();
    closed_ = closed_ || std::fwrite(lines.data(), 1, lines.size(), stdout) != lines.size();
    if (closed_ && error_ == 0) error_ = errno;
    return !closed_;
  }

  void progress(std::uint64_t done_bytes, std::uint64_t total_bytes) override {
    if (!shows_progress_ || total_bytes == 0) return;
    // Nothing for what is done at once.
    const base::SteadyTime now = clock_.steady();
    if (now - last_ < kProgressEvery) return;
    last_ = now;
    shown_ = true;
    constexpr std::uint64_t kMebi = std::uint64_t{1} << 20;
    fmt::print(stderr, "\r{:3} %  {} of {} MiB", std::min<std::uint64_t>(done_bytes * 100 / total_bytes, 100),
               done_bytes / kMebi, total_bytes / kMebi);
    std::fflush(stderr);
  }

  // False where not all could be written; whoever closed the pipe knows that.
  bool finish() {
    if (shown_) clear();
    if (!closed_ && std::fflush(stdout) != 0) {
      closed_ = true;
      error_ = errno;
    }
    if (!closed_ || error_ == EPIPE) return true;
    (void)failed("the output could not be written");
    return false;
  }

 private:
  static constexpr std::chrono::milliseconds kProgressEvery{300};

  void clear() {
    fmt::print(stderr, "\r\x1b[K");
    std::fflush(stderr);
    shown_ = false;
  }

  base::SystemClock clock_;
  bool shows_progress_;
  bool shown_ = false;
  bool closed_ = false;
  int error_ = 0;
  base::SteadyTime last_ = clock_.steady();
};

base::Result<inspect::LogDumpOptions, std::string> read_options(const DecodeLogArguments& arguments) {
  inspect::LogDumpOptions options{.stats = arguments.selection.stats,
                                  .records = arguments.verbose,
                                  .json = arguments.format == "json",
                                  .show_secrets = arguments.show_secrets};
  if (arguments.format == "html") return std::unexpected("logs are shown as text or json, not as html");
  if (!arguments.selection.offset.empty()) {
    ASSIGN_OR_RETURN(const inspect::OffsetRange range, inspect::parse_offsets(arguments.selection.offset));
    options.first_offset = range.first;
    options.last_offset = range.last;
  }
  if (!arguments.selection.from_time.empty()) {
    ASSIGN_OR_RETURN(options.from_time_ms, inspect::parse_time(arguments.selection.from_time));
  }
  if (arguments.selection.key) {
    if (arguments.selection.stats) return std::unexpected("--stats counts whole batches: it cannot be had for a --key");
    ASSIGN_OR_RETURN(options.key, inspect::parse_key(*arguments.selection.key));
  }
  return options;
}

}  // namespace

void add_log_options(CLI::App& command, LogSelection& selection) {
  const char* group = "Logs";
  command.add_option("--offset", selection.offset, "only these records: 42, 42-50 or 42-")->group(group);
  command
      .add_option("--from-time", selection.from_time,
                  "from the first record on that is not older: milliseconds, or 2024-05-01T12:00:00Z")
      ->group(group);
  command.add_option("--key", selection.key, "only records with this key; hex:00ff for bytes")->group(group);
  command.add_flag("--stats", selection.stats, "what it adds up to, instead of its batches")->group(group);
}

bool is_log(const std::string& path) {
  const std::unique_ptr<runtime::FileSystem> files = runtime::make_system_file_system();
  return inspect::is_log_file_name(path) || files->list(path).has_value() || inspect::is_copied_log(*files, path);
}

int decode_log(const DecodeLogArguments& arguments) {
  const auto options = read_options(arguments);
  if (!options) return wrong(options.error());
  // A pipe that is closed is an end like any other.
  std::signal(SIGPIPE, SIG_IGN);
  const std::unique_ptr<runtime::FileSystem> files = runtime::make_system_file_system();
  auto tree = inspect::find_logs(*files, arguments.path);
  if (!tree) return failed(tree.error());
  if (!arguments.topic.empty()) {
    for (inspect::LogFolder& folder : tree->folders) {
      folder.partition.topic = arguments.topic;
      for (inspect::LogFile& file : folder.files) file.partition.topic = arguments.topic;
    }
  }
  const bool secrets = std::ranges::any_of(
      tree->folders, [](const inspect::LogFolder& folder) { return folder.partition.topic == kKafkaMetadataTopic; });
  if (options->json && !options->stats && secrets)
    fmt::print(stderr, "thalweg: JSON hides nothing: what is secret in {} is shown\n", kKafkaMetadataTopic);
  Output output(options->stats || options->selects());
  const auto report = inspect::dump_logs(*files, inspect::Catalog::built_in(), *tree, *options, output);
  const bool written = output.finish();
  if (!report) return failed(report.error());
  return written && report->damages == 0 ? 0 : 1;
}

}  // namespace thalweg::cli
