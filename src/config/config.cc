#include "config/config.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>

#include "base/letter_case.h"
#include "config/value.h"

namespace thalweg::config {
namespace {

// Our own code asked for a key in a way in which it does not exist.
[[noreturn]] void misused(std::string_view name, std::string_view problem) {
  fmt::print(stderr, "configuration key {}: {}\n", name, problem);
  std::abort();
}

const ConfigKey* known_key(const Table& table, std::string_view name) {
  return &table == &broker_table() ? find_broker_key(name) : table.find(name);
}

std::string shown(const ConfigKey* key, std::string_view value) {
  return key == nullptr || key->sensitive() ? "[hidden]" : std::string(value);
}

}  // namespace

std::expected<Config, std::string> Config::load(const Table& table, std::span<const Entry> entries) {
  return Config(table).with(entries, Source::static_broker);
}

std::expected<Config, std::string> Config::with(std::span<const Entry> entries, Source source) const {
  Config config = *this;
  // A repeated name counts once, where it stands last, so that a bad value which is replaced later does no harm.
  std::map<std::string_view, const Entry*> last;
  for (const Entry& entry : entries) last[entry.name] = &entry;
  for (const Entry& entry : entries) {
    if (last[entry.name] != &entry) continue;
    Setting setting{.key = known_key(*table_, entry.name),
                    .raw = entry.value,
                    .value = entry.value,
                    .where = entry.where(),
                    .source = source};
    if (setting.key != nullptr) {
      auto value = validate_value(*setting.key, entry.value);
      if (!value)
        return std::unexpected(fmt::format("{}{}={}: {}", setting.where, entry.name,
                                           shown(setting.key, trimmed(entry.value)), value.error()));
      setting.value = std::move(*value);
    }
    // A later layer's milliseconds replace an earlier one's hours. Within one layer both stand, and the finer counts.
    if (table_ == &broker_table() && source != Source::static_broker && !has_listener_prefix(entry.name))
      for (const std::string_view synonym : broker_synonyms(entry.name))
        if (const auto old = config.settings_.find(synonym); old != config.settings_.end()) config.settings_.erase(old);
    config.settings_.insert_or_assign(entry.name, std::move(setting));
  }
  return config;
}

Config Config::with_defaults(std::map<std::string, std::string, std::less<>> defaults) const {
  Config config = *this;
  config.defaults_ = std::move(defaults);
  return config;
}

const Setting* Config::find(std::string_view name) const {
  const auto at = settings_.find(name);
  return at == settings_.end() ? nullptr : &at->second;
}

Source Config::source(std::string_view name) const {
  const Setting* setting = find(name);
  return setting == nullptr ? Source::default_ : setting->source;
}

std::string Config::where(std::string_view name) const {
  const Setting* setting = find(name);
  return setting == nullptr ? std::string() : setting->where;
}

std::optional<std::string_view> Config::text(std::string_view name, Scope scope) const {
  const ConfigKey* key = table_->find(name);
  if (key == nullptr) misused(name, "not in the table");
  if (!scope.listener.empty()) {
    const std::string prefix = fmt::format("listener.name.{}.", base::lower_case(scope.listener));
    if (!scope.mechanism.empty())
      if (const Setting* s = find(fmt::format("{}{}.{}", prefix, base::lower_case(scope.mechanism), name)))
        return s->value;
    if (const Setting* s = find(prefix + std::string(name))) return s->value;
  }
  if (const Setting* setting = find(name)) return setting->value;
  if (const auto own = defaults_.find(name); own != defaults_.end()) return own->second;
  return key->default_value;
}

std::optional<std::string_view> Config::typed(std::string_view name, std::span<const Type> types, Scope scope) const {
  const auto value = text(name, scope);
  const Type type = table_->find(name)->type;
  if (std::ranges::find(types, type) == types.end())
    misused(name, fmt::format("asked for another type than {}", type_name(type)));
  return value;
}

namespace {

constexpr std::array kBool = {Type::boolean};
constexpr std::array kInt = {Type::int_, Type::short_};
constexpr std::array kLong = {Type::long_};
constexpr std::array kDouble = {Type::double_};
constexpr std::array kString = {Type::string, Type::class_};
constexpr std::array kPassword = {Type::password};
constexpr std::array kList = {Type::list};

template <class T>
T not_null(std::string_view name, std::optional<T> value) {
  if (!value) misused(name, "null");
  return std::move(*value);
}

std::optional<std::int64_t> integer(std::optional<std::string_view> text) {
  return text ? parse_integer(*text) : std::nullopt;
}

}  // namespace

bool Config::get_bool(std::string_view name, Scope scope) const {
  return not_null(name, typed(name, kBool, scope)) == "true";
}

std::int32_t Config::get_int(std::string_view name, Scope scope) const { return not_null(name, find_int(name, scope)); }

std::int64_t Config::get_long(std::string_view name, Scope scope) const {
  return not_null(name, find_long(name, scope));
}

double Config::get_double(std::string_view name, Scope scope) const {
  return not_null(name, parse_double(not_null(name, typed(name, kDouble, scope))));
}

std::string Config::get_string(std::string_view name, Scope scope) const {
  return not_null(name, find_string(name, scope));
}

std::string Config::get_password(std::string_view name, Scope scope) const {
  return not_null(name, find_password(name, scope));
}

std::vector<std::string> Config::get_list(std::string_view name, Scope scope) const {
  return not_null(name, find_list(name, scope));
}

std::optional<std::int32_t> Config::find_int(std::string_view name, Scope scope) const {
  const auto value = integer(typed(name, kInt, scope));
  return value ? std::optional(static_cast<std::int32_t>(*value)) : std::nullopt;
}

std::optional<std::int64_t> Config::find_long(std::string_view name, Scope scope) const {
  return integer(typed(name, kLong, scope));
}

std::optional<std::string> Config::find_string(std::string_view name, Scope scope) const {
  const auto value = typed(name, kString, scope);
  return value ? std::optional(std::string(*value)) : std::nullopt;
}

std::optional<std::string> Config::find_password(std::string_view name, Scope scope) const {
  const auto value = typed(name, kPassword, scope);
  return value ? std::optional(std::string(*value)) : std::nullopt;
}

std::optional<std::vector<std::string>> Config::find_list(std::string_view name, Scope scope) const {
  const auto value = typed(name, kList, scope);
  return value ? std::optional(split_list(*value)) : std::nullopt;
}

std::vector<UnknownKey> Config::unknown_keys() const {
  std::vector<UnknownKey> unknown;
  for (const auto& [name, setting] : settings_)
    if (setting.key == nullptr && !is_plugin_parameter(name))
      unknown.push_back({name, setting.where, table_->nearest(name)});
  return unknown;
}

std::vector<std::string_view> Config::accepted_keys() const {
  std::vector<std::string_view> accepted;
  for (const auto& [name, setting] : settings_)
    if (setting.key != nullptr && setting.key->cls == KeyClass::accepted) accepted.push_back(name);
  return accepted;
}

std::vector<std::string> warnings(const Config& config) {
  std::vector<std::string> lines;
  for (const UnknownKey& key : config.unknown_keys()) {
    std::string line = fmt::format("{}{}: unknown key", key.where, key.name);
    if (!key.nearest.empty()) line += fmt::format(", did you mean {}?", key.nearest);
    lines.push_back(std::move(line));
  }
  const auto accepted = config.accepted_keys();
  if (!accepted.empty()) lines.push_back(fmt::format("accepted without effect: {}", fmt::join(accepted, ", ")));
  return lines;
}

}  // namespace thalweg::config
