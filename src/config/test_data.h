// Facts recorded from Apache Kafka, for the tests: lines of tests/config/, split at tabs.
#pragma once

#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace thalweg::config {

// The lines of a file under tests/config, each split at its tabs; blank lines as one empty field, comments left out.
inline std::vector<std::vector<std::string>> test_data(const std::string& name) {
  const char* root = std::getenv("THALWEG_SOURCE_DIR");
  if (root == nullptr) throw std::runtime_error("THALWEG_SOURCE_DIR is not set; ctest sets it");
  std::ifstream file(std::string(root) + "/tests/config/" + name);
  if (!file) throw std::runtime_error("cannot read tests/config/" + name);
  std::vector<std::vector<std::string>> lines;
  std::string line;
  while (std::getline(file, line)) {
    if (line.starts_with('#')) continue;
    std::vector<std::string> fields;
    std::size_t from = 0;
    for (std::size_t tab = line.find('\t'); tab != std::string::npos; tab = line.find('\t', from)) {
      fields.push_back(line.substr(from, tab - from));
      from = tab + 1;
    }
    fields.push_back(line.substr(from));
    lines.push_back(std::move(fields));
  }
  return lines;
}

}  // namespace thalweg::config
