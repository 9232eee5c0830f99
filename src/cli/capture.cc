#include "cli/capture.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "cli/output.h"
#include "inspect/capture.h"
#include "inspect/capture_file.h"
#include "inspect/capture_report.h"
#include "inspect/decode.h"
#include "inspect/otlp_nodes.h"
#include "inspect/print.h"

namespace thalweg::cli {

namespace {

using inspect::Capture;
using inspect::CapturedMessage;
using inspect::CaptureFile;
using inspect::CaptureFilter;
using inspect::CaptureReport;
using inspect::Catalog;
using inspect::Exchange;
using inspect::Side;

// What is written to stdout, in large pieces; of a capture that is still being made each exchange at once.
class Output {
 public:
  explicit Output(bool at_once) : at_once_(at_once) {}

  void add(std::string_view text) {
    constexpr std::size_t kPiece = 1 << 16;
    text_ += text;
    if (at_once_ || text_.size() >= kPiece) flush();
  }
  void flush() {
    if (!failed_ && (std::fwrite(text_.data(), 1, text_.size(), stdout) != text_.size() || std::fflush(stdout) != 0)) {
      failed_ = true;
      reader_left_ = errno == EPIPE;
    }
    text_.clear();
  }
  [[nodiscard]] bool failed() const { return failed_; }
  // Whoever reads has seen enough, which is no fault.
  [[nodiscard]] bool reader_left() const { return reader_left_; }

 private:
  bool at_once_;
  bool failed_ = false;
  bool reader_left_ = false;
  std::string text_;
};

// How far a long capture has been read, on a terminal that shows nothing else.
class Progress {
 public:
  explicit Progress(std::FILE* file) : shown_(isatty(STDERR_FILENO) != 0 && isatty(STDOUT_FILENO) == 0) {
    struct stat info{};
    if (fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode)) size_ = static_cast<std::uint64_t>(info.st_size);
  }
  // So many bytes more have been read, about: files have some around each packet.
  void advance(std::uint64_t bytes) {
    position_ += bytes;
    if (!shown_ || position_ < next_) return;
    next_ = position_ + kStep;
    const std::uint64_t mib = position_ >> 20U;
    if (size_ > 0) {
      fmt::print(stderr, "\r{} MiB, {} %", mib, std::min<std::uint64_t>(100, 100 * position_ / size_));
    } else {
      fmt::print(stderr, "\r{} MiB", mib);
    }
    std::fflush(stderr);
    said_ = true;
  }
  // Takes the line away.
  void end() {
    if (said_) fmt::print(stderr, "\r\x1b[K");
    said_ = false;
  }

 private:
  static constexpr std::uint64_t kStep = std::uint64_t{16} << 20U;
  bool shown_;
  bool said_ = false;
  std::uint64_t size_ = 0;
  std::uint64_t position_ = 0;
  std::uint64_t next_ = kStep;
};

class Listing final : public inspect::ExchangeSink {
 public:
  Listing(CaptureFilter filter, const CaptureArguments& arguments, const CaptureView& view, Output& output)
      : filter_(std::move(filter)), arguments_(arguments), view_(view), output_(output) {}

  // The report, which knows the capture that this is the sink of.
  void begin(const Capture& capture) {
    report_ = std::make_unique<CaptureReport>(capture);
    if (!arguments_.verbose) output_.add(CaptureReport::heading());
  }
  void exchange(Exchange& exchange) override {
    if (!filter_.passes(exchange)) return;
    const std::string& line = report_->line(exchange);
    if (!arguments_.verbose) return output_.add(line);
    std::string text = line;
    enveloped_.reset();
    add_message(text, exchange, exchange.request, Side::first, exchange.version);
    if (exchange.outcome == Exchange::Outcome::answered)
      add_message(text, exchange, exchange.response, Side::second, exchange.response_version);
    output_.add(text + "\n");
  }
  [[nodiscard]] const CaptureReport& report() const { return *report_; }

 private:
  void add_message(std::string& text, const Exchange& exchange, CapturedMessage& message, Side side, int version) {
    const std::string_view which = side == Side::first ? "request" : "response";
    const auto skip = [&](std::string_view why) { text += fmt::format("  no tree of the {}: {}\n", which, why); };
    if (message.too_large) return skip("it is too large to be kept");
    if (message.frame.empty()) return skip("the capture lacks some of it");
    const auto envelope = inspect::api_envelope(Catalog::built_in(), exchange.api_key, version, side);
    if (!envelope) return skip(envelope.error());
    const auto bytes = base::Bytes::unowned(message.frame);
    const inspect::Decoded decoded = inspect::decode(
        Catalog::built_in(), *envelope, bytes,
        {.telemetry = inspect::open_telemetry, .enveloped = enveloped_, .show_secrets = view_.show_secrets});
    enveloped_ = decoded.enveloped;
    text += inspect::decoded_text(decoded, bytes, {.colour = view_.colour});
  }

  CaptureFilter filter_;
  const CaptureArguments& arguments_;
  const CaptureView& view_;
  Output& output_;
  std::unique_ptr<CaptureReport> report_;
  // What the response of an Envelope has inside, once its request has been read.
  std::optional<inspect::Envelope> enveloped_;
};

// The filters of the command line. The error is one line.
base::Result<CaptureFilter, std::string> make_filter(const CaptureArguments& arguments, const CaptureView& view) {
  CaptureFilter filter{.client_ids = arguments.client_ids, .errors = arguments.errors};
  for (std::string_view rest = view.apis; !rest.empty();) {
    const std::size_t comma = rest.find(',');
    const std::string_view name = rest.substr(0, comma);
    rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
    ASSIGN_OR_RETURN(const inspect::Match match, Catalog::built_in().look_up(name));
    if (match.subject->family != inspect::Family::api || !match.subject->key)
      return std::unexpected(fmt::format("{} is no API", name));
    filter.api_keys.push_back(*match.subject->key);
  }
  if (!arguments.slower_than.empty()) {
    const auto least = inspect::parse_duration_ns(arguments.slower_than);
    if (!least)
      return std::unexpected(
          fmt::format("--slower-than {}: it takes a duration such as 250ms, 1.5s or 80us", arguments.slower_than));
    filter.slower_than_ns = *least;
  }
  return filter;
}

}  // namespace

void add_capture_options(CLI::App& command, CaptureArguments& arguments) {
  const std::string group = "Captures";
  command.add_option("--port", arguments.ports, "ports of brokers; default: whatever looks like Kafka")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::Range(1, 65535))
      ->group(group);
  command
      .add_option("--client-id", arguments.client_ids,
                  "only exchanges of this client; * and ? stand for other characters")
      ->allow_extra_args(false)
      ->group(group);
  command.add_flag("--errors", arguments.errors, "only exchanges whose response has an error code")->group(group);
  command.add_option("--slower-than", arguments.slower_than, "only exchanges that took longer: 250ms, 1.5s, 80us")
      ->group(group);
}

std::FILE* open_capture(const std::vector<std::string>& words) {
  const bool standard = words.empty() || (words.size() == 1 && words[0] == "-");
  if (words.size() > 1) return nullptr;
  std::FILE* file = standard ? stdin : std::fopen(words[0].c_str(), "rb");
  if (file == nullptr) return nullptr;
  // Before anything is read; the library's own reads are small.
  constexpr std::size_t kBuffer = 1 << 18;
  if (!standard) std::setvbuf(file, nullptr, _IOFBF, kBuffer);
  std::array<std::uint8_t, 4> begin{};
  std::size_t size = 0;
  for (int c = 0; size < begin.size() && (c = std::getc(file)) != EOF;) begin[size++] = static_cast<std::uint8_t>(c);
  for (std::size_t i = size; i > 0; --i) std::ungetc(begin[i - 1], file);
  if (size == begin.size() && inspect::is_capture(begin)) return file;
  if (!standard) std::fclose(file);
  return nullptr;
}

int capture(std::FILE* file, const CaptureArguments& arguments, const CaptureView& view) {
  auto filter = make_filter(arguments, view);
  if (!filter) {
    if (file != stdin) std::fclose(file);
    return wrong(filter.error());
  }
  Progress progress(file);
  struct stat info{};
  const bool regular = fstat(fileno(file), &info) == 0 && S_ISREG(info.st_mode);
  auto packets = CaptureFile::open(file);
  if (!packets) return failed(packets.error());
  Output output(!regular);
  Listing listing(std::move(*filter), arguments, view, output);
  Capture found(Catalog::built_in(), {.ports = arguments.ports, .keep_frames = arguments.verbose}, listing);
  listing.begin(found);
  std::string fault;
  constexpr std::uint64_t kAround = 16;
  while (!output.failed()) {
    const auto packet = packets->next();
    if (!packet) fault = packet.error();
    if (!packet || !*packet) break;
    found.packet((*packet)->time_ns, packets->link(), (*packet)->packet);
    progress.advance(kAround + (*packet)->packet.size());
  }
  progress.end();
  found.finish();
  output.add("\n" + listing.report().summary());
  output.flush();
  if (output.failed()) return output.reader_left() ? 0 : failed("the output could not be written");
  if (!fault.empty()) return failed("the capture is damaged: " + fault);
  return listing.report().found_faults() ? 1 : 0;
}

}  // namespace thalweg::cli
