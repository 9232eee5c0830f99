#include "config/providers.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <map>
#include <string_view>

#include "config/value.h"

namespace thalweg::config {
namespace {

enum class Kind : std::uint8_t { environment, file, directory };

struct Provider {
  Kind kind = Kind::environment;
  std::vector<std::string> allowed_paths = {};  // empty: every path
  std::string allowed_names = {};               // a regular expression, empty: every name
};

using Providers = std::map<std::string, Provider, std::less<>>;
using Text = std::expected<std::string, std::string>;

constexpr std::string_view kClassPrefix = "org.apache.kafka.common.config.provider.";

std::optional<Kind> kind_of_class(std::string_view name) {
  if (!name.starts_with(kClassPrefix)) return std::nullopt;
  name.remove_prefix(kClassPrefix.size());
  if (name == "EnvVarConfigProvider") return Kind::environment;
  if (name == "FileConfigProvider") return Kind::file;
  if (name == "DirectoryConfigProvider") return Kind::directory;
  return std::nullopt;
}

// The last value of a key; a later entry replaces an earlier one.
const Entry* last_of(const std::vector<Entry>& entries, std::string_view name) {
  const Entry* found = nullptr;
  for (const Entry& entry : entries)
    if (entry.name == name) found = &entry;
  return found;
}

std::expected<Providers, std::string> configured_providers(const std::vector<Entry>& entries) {
  Providers providers = {
      {"env", {.kind = Kind::environment}}, {"file", {.kind = Kind::file}}, {"dir", {.kind = Kind::directory}}};
  const Entry* names = last_of(entries, "config.providers");
  if (names == nullptr) return providers;
  for (const std::string& name : split_list(names->value)) {
    const std::string prefix = fmt::format("config.providers.{}.", name);
    const Entry* cls = last_of(entries, prefix + "class");
    // Without a class Kafka knows no such provider; the names that always work still do.
    if (cls == nullptr) continue;
    const auto kind = kind_of_class(trimmed(cls->value));
    if (!kind)
      return std::unexpected(fmt::format(
          "{}{}={}: not supported: Java classes cannot be loaded; allowed: EnvVarConfigProvider, FileConfigProvider, "
          "DirectoryConfigProvider of {}",
          cls->where(), cls->name, cls->value, kClassPrefix.substr(0, kClassPrefix.size() - 1)));
    Provider provider{.kind = *kind};
    if (const Entry* paths = last_of(entries, prefix + "param.allowed.paths"))
      provider.allowed_paths = split_list(paths->value);
    if (const Entry* pattern = last_of(entries, prefix + "param.allowlist.pattern"))
      provider.allowed_names = std::string(trimmed(pattern->value));
    providers.insert_or_assign(name, std::move(provider));
  }
  return providers;
}

bool path_is_allowed(const Provider& provider, const std::string& path) {
  if (provider.allowed_paths.empty()) return true;
  const std::filesystem::path asked = std::filesystem::path(path).lexically_normal();
  for (const std::string& allowed : provider.allowed_paths) {
    const std::filesystem::path root = std::filesystem::path(allowed).lexically_normal();
    const auto [at, unused] = std::mismatch(root.begin(), root.end(), asked.begin(), asked.end());
    if (at == root.end() || (std::next(at) == root.end() && at->empty())) return true;
  }
  return false;
}

Text from_environment(const Provider& provider, const std::string& name, const ProviderSources& sources) {
  if (!provider.allowed_names.empty() && !RE2::FullMatch(name, provider.allowed_names))
    return std::unexpected(fmt::format("environment variable {} is not allowed by the allowlist.pattern", name));
  auto value = sources.environment(name);
  if (!value) return std::unexpected(fmt::format("environment variable {} is not set", name));
  return std::move(*value);
}

Text from_file(const std::string& path, const std::string& key, const ProviderSources& sources) {
  const auto text = sources.read_file(path);
  if (!text) return std::unexpected(text.error());
  const auto entries = parse_properties(*text, path);
  if (!entries) return std::unexpected(entries.error());
  const Entry* entry = last_of(*entries, key);
  if (entry == nullptr) return std::unexpected(fmt::format("{} has no key {}", path, key));
  return entry->value;
}

Text provided(const Provider& provider, const std::string& path, const std::string& key,
              const ProviderSources& sources) {
  if (provider.kind == Kind::environment) {
    if (!path.empty()) return std::unexpected("an environment variable has no path");
    return from_environment(provider, key, sources);
  }
  if (path.empty()) return std::unexpected("the path is missing");
  if (!path_is_allowed(provider, path)) return std::unexpected(fmt::format("{} is not within the allowed.paths", path));
  if (provider.kind == Kind::file) return from_file(path, key, sources);
  return sources.read_file((std::filesystem::path(path) / key).string());
}

// One value with all that it refers to. What is put in is not looked at again.
Text resolved(const std::string& value, const Providers& providers, const ProviderSources& sources) {
  // ${provider:key} or ${provider:path:key}
  static const RE2 reference(R"((\$\{([^}]*?):(?:([^}]*?):)?([^}]*?)\}))");
  std::string out;
  re2::StringPiece rest(value);
  while (true) {
    const char* const begin = rest.data();
    re2::StringPiece match, name, path, key;
    if (!RE2::FindAndConsume(&rest, reference, &match, &name, &path, &key)) break;
    out.append(begin, match.data());
    const auto provider = providers.find(std::string_view(name.data(), name.size()));
    if (provider == providers.end()) {
      out.append(match.data(), match.size());
      continue;
    }
    Text text = provided(provider->second, std::string(path), std::string(key), sources);
    if (!text) return text;
    out += *text;
  }
  out.append(rest.data(), rest.size());
  return out;
}

}  // namespace

ProviderSources system_sources() {
  return {.environment = [](const std::string& name) -> std::optional<std::string> {
            const char* value = std::getenv(name.c_str());
            return value == nullptr ? std::nullopt : std::optional<std::string>(value);
          },
          .read_file = read_text_file};
}

std::expected<std::vector<Entry>, std::string> resolve_providers(std::vector<Entry> entries,
                                                                 const ProviderSources& sources) {
  const auto providers = configured_providers(entries);
  if (!providers) return std::unexpected(providers.error());
  for (Entry& entry : entries) {
    if (entry.value.find("${") == std::string::npos) continue;
    auto value = resolved(entry.value, *providers, sources);
    if (!value) return std::unexpected(fmt::format("{}{}: {}", entry.where(), entry.name, value.error()));
    entry.value = std::move(*value);
  }
  return entries;
}

}  // namespace thalweg::config
