// The settings in force: a table's defaults under what was set. Immutable; a change makes a new Config.
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/properties.h"
#include "config/table.h"

namespace thalweg::config {

// Where a value comes from. The numbers are those of DescribeConfigs.
enum class Source : std::uint8_t {
  unknown = 0,
  dynamic_topic = 1,
  dynamic_broker = 2,
  dynamic_default_broker = 3,
  static_broker = 4,
  default_ = 5,
  dynamic_broker_logger = 6,
  client_metrics = 7,
  group = 8,
};

// One key that was set.
struct Setting {
  const ConfigKey* key = nullptr;  // null for a name the table does not know
  std::string raw;                 // as written
  std::string value;               // as DescribeConfigs shows it
  std::string where;               // the beginning of a message about it: "server.properties:12: "
  Source source = Source::static_broker;
};

// A name that was set and that the table does not know.
struct UnknownKey {
  std::string name;
  std::string where;
  std::string_view nearest;  // empty: no known name is near
};

// Which overrides a look-up honours: those of a listener, and of a SASL mechanism on it.
// `listener.name.internal.plain.sasl.jaas.config` is found with {"INTERNAL", "PLAIN"}.
struct Scope {
  std::string_view listener = {};
  std::string_view mechanism = {};
};

class Config {
 public:
  using Settings = std::map<std::string, Setting, std::less<>>;

  // The defaults of a table; nothing set.
  explicit Config(const Table& table) : table_(&table) {}

  // Reads entries over a table. Of two entries with one name the later counts.
  //   errors   the first bad value, as one line: place, key, value (never a secret's), what is allowed
  static std::expected<Config, std::string> load(const Table& table, std::span<const Entry> entries);

  // This one with more settings, each replacing what expresses the same (the same key, or its synonyms in other units).
  //   errors   as load's
  std::expected<Config, std::string> with(std::span<const Entry> entries, Source source) const;

  // This one with other values for keys that were not set, instead of the table's defaults.
  Config with_defaults(std::map<std::string, std::string, std::less<>> defaults) const;

  const Table& table() const { return *table_; }

  // Everything that was set, by name.
  const Settings& settings() const { return settings_; }

  // The setting under exactly this name, or null.
  const Setting* find(std::string_view name) const;

  // True where the key was set, in a file, on the command line or dynamically.
  bool is_set(std::string_view name) const { return find(name) != nullptr; }

  // Where the key's value comes from.
  Source source(std::string_view name) const;

  // The beginning of a message about a key, empty where it was not set.
  std::string where(std::string_view name) const;

  // The value as DescribeConfigs shows it, none for null. The key must be in the table.
  std::optional<std::string_view> text(std::string_view name, Scope scope = {}) const;

  // The value, for keys of exactly that type that are not null: asking for another type, for a key that is not in the
  // table or for one that may be null and is, aborts. `get_int` serves INT and SHORT, `get_string` STRING and CLASS.
  bool get_bool(std::string_view name, Scope scope = {}) const;
  std::int32_t get_int(std::string_view name, Scope scope = {}) const;
  std::int64_t get_long(std::string_view name, Scope scope = {}) const;
  double get_double(std::string_view name, Scope scope = {}) const;
  std::string get_string(std::string_view name, Scope scope = {}) const;
  std::string get_password(std::string_view name, Scope scope = {}) const;
  std::vector<std::string> get_list(std::string_view name, Scope scope = {}) const;

  // The same for keys that may be null.
  std::optional<std::int32_t> find_int(std::string_view name, Scope scope = {}) const;
  std::optional<std::int64_t> find_long(std::string_view name, Scope scope = {}) const;
  std::optional<std::string> find_string(std::string_view name, Scope scope = {}) const;
  std::optional<std::string> find_password(std::string_view name, Scope scope = {}) const;
  std::optional<std::vector<std::string>> find_list(std::string_view name, Scope scope = {}) const;

  // The names that were set and are not in the table.
  std::vector<UnknownKey> unknown_keys() const;

  // The keys that were set and have no effect, by name.
  std::vector<std::string_view> accepted_keys() const;

 private:
  std::optional<std::string_view> typed(std::string_view name, std::span<const Type> types, Scope scope) const;

  const Table* table_;
  Settings settings_;
  std::map<std::string, std::string, std::less<>> defaults_;
};

// One line for each unknown key, and one that names all keys without effect: what is said at start.
std::vector<std::string> warnings(const Config& config);

}  // namespace thalweg::config
