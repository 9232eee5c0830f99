// The tables of every configuration key.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/key.h"

namespace thalweg::config {

// The keys of one subject.
struct Section {
  std::string_view title;
  std::span<const ConfigKey> keys;
};

// Keys that may be set together: those of a broker, of a topic, of a group or of a client metrics subscription.
class Table {
 public:
  Table(std::string_view title, std::vector<Section> sections);

  std::string_view title() const { return title_; }

  // The keys by subject, in the order in which they are documented.
  std::span<const Section> sections() const { return sections_; }

  // Every key, ordered by name.
  std::span<const ConfigKey* const> keys() const { return by_name_; }

  // The key of exactly this name, or null.
  const ConfigKey* find(std::string_view name) const;

  // The known name with the fewest edits to this one, empty where none is near.
  std::string_view nearest(std::string_view name) const;

 private:
  std::string_view title_;
  std::vector<Section> sections_;
  std::vector<const ConfigKey*> by_name_;
};

const Table& broker_table();
const Table& topic_table();
const Table& group_table();
const Table& client_metrics_table();

// The broker key that a name stands for: itself, or what follows `listener.name.NAME.` and, for the keys of one SASL
// mechanism, the mechanism. Null where there is none.
//   source   Kafka's listener overrides, KIP-103
const ConfigKey* find_broker_key(std::string_view name);

// True for `listener.name.NAME.something`.
bool has_listener_prefix(std::string_view name);

// True for the parameters of a plug-in or value provider (`config.providers.NAME.`, `rsm.config.`, `rlmm.config.`),
// whose names are the plug-in's.
bool is_plugin_parameter(std::string_view name);

// The broker keys that express the same setting in other units, first the one that wins, this one among them.
// With a `listener.name.` prefix: the name itself, then the key it overrides.
std::vector<std::string_view> broker_synonyms(std::string_view name);

}  // namespace thalweg::config
