// Java's .properties syntax, the form of server.properties.
//
//   # or ! begins a comment line            key=value, key:value, key value
//   \ at the end continues the line         \t \n \r \f \uXXXX, and \ before any other character stands for it
//
// Where Java reads the file as ISO 8859-1, this reads UTF-8.
#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg::config {

// One setting and where it came from.
struct Entry {
  std::string name;
  std::string value;
  std::string origin;  // the file's name as given, or `-o`
  int line = 0;        // from 1; 0 for what has no lines

  // The beginning of a message about it: "server.properties:12: " or "-o ".
  std::string where() const;
};

// Every setting of a text in its order; a key that appears twice is there twice.
//   errors   a malformed escape, as one line with its place
std::expected<std::vector<Entry>, std::string> parse_properties(std::string_view text, std::string_view origin);

// The same for a file.
//   errors   also a file that cannot be read
std::expected<std::vector<Entry>, std::string> read_properties(const std::string& path);

// The whole file.
//   errors   one line that names the file and says why
std::expected<std::string, std::string> read_text_file(const std::string& path);

// A `key=value` from the command line.
//   errors   a text without `=` or without a key
std::expected<Entry, std::string> parse_override(std::string_view text);

}  // namespace thalweg::config
