// Values that stand elsewhere: `${env:NAME}` and `${file:/path:key}` in a setting.
//
// `env`, `file` and `dir` (a directory, one file per key) work as they are. Kafka's way of naming them works too:
// `config.providers=vault` with `config.providers.vault.class=...FileConfigProvider`, and the parameters
// `allowed.paths` (file, directory) and `allowlist.pattern` (env). Only what is written as `${...}` is looked up.
//   source   KIP-297, KIP-421, KIP-887
#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/properties.h"

namespace thalweg::config {

// Where provided values come from, so that tests need neither environment nor files.
struct ProviderSources {
  std::function<std::optional<std::string>(const std::string& name)> environment;
  std::function<std::expected<std::string, std::string>(const std::string& path)> read_file;
};

// The process's own environment and file system.
ProviderSources system_sources();

// Replaces every `${provider:path:key}` in the entries' values. A text with an unknown provider stays as it is, as in
// Kafka; a variable, file or key that is missing is an error, where Kafka would take the text `${...}` for the value.
//   errors   one line: place, key, what is missing
std::expected<std::vector<Entry>, std::string> resolve_providers(std::vector<Entry> entries,
                                                                 const ProviderSources& sources);

}  // namespace thalweg::config
