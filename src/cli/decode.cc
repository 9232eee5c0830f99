#include "cli/decode.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/decode_input.h"
#include "cli/output.h"
#include "inspect/catalog.h"
#include "inspect/decode.h"
#include "inspect/otlp_nodes.h"
#include "inspect/print.h"
#include "inspect/records_json.h"

namespace thalweg::cli {

namespace {

using base::Bytes;
using inspect::Catalog;
using inspect::Decoded;
using inspect::Envelope;
using inspect::Framing;
using inspect::Match;
using inspect::MessageEntry;
using inspect::Side;

// Each is run by a test. The bytes are an ApiVersions request, a JoinGroup request of a consumer, a batch of one
// record.
constexpr const char* kExamples =
    "Examples:\n"
    "  thalweg decode 0000000c 0012 0000 00000007 0002 6d65                       a request, frame and all\n"
    "  thalweg decode AAAADAASAAAAAAAHAAJtZQ==                                    the same in base64\n"
    "  thalweg decode --api heartbeat --version 0 --response 00000006 00000007 001b   a response\n"
    "  thalweg decode --api metadata --version 0 --body --format json 00000001 0002 7461\n"
    "  od -A x -t x1 frame.bin | thalweg decode --format html > frame.html        a dump on standard input\n"
    "  thalweg decode --records --topic __consumer_offsets batches.bin            record batches\n"
    "  thalweg decode --api OffsetCommitValue value.bin                           a record's value\n"
    "  thalweg decode broker.pcap                              what clients and brokers said in a capture\n"
    "  thalweg decode broker.pcap --errors --slower-than 1ms   only the exchanges that failed and were slow\n"
    "  thalweg decode broker.pcap --api fetch,produce -v       only these APIs, with their trees\n"
    "  thalweg decode thalweg-data/orders-0 -v                 a partition, record by record\n"
    "  thalweg decode thalweg-data --stats                     what a folder of logs adds up to\n";

// Which message the command line names, and in which version as far as it says.
struct Wanted {
  const MessageEntry* entry = nullptr;
  std::optional<int> version;
};

// What stops a message from being read: whether the arguments or the bytes are to blame.
struct Refusal {
  int code = 1;
  std::string reason;
};

base::Result<Wanted, Refusal> find_wanted(const Catalog& catalog, const DecodeArguments& arguments) {
  const auto refuse = [](std::string reason) { return std::unexpected(Refusal{2, std::move(reason)}); };
  auto match = catalog.look_up(arguments.api);
  if (!match) return refuse(std::move(match).error());
  Side side = match->side;
  const bool api = match->subject->family == inspect::Family::api;
  if (arguments.response) {
    if (!api || side == Side::first) return refuse(fmt::format("{} has no response", arguments.api));
    side = Side::second;
  }
  const MessageEntry* first = match->subject->first;
  const MessageEntry* second = match->subject->second;
  if (side == Side::both && !api && first != nullptr && second != nullptr)
    return refuse(fmt::format("{} is a record with a key and a value: say {} or {}", match->subject->name,
                              first->message.name, second->message.name));
  const bool takes_second = side == Side::second || first == nullptr;
  Wanted wanted{.entry = takes_second ? second : first, .version = arguments.version};
  if (wanted.version) {
    if (auto fault = version_fault(*wanted.entry, *wanted.version)) return refuse(std::move(*fault));
  } else if (wanted.entry->message.versions.empty()) {
    return refuse(fmt::format("{} was removed from the protocol", wanted.entry->message.name));
  }
  return wanted;
}

// The response that --enveloped names. The error is one line.
base::Result<Envelope, std::string> find_enveloped(const Catalog& catalog, std::string_view words) {
  const std::size_t colon = words.find(':');
  int version = 0;
  const char* end = words.data() + words.size();
  const char* digits = colon == std::string_view::npos ? end : words.data() + colon + 1;
  const auto [stop, error] = std::from_chars(digits, end, version);
  if (error != std::errc() || stop != end)
    return std::unexpected(fmt::format("--enveloped {}: it takes an API and its version, as createtopics:7", words));
  ASSIGN_OR_RETURN(const Match match, catalog.look_up(words.substr(0, colon)));
  if (match.subject->family != inspect::Family::api || !match.subject->key)
    return std::unexpected(fmt::format("--enveloped {}: that is no API", words));
  return api_envelope(catalog, *match.subject->key, version, Side::second);
}

// The version that stands in front of a record, or the only one that there is.
std::optional<int> version_in(const Catalog& catalog, const MessageEntry& entry, const Bytes& bytes) {
  const schema::VersionRange versions = entry.message.versions;
  if (versions.lowest == versions.highest) return versions.lowest;
  const Envelope envelope = catalog.envelope(entry, versions.highest);
  if (envelope.framing != Framing::record_value && envelope.framing != Framing::metadata_record) return std::nullopt;
  const inspect::Walk front = walk(envelope, bytes, {.max_nodes = 0, .open_batches = false});
  const inspect::Node& prefix = front.root.children.front();
  if (prefix.children.empty() || prefix.children.back().value.empty()) return std::nullopt;
  return std::atoi(prefix.children.back().value.c_str());
}

// What else may be wrong where bytes are no request: the word they came from looks like a path.
std::string missing_file(const DecodeArguments& arguments) {
  std::error_code fault;
  const bool path = arguments.input.size() == 1 && arguments.input[0].contains('/');
  if (!path || std::filesystem::exists(arguments.input[0], fault)) return {};
  return fmt::format("; there is no file {}", arguments.input[0]);
}

// What the bytes of one message are.
base::Result<Envelope, Refusal> find_envelope(const Catalog& catalog, const std::optional<Wanted>& wanted,
                                              const DecodeArguments& arguments, const Bytes& bytes) {
  if (!wanted || (!wanted->version && !arguments.body && wanted->entry->message.type == schema::MessageType::request)) {
    auto found = recognize_request(catalog, bytes.span());
    if (!found && !wanted)
      return std::unexpected(Refusal{
          1, fmt::format("cannot tell what these bytes are: {}; a response, and what has no frame, needs --api and "
                         "--version, with --response or --body",
                         found.error())});
    if (!found) return std::unexpected(Refusal{1, std::move(found).error()});
    if (wanted && found->message != &wanted->entry->message)
      return std::unexpected(
          Refusal{1, fmt::format("the header says {}, not {}", found->message->name, wanted->entry->message.name)});
    return *found;
  }
  const std::string& name = wanted->entry->message.name;
  std::optional<int> version = wanted->version;
  if (!version) version = version_in(catalog, *wanted->entry, arguments.body ? Bytes() : bytes);
  if (!version)
    return std::unexpected(Refusal{
        2, fmt::format("{} needs --version: its versions are {}", name, wanted->entry->message.versions.str())});
  if (auto fault = version_fault(*wanted->entry, *version)) return std::unexpected(Refusal{1, std::move(*fault)});
  const Envelope envelope = catalog.envelope(*wanted->entry, *version);
  return arguments.body ? envelope.body() : envelope;
}

// {"header":...,"json":...,"unknown":[...],"rest":N,"opened":[...]}
std::string opened_object(const Catalog& catalog, const Envelope& envelope, const Bytes& bytes,
                          const inspect::MessageJson& message, const DecodeArguments& arguments,
                          const inspect::DecodeOptions& options) {
  std::string json = "{";
  const inspect::MessageJson header = header_json(envelope, bytes);
  if (header.whole) json += "\"header\":" + header.json + ",";
  json += "\"json\":" + message.json;
  if (!message.unknown.empty()) json += ",\"unknown\":" + unknown_json(message.unknown);
  if (message.rest > 0) json += fmt::format(",\"rest\":{}", message.rest);
  json += ",\"opened\":[";
  bool first = true;
  for (const inspect::OpenedField& field : opened_json(catalog, envelope, bytes, options)) {
    if (field.batches ? !arguments.records && !arguments.open : !arguments.open) continue;
    json += fmt::format("{}{{\"path\":\"{}\",{}}}", first ? "" : ",", field.path, field.json);
    first = false;
  }
  return json + "]}";
}

// Reads one message after the other and prints each.
class Decoding {
 public:
  Decoding(const Catalog& catalog, const DecodeArguments& arguments)
      : catalog_(catalog), arguments_(arguments), colour_(wants_colour(arguments.colour)) {
    options_.walk.topic = arguments.topic;
    options_.telemetry = inspect::open_telemetry;
    // What is printed as JSON is not hidden; then the tree is there only to tell whether it should be.
    options_.show_secrets = arguments.show_secrets || arguments.format == "json";
  }

  int run(const Bytes& bytes);

 private:
  int messages(const Bytes& bytes, const std::optional<Wanted>& wanted);
  int message(const Bytes& bytes, const std::optional<Wanted>& wanted, const std::string& where);
  int records(const Bytes& bytes);
  int print(const Decoded& decoded, const Bytes& bytes, const std::string& json, const std::string& where);
  int finish();

  const Catalog& catalog_;
  const DecodeArguments& arguments_;
  bool colour_;
  inspect::DecodeOptions options_;
  std::string html_;
  int printed_ = 0;
  bool secrets_ = false;
  // What comes next would fare no better: the arguments are at fault, there is nowhere to write, or where one frame
  // ends cannot be trusted.
  bool stopped_ = false;
};

int Decoding::run(const Bytes& bytes) {
  if (arguments_.api.empty() && arguments_.records) {
    const int code = records(bytes);
    const int end = finish();
    return end != 0 ? end : code;
  }
  std::optional<Wanted> wanted;
  if (!arguments_.api.empty()) {
    auto found = find_wanted(catalog_, arguments_);
    if (!found) return wrong(found.error().reason);
    wanted = *found;
  }
  if (!arguments_.enveloped.empty()) {
    auto inner = find_enveloped(catalog_, arguments_.enveloped);
    if (!inner) return wrong(inner.error());
    options_.enveloped = *inner;
  }
  const int code = messages(bytes, wanted);
  const int end = finish();
  return end != 0 ? end : code;
}

int Decoding::messages(const Bytes& bytes, const std::optional<Wanted>& wanted) {
  const schema::MessageType type = wanted ? wanted->entry->message.type : schema::MessageType::request;
  const bool framed =
      !arguments_.body && (type == schema::MessageType::request || type == schema::MessageType::response);
  if (!framed) return message(bytes, wanted, "");
  int code = 0;
  std::size_t at = 0;
  for (int number = 1; at < bytes.size(); ++number) {
    const Bytes left = bytes.slice(at);
    // The last frame may be cut off, or its size be no size: then what is there is read as far as it goes.
    const std::size_t size = inspect::frame_size(left.span(), left.size()).value_or(left.size());
    const bool alone = at == 0 && size >= left.size();
    const std::string where = alone ? "" : fmt::format("frame {} at byte {}: ", number, at);
    const int here = message(left.first(size), wanted, where);
    if (here != 0) code = here;
    if (stopped_) break;
    at += std::min(size, left.size());
  }
  return code;
}

int Decoding::message(const Bytes& bytes, const std::optional<Wanted>& wanted, const std::string& where) {
  const auto envelope = find_envelope(catalog_, wanted, arguments_, bytes);
  if (!envelope) {
    stopped_ = true;
    (void)wrong(where + envelope.error().reason + (wanted ? "" : missing_file(arguments_)));
    return envelope.error().code;
  }
  const Decoded decoded = decode(catalog_, *envelope, bytes, options_);
  if (decoded.fault && arguments_.format == "json") return failed(where + inspect::fault_line(decoded));
  std::string json;
  if (arguments_.format == "json") {
    const inspect::MessageJson read = decode_json(decoded.envelope, bytes);
    const bool whole = arguments_.open || arguments_.records;
    json = whole ? opened_object(catalog_, decoded.envelope, bytes, read, arguments_, options_) : read.json;
    if (!whole && !read.unknown.empty())
      fmt::print(
          stderr, "thalweg: {}{} left out; --open shows what is unknown\n", where,
          read.unknown.size() == 1 ? "1 tagged field is" : fmt::format("{} tagged fields are", read.unknown.size()));
    if (!whole && read.rest > 0) fmt::print(stderr, "thalweg: {}{} bytes behind the message\n", where, read.rest);
  }
  const int code = print(decoded, bytes, json, where);
  return code != 0 ? code : decoded.fault ? 1 : 0;
}

int Decoding::records(const Bytes& bytes) {
  const Decoded decoded = decode_records(catalog_, bytes, options_);
  std::string json;
  if (arguments_.format == "json") {
    protocol::Decompressor decompressor;
    json = records_json(catalog_, bytes.span(), decompressor, {.opened = arguments_.open, .topic = arguments_.topic});
  }
  const int code = print(decoded, bytes, json, "");
  return code != 0 ? code : inspect::has_damage(decoded.tree) ? 1 : 0;
}

int Decoding::print(const Decoded& decoded, const Bytes& bytes, const std::string& json, const std::string& where) {
  secrets_ = secrets_ || decoded.secrets;
  ++printed_;
  if (arguments_.format == "html") {
    html_ += decoded_html_part(decoded, bytes);
    return 0;
  }
  int code = 0;
  if (arguments_.format == "json") {
    code = write(json + "\n");
  } else {
    const std::string heading = where.empty() ? "" : where.substr(0, where.size() - 1) + "\n";
    code = write((printed_ > 1 ? "\n" : "") + heading + decoded_text(decoded, bytes, {.colour = colour_}));
  }
  stopped_ = code != 0;
  return code;
}

int Decoding::finish() {
  if (arguments_.format == "html" && printed_ > 0) return write(inspect::decoded_html(html_));
  if (secrets_ && arguments_.format == "json")
    fmt::print(stderr, "thalweg: there are secrets in these bytes, and JSON does not hide them\n");
  return 0;
}

}  // namespace

CLI::App* add_decode(CLI::App& app, DecodeArguments& arguments) {
  CLI::App* command = app.add_subcommand("decode", "explain bytes from a wire or a log");
  command->add_option(
      "bytes", arguments.input,
      "a file, - for standard input (the default), the bytes as hexadecimal or base64, a capture or a log");
  command->add_option("--input", arguments.form, "what the input is: auto, hex, base64 or binary")
      ->check(CLI::IsMember({"auto", "hex", "base64", "binary"}));
  CLI::Option* api = command->add_option(
      "--api", arguments.api, "name of an API or message in any spelling, or an API key; a request tells it");
  command->add_option("--version", arguments.version, "its version; a request tells it")->needs(api);
  command->add_flag("--response", arguments.response, "the bytes are a response")->needs(api);
  command->add_flag("--body", arguments.body, "the bytes begin at the body: no frame and no header")->needs(api);
  command->add_flag("--records", arguments.records,
                    "the bytes are record batches; with --api and json: the batches in the message, beside it");
  command->add_option("--topic", arguments.topic, "the topic that records are from, where the bytes do not say");
  command
      ->add_option("--enveloped", arguments.enveloped,
                   "responses of Envelope: the API and version that the response inside is of, as createtopics:7")
      ->needs(api);
  command->add_option("--format", arguments.format, "text, json or html")
      ->check(CLI::IsMember({"text", "json", "html"}));
  command->add_flag("--open", arguments.open, "json: beside the message what is inside its bytes");
  command->add_flag("--show-secrets", arguments.show_secrets, "text and html: do not hide passwords, keys and tokens");
  command->add_option("--color", arguments.colour, "auto, always or never; auto respects NO_COLOR")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  command->add_flag("-v,--verbose", arguments.capture.verbose,
                    "captures: also the trees of request and response; logs: also the records of every batch");
  add_capture_options(*command, arguments.capture);
  add_log_options(*command, arguments.log);
  command->footer(kExamples);
  return command;
}

int decode(const DecodeArguments& arguments) {
  const bool plain = arguments.input.size() == 1 && arguments.form == "auto" && arguments.api.empty() &&
                     !arguments.records && !arguments.open;
  const std::string only_captures = "--port, --client-id, --errors and --slower-than are for captures";
  if (plain && is_log(arguments.input.front())) {
    if (arguments.capture.any()) return wrong(only_captures);
    return decode_log({.path = arguments.input.front(),
                       .selection = arguments.log,
                       .topic = arguments.topic,
                       .format = arguments.format,
                       .verbose = arguments.capture.verbose,
                       .show_secrets = arguments.show_secrets});
  }
  if (arguments.log.any())
    return wrong("--offset, --from-time, --key and --stats are for logs: name a .log file or a folder");
  if (std::FILE* file = arguments.form == "auto" ? open_capture(arguments.input) : nullptr) {
    const bool message = arguments.version || arguments.response || arguments.body || arguments.records ||
                         arguments.open || !arguments.enveloped.empty();
    if (message || arguments.format != "text") {
      if (file != stdin) std::fclose(file);
      return wrong(message
                       ? "a capture says itself what is in it: --api filters it, and --version, --response, --body, "
                         "--records, --open and --enveloped are for bytes"
                       : "a capture is listed as text only");
    }
    return capture(
        file, arguments.capture,
        {.apis = arguments.api, .show_secrets = arguments.show_secrets, .colour = wants_colour(arguments.colour)});
  }
  if (arguments.capture.any()) return wrong(only_captures);
  const auto bytes = read_input(arguments.input, arguments.form);
  if (!bytes) return failed(bytes.error());
  return Decoding(Catalog::built_in(), arguments).run(*bytes);
}

}  // namespace thalweg::cli
