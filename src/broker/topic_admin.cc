#include "broker/topic_admin.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "broker/broker.h"
#include "broker/commit.h"
#include "broker/config_admin.h"

namespace thalweg::broker {

namespace {

using protocol::ErrorCode;
using protocol::fail;
using protocol::Result;
using runtime::Awaitable;

// What one broker can be asked to hold in one request.
constexpr std::int32_t kMostPartitionsAtOnce = 10'000;
constexpr std::size_t kMostNameBytes = 249;
constexpr std::string_view kNoneTakesMore = "No log directory takes new partitions: they have failed or are cordoned";

std::string with_dots_as_underscores(std::string_view name) {
  std::string result(name);
  std::ranges::replace(result, '.', '_');
  return result;
}

// Kafka's metric names do not tell '.' from '_', so it keeps topics apart that differ only in these.
const metadata::Topic* colliding_topic(const metadata::Snapshot& snapshot, std::string_view name) {
  if (name.find_first_of("._") == std::string_view::npos) return nullptr;
  const std::string wanted = with_dots_as_underscores(name);
  // Names that could collide share what stands before the first dot or underscore.
  const std::string_view stem = name.substr(0, name.find_first_of("._"));
  for (auto it = snapshot.topics().lower_bound(stem); it != snapshot.topics().end(); ++it) {
    const auto& [other, topic] = *it;
    if (!other.starts_with(stem)) break;
    if (other != name && with_dots_as_underscores(other) == wanted) return topic.get();
  }
  return nullptr;
}

Result<config::Overrides> checked_configs(const NewTopic& topic, const config::Config& broker_config) {
  config::Overrides overrides;
  for (const auto& [name, value] : topic.configs) {
    if (!value) return fail(ErrorCode::invalid_config, fmt::format("{} needs a value", name));
    overrides[name] = *value;
  }
  TRY(check_own_configs(records::ResourceType::topic, overrides, broker_config));
  return overrides;
}

struct Shape {
  std::int32_t partitions = 0;
  std::int16_t replication_factor = 1;
};

Result<Shape> manual_shape(NewTopic& topic, std::int32_t node_id) {
  if (topic.replication_factor != -1)
    return fail(ErrorCode::invalid_request, "With assignments the replication factor must be -1");
  if (topic.partitions != -1)
    return fail(ErrorCode::invalid_request, "With assignments the number of partitions must be -1");
  std::ranges::sort(topic.assignments, {}, &ManualAssignment::partition);
  std::size_t replicas = 0;
  for (std::size_t i = 0; i < topic.assignments.size(); ++i) {
    const ManualAssignment& assignment = topic.assignments[i];
    if (i > 0 && topic.assignments[i - 1].partition == assignment.partition)
      return fail(ErrorCode::invalid_replica_assignment,
                  fmt::format("Partition {} is assigned twice", assignment.partition));
    TRY(check_brokers(assignment, node_id));
    if (i > 0 && assignment.brokers.size() != replicas)
      return fail(ErrorCode::invalid_replica_assignment, "All partitions need the same number of replicas");
    replicas = assignment.brokers.size();
  }
  for (std::size_t i = 0; i < topic.assignments.size(); ++i)
    if (topic.assignments[i].partition != static_cast<std::int32_t>(i))
      return fail(ErrorCode::invalid_replica_assignment, "The assigned partitions must be 0, 1, 2 and so on");
  return Shape{static_cast<std::int32_t>(topic.assignments.size()), static_cast<std::int16_t>(replicas)};
}

Result<Shape> counted_shape(const NewTopic& topic, const Settings& settings) {
  if (topic.replication_factor < -1 || topic.replication_factor == 0)
    return fail(ErrorCode::invalid_replication_factor,
                "The replication factor must be positive, or -1 for the default");
  if (topic.partitions < -1 || topic.partitions == 0)
    return fail(ErrorCode::invalid_partitions, "The number of partitions must be positive, or -1 for the default");
  Shape shape;
  shape.partitions = topic.partitions == -1 ? settings.num_partitions : topic.partitions;
  shape.replication_factor =
      topic.replication_factor == -1 ? settings.default_replication_factor : topic.replication_factor;
  if (shape.replication_factor > 1)
    return fail(ErrorCode::invalid_replication_factor,
                fmt::format("There is one broker, too few for {} replicas", shape.replication_factor));
  if (shape.partitions > kMostPartitionsAtOnce)
    return fail(ErrorCode::policy_violation, fmt::format("More than {} partitions at once", kMostPartitionsAtOnce));
  return shape;
}

// Nothing where no log directory takes new partitions.
std::vector<records::PartitionPlacement> placements(const RequestContext& context, std::int32_t count) {
  std::vector<records::PartitionPlacement> result;
  for (const base::Uuid& directory : context.broker.directories_for_new_partitions(*context.shard.snapshot(), count))
    result.push_back({.leader = context.broker.node_id(), .directory = directory});
  return result;
}

}  // namespace

Result<void> check_brokers(const ManualAssignment& assignment, std::int32_t node_id) {
  if (assignment.brokers.empty())
    return fail(ErrorCode::invalid_replica_assignment, "Each partition needs a broker; an assignment names none");
  for (std::size_t i = 0; i < assignment.brokers.size(); ++i) {
    if (std::ranges::count(assignment.brokers, assignment.brokers[i]) > 1)
      return fail(ErrorCode::invalid_replica_assignment,
                  fmt::format("An assignment names broker {} twice", assignment.brokers[i]));
  }
  for (const std::int32_t broker : assignment.brokers)
    if (broker != node_id)
      return fail(ErrorCode::invalid_replica_assignment,
                  fmt::format("An assignment names broker {}, and there is only {}", broker, node_id));
  return {};
}

std::optional<std::string> topic_name_fault(std::string_view name) {
  if (name.empty()) return "A topic needs a name";
  if (name == "." || name == "..") return fmt::format("'{}' cannot be a topic's name", name);
  if (name.size() > kMostNameBytes)
    return fmt::format("A topic's name has {} characters at most, not {}", kMostNameBytes, name.size());
  const auto legal = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
  };
  if (!std::ranges::all_of(name, legal))
    return fmt::format("A topic's name is made of letters and digits of ASCII, '.', '_' and '-'; '{}' is not", name);
  return std::nullopt;
}

bool is_internal_topic(std::string_view name) {
  static constexpr std::array<std::string_view, 4> kNames = {"__consumer_offsets", "__transaction_state",
                                                             "__share_group_state", "__cluster_metadata"};
  return std::ranges::find(kNames, name) != kNames.end();
}

Awaitable<Result<CreatedTopic>> create_topic(RequestContext& context, NewTopic topic, bool validate_only) {
  Broker& broker = context.broker;
  const std::shared_ptr<const metadata::Snapshot> snapshot = context.shard.snapshot();
  if (auto fault = topic_name_fault(topic.name)) co_return fail(ErrorCode::invalid_topic_exception, std::move(*fault));
  if (is_internal_topic(topic.name))
    co_return fail(ErrorCode::invalid_topic_exception, fmt::format("The name {} is reserved", topic.name));
  if (snapshot->topic(topic.name) != nullptr)
    co_return fail(ErrorCode::topic_already_exists, fmt::format("The topic '{}' already exists", topic.name));
  if (const metadata::Topic* other = colliding_topic(*snapshot, topic.name))
    co_return fail(ErrorCode::invalid_topic_exception,
                   fmt::format("'{}' is too like the topic '{}': metrics do not tell '.' from '_'", topic.name,
                               other->name.view()));
  CO_ASSIGN_OR_RETURN(const Shape shape, topic.assignments.empty() ? counted_shape(topic, broker.settings())
                                                                   : manual_shape(topic, broker.settings().node_id));
  CO_ASSIGN_OR_RETURN(config::Overrides configs, checked_configs(topic, broker.effective_config(*snapshot)));

  CreatedTopic created{.topic_id = context.shard.random().next(),
                       .partitions = shape.partitions,
                       .replication_factor = shape.replication_factor,
                       .configs = configs};
  std::vector<records::PartitionPlacement> placed = placements(context, shape.partitions);
  if (placed.empty()) co_return fail(ErrorCode::invalid_replication_factor, std::string(kNoneTakesMore));
  if (validate_only) co_return created;
  metadata::ChangeSet changes;
  changes.preconditions.emplace_back(metadata::TopicNameFree{topic.name});
  changes.records.emplace_back(records::TopicCreated{.name = topic.name,
                                                     .topic_id = created.topic_id,
                                                     .created_ms = context.shard.now_ms(),
                                                     .replication_factor = shape.replication_factor,
                                                     .partitions = std::move(placed)});
  for (const auto& [key, value] : configs)
    changes.records.emplace_back(records::ConfigSet{
        .resource = {.type = records::ResourceType::topic, .name = topic.name}, .key = key, .value = value});
  const metadata::CommitResult committed = co_await commit(context, std::move(changes));
  if (!committed) {
    if (committed.error().kind == metadata::CommitFault::Kind::precondition)
      co_return fail(ErrorCode::topic_already_exists, fmt::format("The topic '{}' already exists", topic.name));
    co_return std::unexpected(store_error(committed.error()));
  }
  co_return created;
}

Awaitable<Result<void>> delete_topic(RequestContext& context, base::Uuid topic_id) {
  metadata::ChangeSet changes;
  changes.preconditions.emplace_back(metadata::TopicExists{topic_id});
  changes.records.emplace_back(records::TopicDeleted{topic_id});
  const metadata::CommitResult committed = co_await commit(context, std::move(changes));
  if (committed) co_return Result<void>();
  if (committed.error().kind == metadata::CommitFault::Kind::precondition) co_return fail(ErrorCode::unknown_topic_id);
  co_return std::unexpected(store_error(committed.error()));
}

Awaitable<Result<void>> add_partitions(RequestContext& context, std::string name, std::int32_t count,
                                       std::optional<std::vector<ManualAssignment>> assignments, bool validate_only) {
  const metadata::Topic* topic = context.shard.snapshot()->topic(name);
  if (topic == nullptr) co_return fail(ErrorCode::unknown_topic_or_partition);
  const std::int32_t now = topic->partitions.size();
  if (count == now)
    co_return fail(ErrorCode::invalid_partitions, fmt::format("The topic has {} partitions already", now));
  if (count < now)
    co_return fail(ErrorCode::invalid_partitions,
                   fmt::format("{} has {} partitions; it cannot be given fewer ({})", name, now, count));
  const std::int32_t more = count - now;
  if (more > kMostPartitionsAtOnce)
    co_return fail(ErrorCode::policy_violation, fmt::format("More than {} partitions at once", kMostPartitionsAtOnce));
  if (assignments) {
    if (assignments->size() != static_cast<std::size_t>(more))
      co_return fail(ErrorCode::invalid_replica_assignment,
                     fmt::format("{} partitions are to be added, and {} are assigned", more, assignments->size()));
    for (const ManualAssignment& assignment : *assignments)
      CO_TRY(check_brokers(assignment, context.broker.settings().node_id));
  }
  std::vector<records::PartitionPlacement> placed = placements(context, more);
  if (placed.empty()) co_return fail(ErrorCode::invalid_replication_factor, std::string(kNoneTakesMore));
  if (validate_only) co_return Result<void>();
  metadata::ChangeSet changes;
  changes.preconditions.emplace_back(metadata::TopicAtVersion{topic->id, topic->version});
  changes.records.emplace_back(records::PartitionsAdded{.topic_id = topic->id, .partitions = std::move(placed)});
  const metadata::CommitResult committed = co_await commit(context, std::move(changes));
  if (committed) co_return Result<void>();
  if (committed.error().kind == metadata::CommitFault::Kind::precondition)
    co_return fail(ErrorCode::reassignment_in_progress, "The topic was changed at the same time; try again");
  co_return std::unexpected(store_error(committed.error()));
}

}  // namespace thalweg::broker
