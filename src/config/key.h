// A configuration key as data: what it is called, what it may hold, what it does here.
//
// Every key of the broker, of topics, groups and client metrics subscriptions is one ConfigKey in one table (table.h).
// Parsing, DescribeConfigs, IncrementalAlterConfigs, the warnings at start and the documentation all read that table.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace thalweg::config {

// Kafka's types of values. The numbers are those of DescribeConfigs; `unknown` is the type of a key without a table
// row.
enum class Type : std::uint8_t {
  unknown = 0,
  boolean = 1,
  string = 2,
  int_ = 3,
  short_ = 4,
  long_ = 5,
  double_ = 6,
  list = 7,
  class_ = 8,
  password = 9,
};

enum class Importance : std::uint8_t { high, medium, low };

// How a key can change while the broker runs.
enum class DynamicMode : std::uint8_t {
  read_only,     // only with a restart
  cluster_wide,  // for one broker or as a default for all
  per_broker,    // for one broker only
  per_listener,  // for one broker only, and only with a `listener.name.NAME.` prefix
  per_resource,  // a key of a topic, a group or a client metrics subscription
};

// What this broker does with a key.
enum class KeyClass : std::uint8_t {
  used,
  accepted,  // taken without effect, said once at start
  refused,   // a value other than the default stops the start, because ignoring it would mislead
};

// Kinds of restrictions on a value, beyond its type.
enum class Rule : std::uint8_t {
  any,
  range,           // min .. max, and `also` where one value outside is allowed
  real_range,      // real_min .. real_max
  one_of,          // a string out of `allowed`
  list,            // distinct entries, out of `allowed` unless that is empty
  non_empty,       // a string that is not empty
  replicas,        // `*` or partition:broker pairs
  offset_reset,    // earliest, latest or by_duration:PnDTnHnMn.nS
  voters,          // id@host:port entries
  host_ports,      // host:port entries
  address_counts,  // address:count pairs
  client_match,    // attribute=regular expression pairs
};

// A restriction, as plain data so that tables are constants.
struct Validator {
  Rule rule = Rule::any;
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
  std::optional<std::int64_t> also = std::nullopt;
  double real_min = 0;
  double real_max = 0;
  std::string_view allowed = {};  // separated by commas; an empty string between them allows the empty value
  bool ignore_case = false;
  bool empty_list_allowed = true;
  bool repetition_allowed = true;  // of a list's entries; where allowed, repeated ones are dropped
};

struct ConfigKey {
  std::string_view name = {};
  Type type = Type::unknown;
  std::optional<std::string_view> default_value = std::nullopt;  // none where Kafka has null or no default
  Importance importance = Importance::medium;
  DynamicMode dynamic = DynamicMode::read_only;
  KeyClass cls = KeyClass::used;
  Validator valid = {};
  std::string_view doc = {};
  std::string_view reason = {};          // why other values are refused
  std::string_view broker_synonym = {};  // the broker key that a topic or group key falls back to
  bool hidden = false;                   // not described unless it was set

  // A value that is never shown, neither in answers nor in messages.
  constexpr bool sensitive() const { return type == Type::password; }
};

// The name Kafka gives the type: BOOLEAN, STRING, INT, ...
std::string_view type_name(Type type);

// The name Kafka gives the importance: HIGH, MEDIUM, LOW.
std::string_view importance_name(Importance importance);

// `read-only`, `cluster-wide`, `per-broker`, as Kafka's documentation says it; `per-listener` and `per-resource`
// besides.
std::string_view dynamic_name(DynamicMode mode);

// `used`, `accepted` or `refused`.
std::string_view class_name(KeyClass cls);

// What the key may hold, in words for a message: "1048576 to 2147483647", "true or false", "one of a, b".
std::string allowed_text(const ConfigKey& key);

}  // namespace thalweg::config
