// Changing the configs of topics, brokers, groups and client metrics subscriptions: the rules, and the change sets that
// come of them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "broker/request_context.h"
#include "config/effective.h"
#include "config/table.h"
#include "protocol/error.h"
#include "records/record.h"
#include "runtime/await.h"

namespace thalweg::broker {

// Kafka's numbers (AlterConfigOp.OpType).
enum class ConfigOperation : std::int8_t { set = 0, delete_ = 1, append = 2, subtract = 3 };

struct ConfigChange {
  std::string name;
  ConfigOperation operation = ConfigOperation::set;
  std::optional<std::string> value;
};

// A change of one resource's own settings.
struct ConfigAlteration {
  records::ConfigResource resource;
  std::vector<ConfigChange> changes;
  bool replaces = false;  // AlterConfigs: every change sets, and what is not named goes back to its default
};

// What changes say before anything is looked up.
//   errors   invalid_request: a key named twice, a value that is missing
protocol::Result<void> check_changes(std::span<const ConfigChange> changes);

// What a resource's own settings become. Values are not looked at.
//   errors   invalid_request: an operation that does not exist
//            invalid_config: a list operation on what is no list
protocol::Result<config::Overrides> apply_changes(const config::Table& table, const config::Overrides& before,
                                                  std::span<const ConfigChange> changes);

// Whether a resource may have these settings of its own.
//   broker   its settings in force, which bound those of topics and groups
//   errors   invalid_config: an unknown key or a bad value; client metrics: invalid_request for an unknown key
//            and an interval beyond the limits
protocol::Result<void> check_own_configs(records::ResourceType type, const config::Overrides& own,
                                         const config::Config& broker);

// Makes a change whose `changes` check_changes has passed, whole or not at all; with validate_only it only says whether
// that would go.
//   errors   those of apply_changes and check_own_configs
//            unknown_topic_or_partition, invalid_topic_exception
//            invalid_request: no such broker, a resource without a name, a broker key that only a restart changes, a
//            bad
//              value for a broker, a change at the same time
runtime::Awaitable<protocol::Result<void>> alter_configs(RequestContext& context, ConfigAlteration alteration,
                                                         bool validate_only);

}  // namespace thalweg::broker
