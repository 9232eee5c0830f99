#include "config/load.h"

#include <algorithm>

#include "config/check.h"

namespace thalweg::config {
namespace {

// `node.id` and `broker.id` are one setting under two names: whoever sets one has set both.
void set_other_name_too(std::vector<Entry>& entries, std::string_view name, std::string_view other) {
  if (std::ranges::find(entries, other, &Entry::name) != entries.end()) return;
  const auto last = std::ranges::find(entries.rbegin(), entries.rend(), name, &Entry::name);
  if (last == entries.rend()) return;
  Entry copy = *last;
  copy.name = other;
  entries.push_back(std::move(copy));
}

}  // namespace

std::expected<Config, std::string> load_broker_config(const LoadOptions& options, const ProviderSources& sources) {
  std::vector<Entry> entries;
  if (options.file) {
    const auto text = sources.read_file(*options.file);
    if (!text) return std::unexpected(text.error());
    auto from_file = parse_properties(*text, *options.file);
    if (!from_file) return std::unexpected(std::move(from_file).error());
    entries = std::move(*from_file);
  }
  for (const std::string& text : options.overrides) {
    auto entry = parse_override(text);
    if (!entry) return std::unexpected(std::move(entry).error());
    entries.push_back(std::move(*entry));
  }
  auto resolved = resolve_providers(std::move(entries), sources);
  if (!resolved) return std::unexpected(std::move(resolved).error());
  set_other_name_too(*resolved, "node.id", "broker.id");
  set_other_name_too(*resolved, "broker.id", "node.id");
  auto config = Config::load(broker_table(), *resolved);
  if (!config) return config;
  if (auto problem = cross_check(*config)) return std::unexpected(std::move(*problem));
  return config;
}

}  // namespace thalweg::config
