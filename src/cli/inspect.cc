#include "cli/inspect.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string_view>

#include "cli/output.h"
#include "inspect/catalog.h"
#include "inspect/difference.h"
#include "inspect/page.h"
#include "inspect/print.h"

namespace thalweg::cli {

namespace {

using inspect::Match;
using inspect::Side;

constexpr const char* kExamples =
    "Examples:\n"
    "  thalweg inspect CreateDelegationToken          the newest stable version, request and response\n"
    "  thalweg inspect metadata --version 14          a version that is still unstable\n"
    "  thalweg inspect 38 --request --hex             only the bytes, by API key\n"
    "  thalweg inspect fetch --diff 12 13             what changed between two versions\n"
    "  thalweg inspect OffsetCommitValue              a record of the group coordinator's log\n"
    "  thalweg inspect produce --format html          a page for a browser\n"
    "  thalweg inspect --list                         every API, record and structure\n";

// Narrows what the name said by --request and --response.
base::Result<Match, std::string> narrow(Match match, const InspectArguments& arguments) {
  if (arguments.request == arguments.response) return match;
  const Side side = arguments.request ? Side::first : Side::second;
  const std::string_view word = arguments.request ? "request" : "response";
  if (match.subject->family != inspect::Family::api || (match.side != Side::both && match.side != side))
    return std::unexpected(fmt::format("{} has no {}", arguments.message, word));
  match.side = side;
  return match;
}

int inspect_one(const inspect::Catalog& catalog, const InspectArguments& arguments, const Match& match) {
  const inspect::TextOptions text{.colour = wants_colour(arguments.colour)};
  if (!arguments.diff.empty()) {
    const auto difference = compare(catalog, match, arguments.diff[0], arguments.diff[1]);
    if (!difference) return wrong(difference.error());
    if (arguments.format == "json") return write(difference_json(*difference));
    if (arguments.format == "html") return write(difference_html(*difference));
    return write(difference_text(*difference, text));
  }
  const auto page = make_page(catalog, {.match = match, .version = arguments.version});
  if (!page) return wrong(page.error());
  if (arguments.schema) return write(page_schemas(*page));
  if (arguments.hex) return write(page_bytes(*page, text));
  if (arguments.format == "json") return write(page_json(*page));
  if (arguments.format == "html") return write(page_html(*page));
  return write(page_text(*page, text));
}

}  // namespace

CLI::App* add_inspect(CLI::App& app, InspectArguments& arguments) {
  CLI::App* command = app.add_subcommand("inspect", "explain a message byte by byte");
  CLI::Option* message =
      command->add_option("message", arguments.message, "name of a message or API in any spelling, or an API key");
  CLI::Option* version =
      command->add_option("--version", arguments.version, "version to encode; default: the newest stable one");
  CLI::Option* request = command->add_flag("--request", arguments.request, "only the request");
  CLI::Option* response = command->add_flag("--response", arguments.response, "only the response");
  CLI::Option* format = command->add_option("--format", arguments.format, "text, json or html")
                            ->check(CLI::IsMember({"text", "json", "html"}));
  CLI::Option* schema = command->add_flag("--schema", arguments.schema, "only the schema")->excludes(format);
  CLI::Option* hex = command->add_flag("--hex", arguments.hex, "only the bytes")->excludes(format)->excludes(schema);
  CLI::Option* diff = command->add_option("--diff", arguments.diff, "what changed between two versions")
                          ->expected(2)
                          ->excludes(version)
                          ->excludes(schema)
                          ->excludes(hex);
  CLI::Option* list = command->add_flag("--list", arguments.list, "every API, record and structure with its versions");
  for (CLI::Option* other : {message, version, request, response, schema, hex, diff}) list->excludes(other);
  command->add_option("--color", arguments.colour, "auto, always or never; auto respects NO_COLOR")
      ->check(CLI::IsMember({"auto", "always", "never"}));
  command->footer(kExamples);
  return command;
}

int inspect(const InspectArguments& arguments) {
  if (arguments.list) {
    const inspect::Catalog& catalog = inspect::Catalog::built_in();
    if (arguments.format == "json") return write(list_json(catalog));
    if (arguments.format == "html") return write(list_html(catalog));
    return write(list_text(catalog, {.colour = wants_colour(arguments.colour)}));
  }
  if (arguments.message.empty()) return wrong("inspect needs a message, or --list");
  const inspect::Catalog& catalog = inspect::Catalog::built_in();
  auto match = catalog.look_up(arguments.message);
  if (match) match = narrow(*match, arguments);
  if (!match) return wrong(match.error());
  return inspect_one(catalog, arguments, *match);
}

}  // namespace thalweg::cli
