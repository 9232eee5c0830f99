// What the commands that explain things share: where their text goes.
#pragma once

#include <string>
#include <string_view>

namespace thalweg::cli {

// One line on stderr. Returns 2: used wrongly.
int wrong(std::string_view what);
// One line on stderr. Returns 1: failed.
int failed(std::string_view what);
// Writes all of it to stdout. Returns 0, or 1 with a line on stderr where it could not be written.
int write(std::string_view text);
// What --color says: "auto", "always" or "never". As no-color.org has it: a setting that is not empty switches colours
// off, and being told so here switches them on.
bool wants_colour(const std::string& when);

}  // namespace thalweg::cli
