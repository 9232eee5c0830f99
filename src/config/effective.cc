#include "config/effective.h"

#include <fmt/format.h>

#include <algorithm>

#include "config/group_bounds.h"
#include "config/value.h"

namespace thalweg::config {
namespace {

constexpr std::int64_t kMinute = 60'000;
constexpr std::int64_t kHour = 60 * kMinute;

std::vector<Entry> as_entries(const Overrides& overrides) {
  std::vector<Entry> entries;
  for (const auto& [name, value] : overrides) entries.push_back({name, value, "dynamic", 0});
  return entries;
}

const std::string* find_in(const Overrides& overrides, std::string_view name) {
  const auto at = overrides.find(name);
  return at == overrides.end() ? nullptr : &at->second;
}

// The value as its key writes it; as it stands where it does not fit.
std::string normalised(const ConfigKey* key, const std::string& raw) {
  if (key == nullptr) return raw;
  return validate_value(*key, raw).value_or(raw);
}

std::optional<std::string> owned(std::optional<std::string_view> text) {
  return text ? std::optional(std::string(*text)) : std::nullopt;
}

// Everything that the layers have for a broker key and its synonyms.
std::vector<Synonym> everything_set(std::string_view name, const BrokerLayers& layers) {
  const std::vector<std::string_view> names = broker_synonyms(name);
  const ConfigKey* key = find_broker_key(name);
  const bool secret = key == nullptr || key->sensitive();
  std::vector<Synonym> found;
  const auto add = [&](std::string_view synonym, const std::string* value, Source source) {
    if (value != nullptr)
      found.push_back({std::string(synonym), secret ? std::nullopt : std::optional(*value), source});
  };
  for (const auto n : names) add(n, find_in(layers.broker, n), Source::dynamic_broker);
  for (const auto n : names) add(n, find_in(layers.cluster, n), Source::dynamic_default_broker);
  for (const auto n : names)
    if (const Setting* setting = layers.file.find(n)) add(n, &setting->raw, Source::static_broker);
  for (const auto n : names) {
    const ConfigKey* row = broker_table().find(n);
    if (row == nullptr || !row->default_value) continue;
    const std::string value(*row->default_value);
    add(n, &value, Source::default_);
  }
  return found;
}

// The same as DescribeConfigs tells it: what comes before the first value under the asked name is left out.
std::vector<Synonym> broker_synonym_values(std::string_view name, const BrokerLayers& layers) {
  std::vector<Synonym> found = everything_set(name, layers);
  const auto first = std::ranges::find(found, name, &Synonym::name);
  found.erase(found.begin(), first);
  return found;
}

Source first_source(const std::vector<Synonym>& synonyms) {
  return synonyms.empty() ? Source::default_ : synonyms.front().source;
}

// The names to describe: those of the table that are not hidden, and those that were set.
template <class Set>
std::vector<std::string> names_of(const Table& table, const Set& set) {
  std::vector<std::string> names;
  for (const ConfigKey* key : table.keys())
    if (!key->hidden) names.emplace_back(key->name);
  for (const auto& [name, unused] : set) {
    const ConfigKey* key = table.find(name);
    if (key == nullptr || key->hidden) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

Described blank(std::string_view name, const ConfigKey* key) {
  Described described;
  described.name = name;
  if (key == nullptr) {
    described.sensitive = true;  // it may be a plug-in's secret
    return described;
  }
  described.type = key->type;
  described.sensitive = key->sensitive();
  described.doc = key->doc;
  return described;
}

// The broker's value for a topic key, in the topic key's unit.
std::optional<std::string> broker_value(const ConfigKey& key, const Config& broker, const LogDefaults& log) {
  if (key.broker_synonym.empty()) return owned(key.default_value);
  if (key.name == "retention.ms") return fmt::to_string(log.retention_ms);
  if (key.name == "segment.ms") return fmt::to_string(log.roll_ms);
  if (key.name == "segment.jitter.ms") return fmt::to_string(log.roll_jitter_ms);
  if (key.name == "flush.ms") return fmt::to_string(log.flush_ms);
  return owned(broker.text(key.broker_synonym));
}

// The broker's value for a group key.
std::optional<std::string> broker_value_for_group(const ConfigKey& key, const Config& broker) {
  if (key.broker_synonym.empty()) return owned(key.default_value);
  if (key.name == "streams.assignor.name") return broker.get_list(key.broker_synonym).front();
  return owned(broker.text(key.broker_synonym));
}

// A whole resource: its own settings over what the broker gives it.
template <class Fallback, class Synonyms>
std::vector<Described> describe(const Table& table, const Overrides& own, Source source, const Fallback& fallback,
                                const Synonyms& synonyms_of) {
  std::vector<Described> result;
  for (const std::string& name : names_of(table, own)) {
    const ConfigKey* key = table.find(name);
    Described described = blank(name, key);
    const std::string* raw = find_in(own, name);
    if (raw != nullptr) {
      described.value = key != nullptr && key->hidden ? *raw : normalised(key, *raw);
    } else {
      described.value = fallback(*key);
    }
    if (described.sensitive) described.value.reset();
    if (raw != nullptr) described.synonyms.push_back({name, described.value, source});
    if (key != nullptr)
      for (Synonym& synonym : synonyms_of(*key)) described.synonyms.push_back(std::move(synonym));
    described.source = first_source(described.synonyms);
    result.push_back(std::move(described));
  }
  return result;
}

// A stored value that does not fit keeps nobody from describing the rest.
Config in_force(const BrokerLayers& layers) { return effective_broker(layers).value_or(layers.file); }

// The milliseconds of a value that was set in minutes or hours.
std::string in_milliseconds(std::string_view name, const std::string& value) {
  const std::int64_t unit = name.ends_with(".minutes") ? kMinute : name.ends_with(".hours") ? kHour : 1;
  const auto number = unit == 1 ? std::nullopt : parse_integer(trimmed(value));
  return number ? fmt::to_string(*number * unit) : value;
}

}  // namespace

std::expected<Config, std::string> effective_broker(const BrokerLayers& layers) {
  auto config = layers.file.with(as_entries(layers.cluster), Source::dynamic_default_broker);
  if (!config) return config;
  return config->with(as_entries(layers.broker), Source::dynamic_broker);
}

Config effective_topic(const Config& topic, const Config& broker) {
  const LogDefaults log = log_defaults(broker);
  std::map<std::string, std::string, std::less<>> defaults;
  for (const ConfigKey* key : topic_table().keys())
    if (auto value = broker_value(*key, broker, log)) defaults.emplace(key->name, std::move(*value));
  return topic.with_defaults(std::move(defaults));
}

Config effective_group(const Config& group, const Config& broker) {
  std::map<std::string, std::string, std::less<>> defaults;
  for (const ConfigKey* key : group_table().keys())
    if (auto value = broker_value_for_group(*key, broker)) defaults.emplace(key->name, std::move(*value));
  std::vector<Entry> clamped;
  for (const GroupBounds& bounds : group_bounds()) {
    if (!group.is_set(bounds.key)) continue;
    const std::int64_t value = group.get_int(bounds.key);
    std::int64_t within = value;
    if (!bounds.high.empty()) within = std::min<std::int64_t>(within, broker.get_int(bounds.high));
    if (!bounds.low.empty()) within = std::max<std::int64_t>(within, broker.get_int(bounds.low));
    if (within != value) clamped.push_back({std::string(bounds.key), fmt::to_string(within), "bounds", 0});
  }
  return group.with(clamped, Source::group).value_or(group).with_defaults(std::move(defaults));
}

LogDefaults log_defaults(const Config& broker) {
  LogDefaults log;
  if (const auto ms = broker.find_long("log.retention.ms")) {
    log.retention_ms = *ms;
  } else if (const auto minutes = broker.find_int("log.retention.minutes")) {
    log.retention_ms = *minutes * kMinute;
  } else {
    log.retention_ms = broker.get_int("log.retention.hours") * kHour;
  }
  log.retention_ms = std::max<std::int64_t>(log.retention_ms, -1);
  log.roll_ms = broker.find_long("log.roll.ms").value_or(broker.get_int("log.roll.hours") * kHour);
  log.roll_jitter_ms = broker.find_long("log.roll.jitter.ms").value_or(broker.get_int("log.roll.jitter.hours") * kHour);
  log.flush_ms = broker.find_long("log.flush.interval.ms").value_or(broker.get_long("log.flush.scheduler.interval.ms"));
  return log;
}

std::vector<std::string> log_dirs(const Config& broker) {
  auto dirs = broker.find_list("log.dirs");
  return dirs ? std::move(*dirs) : broker.get_list("log.dir");
}

std::vector<Described> describe_broker(const BrokerLayers& layers) {
  const Config config = in_force(layers);
  std::vector<Described> result;
  for (const std::string& name : names_of(broker_table(), config.settings())) {
    const ConfigKey* row = broker_table().find(name);
    Described described = blank(name, find_broker_key(name));
    described.read_only = row == nullptr || row->dynamic == DynamicMode::read_only;
    if (!described.sensitive) {
      // Names that are no row of their own are told as they were written.
      if (row == nullptr || row->hidden) {
        described.value = config.find(name)->raw;
      } else {
        described.value = owned(config.text(name));
      }
    }
    described.synonyms = broker_synonym_values(name, layers);
    described.source = first_source(described.synonyms);
    result.push_back(std::move(described));
  }
  return result;
}

std::vector<Described> describe_cluster_default(const BrokerLayers& layers) {
  std::vector<Described> result;
  for (const auto& [name, value] : layers.cluster) {
    const ConfigKey* row = broker_table().find(name);
    Described described = blank(name, find_broker_key(name));
    described.read_only = row == nullptr || row->dynamic == DynamicMode::read_only;
    described.source = Source::dynamic_default_broker;
    if (!described.sensitive) described.value = value;
    described.synonyms = broker_synonym_values(name, layers);
    std::erase_if(described.synonyms, [](const Synonym& s) { return s.source != Source::dynamic_default_broker; });
    result.push_back(std::move(described));
  }
  return result;
}

std::vector<Described> describe_topic(const Overrides& topic, const BrokerLayers& layers) {
  const Config broker = in_force(layers);
  const LogDefaults log = log_defaults(broker);
  return describe(
      topic_table(), topic, Source::dynamic_topic, [&](const ConfigKey& key) { return broker_value(key, broker, log); },
      [&](const ConfigKey& key) {
        return key.broker_synonym.empty() ? std::vector<Synonym>{} : broker_synonym_values(key.broker_synonym, layers);
      });
}

std::vector<Described> describe_group(const Overrides& group, const BrokerLayers& layers) {
  const Config broker = in_force(layers);
  return describe(
      group_table(), group, Source::group, [&](const ConfigKey& key) { return broker_value_for_group(key, broker); },
      [&](const ConfigKey& key) {
        if (!key.broker_synonym.empty()) return broker_synonym_values(key.broker_synonym, layers);
        std::vector<Synonym> only_default;
        if (key.default_value)
          only_default.push_back({std::string(key.name), std::string(*key.default_value), Source::default_});
        return only_default;
      });
}

std::vector<Described> describe_client_metrics(const Overrides& subscription) {
  return describe(
      client_metrics_table(), subscription, Source::client_metrics,
      [](const ConfigKey& key) { return owned(key.default_value); },
      [](const ConfigKey&) { return std::vector<Synonym>{}; });
}

std::vector<Described> describe_created_topic(const Overrides& topic, const BrokerLayers& layers) {
  std::vector<Described> result;
  for (const std::string& name : names_of(topic_table(), Overrides{})) {
    const ConfigKey& key = *topic_table().find(name);
    Described described = blank(name, &key);
    const std::vector<Synonym> set =
        key.broker_synonym.empty() ? std::vector<Synonym>{} : everything_set(key.broker_synonym, layers);
    if (const std::string* own = find_in(topic, name)) {
      described.value = *own;
      described.source = Source::dynamic_topic;
    } else if (!set.empty() && set.front().source != Source::default_) {
      described.value = in_milliseconds(set.front().name, *set.front().value);
      described.source = set.front().source;
    } else {
      described.value = owned(key.default_value);
    }
    result.push_back(std::move(described));
  }
  return result;
}

}  // namespace thalweg::config
