// Creating and deleting topics, adding partitions: the rules, and the change sets that come of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/uuid.h"
#include "broker/request_context.h"
#include "config/effective.h"
#include "metadata/snapshot.h"
#include "protocol/error.h"
#include "runtime/await.h"

namespace thalweg::broker {

// What keeps a name from being a topic's; nothing where it may.
//   source   Kafka's Topic.validate: 1 to 249 characters of [a-zA-Z0-9._-], not "." or ".."
std::optional<std::string> topic_name_fault(std::string_view name);
// Topics of Kafka's own: this broker keeps what they hold in the metadata store, so no client creates or writes them.
bool is_internal_topic(std::string_view name);

struct ManualAssignment {
  std::int32_t partition = 0;
  std::vector<std::int32_t> brokers;
};

// Checks that the brokers of one partition are just this one.
//   errors   invalid_replica_assignment
protocol::Result<void> check_brokers(const ManualAssignment& assignment, std::int32_t node_id);

struct NewTopic {
  std::string name;
  std::int32_t partitions = -1;          // -1: num.partitions
  std::int16_t replication_factor = -1;  // -1: default.replication.factor
  std::vector<ManualAssignment> assignments;
  std::vector<std::pair<std::string, std::optional<std::string>>> configs;
};

struct CreatedTopic {
  base::Uuid topic_id;
  std::int32_t partitions = 0;
  std::int16_t replication_factor = 0;
  config::Overrides configs;
};

// Creates the topic; with validate_only it only says whether that would go.
//   errors   invalid_topic_exception, topic_already_exists, invalid_partitions, invalid_replication_factor,
//            invalid_replica_assignment, invalid_request, invalid_config
runtime::Awaitable<protocol::Result<CreatedTopic>> create_topic(RequestContext& context, NewTopic topic,
                                                                bool validate_only);

// Deletes it; its files go in the background.
//   errors   unknown_topic_id where it is gone already
runtime::Awaitable<protocol::Result<void>> delete_topic(RequestContext& context, base::Uuid topic_id);

// Raises the number of partitions to `count`.
//   errors   invalid_partitions, invalid_replica_assignment, unknown_topic_or_partition
runtime::Awaitable<protocol::Result<void>> add_partitions(RequestContext& context, std::string name, std::int32_t count,
                                                          std::optional<std::vector<ManualAssignment>> assignments,
                                                          bool validate_only);

}  // namespace thalweg::broker
