// The documentation of every configuration key, made from the tables.
#pragma once

#include <string>

namespace thalweg::config {

// docs/configuration.md: for each subject a table of key, type, default, what is allowed, how it can change, what this
// broker does with it, and what it means.
std::string configuration_page();

}  // namespace thalweg::config
