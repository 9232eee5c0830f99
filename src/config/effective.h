// What is in force for a topic, a group or a broker, and how DescribeConfigs tells it.
//
// A value is looked for in this order; the first that has it wins, the rest are its synonyms:
//   the topic's, group's or subscription's own     dynamic_topic, group, client_metrics
//   set dynamically for this broker                dynamic_broker
//   set dynamically for all brokers                dynamic_default_broker
//   the file or the command line                   static_broker
//   the default                                    default_
// Within one layer milliseconds come before minutes, minutes before hours.
//   source   DescribeConfigs of Apache Kafka 4.4; KIP-226, KIP-142
#pragma once

#include <cstdint>
#include <expected>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/config.h"

namespace thalweg::config {

// Settings as they are stored: by name, as the client wrote them.
using Overrides = std::map<std::string, std::string, std::less<>>;

// The layers of a broker's settings.
struct BrokerLayers {
  const Config& file;        // file and command line, over broker_table()
  const Overrides& cluster;  // set dynamically for all brokers
  const Overrides& broker;   // set dynamically for this one
};

// The broker's settings in force.
//   errors   a stored value that does not fit its key
std::expected<Config, std::string> effective_broker(const BrokerLayers& layers);

// A topic's settings in force: its own over the broker's over the defaults. `is_set` tells which are its own.
Config effective_topic(const Config& topic, const Config& broker);

// A group's settings in force: its own, kept within the broker's bounds, over the broker's.
Config effective_group(const Config& group, const Config& broker);

// What a topic gets that sets none of these: the broker's settings in milliseconds, whatever the unit they were set in.
struct LogDefaults {
  std::int64_t retention_ms = 0;  // -1: without limit
  std::int64_t roll_ms = 0;
  std::int64_t roll_jitter_ms = 0;
  std::int64_t flush_ms = 0;
};
LogDefaults log_defaults(const Config& broker);

// The directories for partitions: `log.dirs`, or else `log.dir`.
std::vector<std::string> log_dirs(const Config& broker);

// A place in which a value stands, with the value there. None for a secret.
struct Synonym {
  std::string name;
  std::optional<std::string> value;
  Source source = Source::unknown;

  bool operator==(const Synonym&) const = default;
};

// One key as DescribeConfigs tells it.
struct Described {
  std::string name;
  std::optional<std::string> value;  // none for null, and for a secret
  Type type = Type::unknown;
  Source source = Source::default_;
  bool read_only = false;
  bool sensitive = false;
  std::vector<Synonym> synonyms;
  std::string_view doc;
};

// Every key of a broker, by name: those of the table, and whatever else was set.
std::vector<Described> describe_broker(const BrokerLayers& layers);

// The keys set dynamically for all brokers: the broker resource without a name.
std::vector<Described> describe_cluster_default(const BrokerLayers& layers);

// Every key of a topic, a group, a client metrics subscription.
std::vector<Described> describe_topic(const Overrides& topic, const BrokerLayers& layers);
std::vector<Described> describe_group(const Overrides& group, const BrokerLayers& layers);
std::vector<Described> describe_client_metrics(const Overrides& subscription);

// Every key of a topic as the answer to CreateTopics tells it: values as they were written, no synonyms, and the layer
// of a setting in minutes or hours, which DescribeConfigs leaves out.
std::vector<Described> describe_created_topic(const Overrides& topic, const BrokerLayers& layers);

}  // namespace thalweg::config
