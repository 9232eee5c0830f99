#include "server/dispatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "server/handlers/handlers.h"

namespace thalweg::server {

namespace {

using broker::RequestContext;
using protocol::ApiKey;
using runtime::Awaitable;

// Decodes the body; on a fault fills `reply` with what closes the connection, as Kafka does for what it cannot read.
template <class Request>
bool decode(const RequestContext& context, const base::Bytes& body, Request& request, Reply& reply) {
  protocol::Reader reader(body);
  request.decode(reader, context.version);
  if (reader.ok()) return true;
  reply.close = true;
  reply.fault = fmt::format("unreadable at byte {} of the body: {}", reader.fault_position(), reader.fault());
  return false;
}

template <class Request, auto handler>
Awaitable<Reply> run(RequestContext& context, base::Bytes body) {
  Request request;
  Reply reply;
  if (!decode(context, body, request, reply)) co_return reply;
  const typename Request::Response response = co_await handler(context, std::move(request));
  co_return internal::encode_reply(context, response, context.version);
}

// The same where the handler may end the connection instead of answering, or answer nothing.
template <class Request, auto handler>
Awaitable<Reply> run_or_close(RequestContext& context, base::Bytes body) {
  Request request;
  Reply reply;
  if (!decode(context, body, request, reply)) co_return reply;
  auto answer = co_await handler(context, std::move(request));
  if (answer.response) co_return internal::encode_reply(context, *answer.response, context.version);
  reply.close = !answer.close_because.empty();
  reply.fault = std::move(answer.close_because);
  co_return reply;
}

constexpr auto kServed = std::to_array<ServedApi>({
    // key, lowest, highest, with unstable, advertised lowest, pipelined
    {ApiKey::produce, 3, 13, 13, 0, true, run_or_close<protocol::ProduceRequest, handlers::produce>},
    {ApiKey::fetch, 4, 18, 18, 4, false, run<protocol::FetchRequest, handlers::fetch>},
    {ApiKey::list_offsets, 1, 11, 11, 1, false, run<protocol::ListOffsetsRequest, handlers::list_offsets>},
    {ApiKey::metadata, 0, 13, 14, 0, false, run<protocol::MetadataRequest, handlers::metadata>},
    {ApiKey::offset_commit, 2, 10, 10, 2, false, run<protocol::OffsetCommitRequest, handlers::offset_commit>},
    {ApiKey::offset_fetch, 1, 10, 10, 1, false, run<protocol::OffsetFetchRequest, handlers::offset_fetch>},
    {ApiKey::find_coordinator, 0, 6, 6, 0, false, run<protocol::FindCoordinatorRequest, handlers::find_coordinator>},
    {ApiKey::join_group, 0, 9, 9, 0, false, run<protocol::JoinGroupRequest, handlers::join_group>},
    {ApiKey::heartbeat, 0, 4, 4, 0, false, run<protocol::HeartbeatRequest, handlers::heartbeat>},
    {ApiKey::leave_group, 0, 5, 5, 0, false, run<protocol::LeaveGroupRequest, handlers::leave_group>},
    {ApiKey::sync_group, 0, 5, 5, 0, false, run<protocol::SyncGroupRequest, handlers::sync_group>},
    {ApiKey::describe_groups, 0, 6, 6, 0, false, run<protocol::DescribeGroupsRequest, handlers::describe_groups>},
    {ApiKey::list_groups, 0, 5, 5, 0, false, run<protocol::ListGroupsRequest, handlers::list_groups>},
    {ApiKey::sasl_handshake, 0, 1, 1, 0, false, run<protocol::SaslHandshakeRequest, handlers::sasl_handshake>},
    {ApiKey::api_versions, 0, 5, 5, 0, false, run<protocol::ApiVersionsRequest, handlers::api_versions>},
    {ApiKey::create_topics, 2, 7, 7, 2, false, run<protocol::CreateTopicsRequest, handlers::create_topics>},
    {ApiKey::delete_topics, 1, 6, 6, 1, false, run<protocol::DeleteTopicsRequest, handlers::delete_topics>},
    {ApiKey::delete_records, 0, 2, 2, 0, false, run<protocol::DeleteRecordsRequest, handlers::delete_records>},
    {ApiKey::init_producer_id, 0, 5, 5, 0, false, run<protocol::InitProducerIdRequest, handlers::init_producer_id>},
    {ApiKey::offset_for_leader_epoch, 2, 4, 4, 2, false,
     run<protocol::OffsetForLeaderEpochRequest, handlers::offset_for_leader_epoch>},
    {ApiKey::describe_acls, 1, 3, 3, 1, false, run_or_close<protocol::DescribeAclsRequest, handlers::describe_acls>},
    {ApiKey::create_acls, 1, 3, 3, 1, false, run_or_close<protocol::CreateAclsRequest, handlers::create_acls>},
    {ApiKey::delete_acls, 1, 3, 3, 1, false, run_or_close<protocol::DeleteAclsRequest, handlers::delete_acls>},
    {ApiKey::describe_configs, 1, 4, 4, 1, false, run<protocol::DescribeConfigsRequest, handlers::describe_configs>},
    {ApiKey::alter_configs, 0, 2, 2, 0, false, run<protocol::AlterConfigsRequest, handlers::alter_configs>},
    {ApiKey::describe_log_dirs, 1, 5, 5, 1, false, run<protocol::DescribeLogDirsRequest, handlers::describe_log_dirs>},
    {ApiKey::sasl_authenticate, 0, 2, 2, 0, false, run<protocol::SaslAuthenticateRequest, handlers::sasl_authenticate>},
    {ApiKey::create_partitions, 0, 3, 3, 0, false, run<protocol::CreatePartitionsRequest, handlers::create_partitions>},
    {ApiKey::create_delegation_token, 1, 3, 3, 1, false,
     run<protocol::CreateDelegationTokenRequest, handlers::create_delegation_token>},
    {ApiKey::renew_delegation_token, 1, 2, 2, 1, false,
     run<protocol::RenewDelegationTokenRequest, handlers::renew_delegation_token>},
    {ApiKey::expire_delegation_token, 1, 2, 2, 1, false,
     run<protocol::ExpireDelegationTokenRequest, handlers::expire_delegation_token>},
    {ApiKey::describe_delegation_token, 1, 3, 3, 1, false,
     run<protocol::DescribeDelegationTokenRequest, handlers::describe_delegation_token>},
    {ApiKey::delete_groups, 0, 3, 3, 0, false, run<protocol::DeleteGroupsRequest, handlers::delete_groups>},
    {ApiKey::elect_leaders, 0, 2, 2, 0, false, run<protocol::ElectLeadersRequest, handlers::elect_leaders>},
    {ApiKey::incremental_alter_configs, 0, 1, 1, 0, false,
     run<protocol::IncrementalAlterConfigsRequest, handlers::incremental_alter_configs>},
    {ApiKey::alter_partition_reassignments, 0, 1, 1, 0, false,
     run<protocol::AlterPartitionReassignmentsRequest, handlers::alter_partition_reassignments>},
    {ApiKey::list_partition_reassignments, 0, 0, 0, 0, false,
     run<protocol::ListPartitionReassignmentsRequest, handlers::list_partition_reassignments>},
    {ApiKey::offset_delete, 0, 0, 0, 0, false, run<protocol::OffsetDeleteRequest, handlers::offset_delete>},
    {ApiKey::describe_user_scram_credentials, 0, 0, 0, 0, false,
     run<protocol::DescribeUserScramCredentialsRequest, handlers::describe_user_scram_credentials>},
    {ApiKey::alter_user_scram_credentials, 0, 0, 0, 0, false,
     run<protocol::AlterUserScramCredentialsRequest, handlers::alter_user_scram_credentials>},
    {ApiKey::describe_quorum, 0, 2, 2, 0, false, run<protocol::DescribeQuorumRequest, handlers::describe_quorum>},
    {ApiKey::update_features, 0, 2, 2, 0, false, run<protocol::UpdateFeaturesRequest, handlers::update_features>},
    {ApiKey::describe_cluster, 0, 2, 2, 0, false, run<protocol::DescribeClusterRequest, handlers::describe_cluster>},
    {ApiKey::describe_producers, 0, 0, 0, 0, false,
     run<protocol::DescribeProducersRequest, handlers::describe_producers>},
    {ApiKey::unregister_broker, 0, 0, 0, 0, false, run<protocol::UnregisterBrokerRequest, handlers::unregister_broker>},
    {ApiKey::get_telemetry_subscriptions, 0, 0, 0, 0, false,
     run<protocol::GetTelemetrySubscriptionsRequest, handlers::get_telemetry_subscriptions>},
    {ApiKey::push_telemetry, 0, 0, 0, 0, false, run<protocol::PushTelemetryRequest, handlers::push_telemetry>},
    {ApiKey::list_config_resources, 0, 1, 1, 0, false,
     run<protocol::ListConfigResourcesRequest, handlers::list_config_resources>},
    {ApiKey::describe_topic_partitions, 0, 0, 0, 0, false,
     run<protocol::DescribeTopicPartitionsRequest, handlers::describe_topic_partitions>},
    {ApiKey::add_raft_voter, 0, 1, 1, 0, false, run<protocol::AddRaftVoterRequest, handlers::add_raft_voter>},
    {ApiKey::remove_raft_voter, 0, 0, 0, 0, false, run<protocol::RemoveRaftVoterRequest, handlers::remove_raft_voter>},
    {ApiKey::unregister_controller, 0, 0, 0, 0, false,
     run<protocol::UnregisterControllerRequest, handlers::unregister_controller>},
});

}  // namespace

std::span<const ServedApi> served_apis() { return kServed; }

const ServedApi* find_served(std::int16_t key) {
  const auto* it = std::ranges::find(kServed, static_cast<ApiKey>(key), &ServedApi::key);
  return it == kServed.end() ? nullptr : it;
}

}  // namespace thalweg::server
