// ElectLeaders (API 43): a partition has one replica here, which leads it as long as its log directory works, so there
// is never anything to elect.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "broker/broker.h"
#include "broker/shard.h"
#include "server/handlers/handlers.h"
#include "server/handlers/topic_view.h"

namespace thalweg::server::handlers {

namespace {

using protocol::ElectLeadersRequest;
using protocol::ElectLeadersResponse;
using protocol::ErrorCode;

enum class Election : std::uint8_t { preferred = 0, unclean = 1 };

struct Outcome {
  ErrorCode error = ErrorCode::none;
  std::optional<std::string> message;
};

Outcome outcome_of(ErrorCode code) { return {code, std::string(protocol::error_text(code))}; }

Outcome elect(const RequestContext& context, std::string_view name, std::int32_t partition, Election election) {
  const metadata::Topic* topic = context.shard.snapshot()->topic(name);
  if (topic == nullptr)
    return {ErrorCode::unknown_topic_or_partition, fmt::format("There is no topic named '{}'", name)};
  if (topic->partition(partition) == nullptr)
    return {ErrorCode::unknown_topic_or_partition, fmt::format("{} has no partition {}", name, partition)};
  if (view_partition(context, *topic, partition).leader != protocol::kNoBroker)
    return outcome_of(ErrorCode::election_not_needed);
  return outcome_of(election == Election::preferred ? ErrorCode::preferred_leader_not_available
                                                    : ErrorCode::eligible_leaders_not_available);
}

void add(ElectLeadersResponse::ReplicaElectionResult& topic, std::int32_t partition, const Outcome& outcome) {
  auto& answer = topic.partition_result.emplace_back();
  answer.partition_id = partition;
  answer.error_code = outcome.error;
  answer.error_message.reset();
  if (outcome.message) answer.error_message = *outcome.message;
}

// Every partition but those that need no election, which is said by leaving them out.
void elect_everywhere(const RequestContext& context, Election election, ElectLeadersResponse& response) {
  for (const auto& [name, topic] : context.shard.snapshot()->topics()) {
    auto& answer = response.replica_election_results.emplace_back();
    answer.topic = protocol::TopicName(name);
    for (std::int32_t partition = 0; partition < topic->partitions.size(); ++partition) {
      const Outcome outcome = elect(context, name, partition, election);
      if (outcome.error != ErrorCode::election_not_needed) add(answer, partition, outcome);
    }
  }
}

// The same error for the whole and for each partition that was named.
ElectLeadersResponse refused(const RequestContext& context, const ElectLeadersRequest& request, const Outcome& why) {
  ElectLeadersResponse response;
  if (context.version >= 1) response.error_code = why.error;
  if (!request.topic_partitions) return response;
  for (const auto& topic : *request.topic_partitions) {
    auto& answer = response.replica_election_results.emplace_back();
    answer.topic = topic.topic;
    for (const std::int32_t partition : topic.partitions) add(answer, partition, why);
  }
  return response;
}

}  // namespace

Awaitable<ElectLeadersResponse> elect_leaders(RequestContext& context, protocol::ElectLeadersRequest request) {
  if (!context.authorized(broker::AclOperation::alter, broker::ResourceType::cluster, broker::kClusterResource))
    co_return refused(context, request, outcome_of(ErrorCode::cluster_authorization_failed));
  if (request.topic_partitions && request.topic_partitions->empty()) co_return ElectLeadersResponse();
  if (request.timeout_ms <= 0) co_return refused(context, request, {ErrorCode::request_timed_out, std::nullopt});
  if (request.election_type < 0 || request.election_type > static_cast<std::int8_t>(Election::unclean)) {
    const Outcome why{ErrorCode::invalid_request, fmt::format("There is no election type {}", request.election_type)};
    co_return refused(context, request, why);
  }
  const auto election = static_cast<Election>(request.election_type);
  ElectLeadersResponse response;
  if (!request.topic_partitions) {
    elect_everywhere(context, election, response);
    co_return response;
  }
  for (const auto& topic : *request.topic_partitions) {
    auto& answer = response.replica_election_results.emplace_back();
    answer.topic = topic.topic;
    for (const std::int32_t partition : topic.partitions)
      add(answer, partition, elect(context, topic.topic.view(), partition, election));
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
