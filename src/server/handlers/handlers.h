// The handlers, one file each. A handler checks at the edge, hops once per core that owns something, and answers with
// an error for each thing that failed. It never closes a connection but where Kafka does.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "broker/request_context.h"
#include "protocol/messages/add_raft_voter_request.h"
#include "protocol/messages/add_raft_voter_response.h"
#include "protocol/messages/alter_configs_request.h"
#include "protocol/messages/alter_configs_response.h"
#include "protocol/messages/alter_partition_reassignments_request.h"
#include "protocol/messages/alter_partition_reassignments_response.h"
#include "protocol/messages/alter_user_scram_credentials_request.h"
#include "protocol/messages/alter_user_scram_credentials_response.h"
#include "protocol/messages/api_versions_request.h"
#include "protocol/messages/api_versions_response.h"
#include "protocol/messages/create_acls_request.h"
#include "protocol/messages/create_acls_response.h"
#include "protocol/messages/create_delegation_token_request.h"
#include "protocol/messages/create_delegation_token_response.h"
#include "protocol/messages/create_partitions_request.h"
#include "protocol/messages/create_partitions_response.h"
#include "protocol/messages/create_topics_request.h"
#include "protocol/messages/create_topics_response.h"
#include "protocol/messages/delete_acls_request.h"
#include "protocol/messages/delete_acls_response.h"
#include "protocol/messages/delete_groups_request.h"
#include "protocol/messages/delete_groups_response.h"
#include "protocol/messages/delete_records_request.h"
#include "protocol/messages/delete_records_response.h"
#include "protocol/messages/delete_topics_request.h"
#include "protocol/messages/delete_topics_response.h"
#include "protocol/messages/describe_acls_request.h"
#include "protocol/messages/describe_acls_response.h"
#include "protocol/messages/describe_cluster_request.h"
#include "protocol/messages/describe_cluster_response.h"
#include "protocol/messages/describe_configs_request.h"
#include "protocol/messages/describe_configs_response.h"
#include "protocol/messages/describe_delegation_token_request.h"
#include "protocol/messages/describe_delegation_token_response.h"
#include "protocol/messages/describe_groups_request.h"
#include "protocol/messages/describe_groups_response.h"
#include "protocol/messages/describe_log_dirs_request.h"
#include "protocol/messages/describe_log_dirs_response.h"
#include "protocol/messages/describe_producers_request.h"
#include "protocol/messages/describe_producers_response.h"
#include "protocol/messages/describe_quorum_request.h"
#include "protocol/messages/describe_quorum_response.h"
#include "protocol/messages/describe_topic_partitions_request.h"
#include "protocol/messages/describe_topic_partitions_response.h"
#include "protocol/messages/describe_user_scram_credentials_request.h"
#include "protocol/messages/describe_user_scram_credentials_response.h"
#include "protocol/messages/elect_leaders_request.h"
#include "protocol/messages/elect_leaders_response.h"
#include "protocol/messages/expire_delegation_token_request.h"
#include "protocol/messages/expire_delegation_token_response.h"
#include "protocol/messages/fetch_request.h"
#include "protocol/messages/fetch_response.h"
#include "protocol/messages/find_coordinator_request.h"
#include "protocol/messages/find_coordinator_response.h"
#include "protocol/messages/get_telemetry_subscriptions_request.h"
#include "protocol/messages/get_telemetry_subscriptions_response.h"
#include "protocol/messages/heartbeat_request.h"
#include "protocol/messages/heartbeat_response.h"
#include "protocol/messages/incremental_alter_configs_request.h"
#include "protocol/messages/incremental_alter_configs_response.h"
#include "protocol/messages/init_producer_id_request.h"
#include "protocol/messages/init_producer_id_response.h"
#include "protocol/messages/join_group_request.h"
#include "protocol/messages/join_group_response.h"
#include "protocol/messages/leave_group_request.h"
#include "protocol/messages/leave_group_response.h"
#include "protocol/messages/list_config_resources_request.h"
#include "protocol/messages/list_config_resources_response.h"
#include "protocol/messages/list_groups_request.h"
#include "protocol/messages/list_groups_response.h"
#include "protocol/messages/list_offsets_request.h"
#include "protocol/messages/list_offsets_response.h"
#include "protocol/messages/list_partition_reassignments_request.h"
#include "protocol/messages/list_partition_reassignments_response.h"
#include "protocol/messages/metadata_request.h"
#include "protocol/messages/metadata_response.h"
#include "protocol/messages/offset_commit_request.h"
#include "protocol/messages/offset_commit_response.h"
#include "protocol/messages/offset_delete_request.h"
#include "protocol/messages/offset_delete_response.h"
#include "protocol/messages/offset_fetch_request.h"
#include "protocol/messages/offset_fetch_response.h"
#include "protocol/messages/offset_for_leader_epoch_request.h"
#include "protocol/messages/offset_for_leader_epoch_response.h"
#include "protocol/messages/produce_request.h"
#include "protocol/messages/produce_response.h"
#include "protocol/messages/push_telemetry_request.h"
#include "protocol/messages/push_telemetry_response.h"
#include "protocol/messages/remove_raft_voter_request.h"
#include "protocol/messages/remove_raft_voter_response.h"
#include "protocol/messages/renew_delegation_token_request.h"
#include "protocol/messages/renew_delegation_token_response.h"
#include "protocol/messages/sasl_authenticate_request.h"
#include "protocol/messages/sasl_authenticate_response.h"
#include "protocol/messages/sasl_handshake_request.h"
#include "protocol/messages/sasl_handshake_response.h"
#include "protocol/messages/sync_group_request.h"
#include "protocol/messages/sync_group_response.h"
#include "protocol/messages/unregister_broker_request.h"
#include "protocol/messages/unregister_broker_response.h"
#include "protocol/messages/unregister_controller_request.h"
#include "protocol/messages/unregister_controller_response.h"
#include "protocol/messages/update_features_request.h"
#include "protocol/messages/update_features_response.h"
#include "runtime/await.h"

namespace thalweg::server::handlers {

using broker::RequestContext;
using runtime::Awaitable;

// Why a connection ends without an answer.
struct Close {
  std::string because;
};
inline Close close(std::string because) { return {.because = std::move(because)}; }

// An answer, or a close, or neither.
template <class Response>
struct AnswerOrClose {
  AnswerOrClose() = default;
  // Implicit, so that a handler returns either.
  AnswerOrClose(Response answer) : response(std::move(answer)) {}          // NOLINT(google-explicit-constructor)
  AnswerOrClose(Close close) : close_because(std::move(close.because)) {}  // NOLINT(google-explicit-constructor)
  std::optional<Response> response;
  std::string close_because;
};

Awaitable<protocol::ApiVersionsResponse> api_versions(RequestContext& context, protocol::ApiVersionsRequest request);
// The answer to an ApiVersions of a version that is not served: in version 0, with the one range that matters.
protocol::ApiVersionsResponse unsupported_api_versions();
Awaitable<protocol::MetadataResponse> metadata(RequestContext& context, protocol::MetadataRequest request);
Awaitable<protocol::DescribeTopicPartitionsResponse> describe_topic_partitions(
    RequestContext& context, protocol::DescribeTopicPartitionsRequest request);
Awaitable<protocol::DescribeClusterResponse> describe_cluster(RequestContext& context,
                                                              protocol::DescribeClusterRequest request);
// What the principal may do on the cluster, as Kafka's bit field; 0 where it may not describe it.
std::int32_t cluster_operations(const RequestContext& context);
Awaitable<protocol::CreateTopicsResponse> create_topics(RequestContext& context, protocol::CreateTopicsRequest request);
Awaitable<protocol::DeleteRecordsResponse> delete_records(RequestContext& context,
                                                          protocol::DeleteRecordsRequest request);
Awaitable<protocol::DeleteTopicsResponse> delete_topics(RequestContext& context, protocol::DeleteTopicsRequest request);
Awaitable<protocol::CreatePartitionsResponse> create_partitions(RequestContext& context,
                                                                protocol::CreatePartitionsRequest request);
Awaitable<protocol::DescribeConfigsResponse> describe_configs(RequestContext& context,
                                                              protocol::DescribeConfigsRequest request);
Awaitable<protocol::AlterConfigsResponse> alter_configs(RequestContext& context, protocol::AlterConfigsRequest request);
Awaitable<protocol::IncrementalAlterConfigsResponse> incremental_alter_configs(
    RequestContext& context, protocol::IncrementalAlterConfigsRequest request);
Awaitable<protocol::ListConfigResourcesResponse> list_config_resources(RequestContext& context,
                                                                       protocol::ListConfigResourcesRequest request);
Awaitable<protocol::InitProducerIdResponse> init_producer_id(RequestContext& context,
                                                             protocol::InitProducerIdRequest request);
Awaitable<protocol::ListOffsetsResponse> list_offsets(RequestContext& context, protocol::ListOffsetsRequest request);
Awaitable<protocol::OffsetForLeaderEpochResponse> offset_for_leader_epoch(
    RequestContext& context, protocol::OffsetForLeaderEpochRequest request);
Awaitable<protocol::FetchResponse> fetch(RequestContext& context, protocol::FetchRequest request);

// A type, operation or permission of 0 closes the connection, as an unreadable request does.
Awaitable<AnswerOrClose<protocol::CreateAclsResponse>> create_acls(RequestContext& context,
                                                                   protocol::CreateAclsRequest request);
Awaitable<AnswerOrClose<protocol::DescribeAclsResponse>> describe_acls(RequestContext& context,
                                                                       protocol::DescribeAclsRequest request);
Awaitable<AnswerOrClose<protocol::DeleteAclsResponse>> delete_acls(RequestContext& context,
                                                                   protocol::DeleteAclsRequest request);

// These answer who is logged in already, or needs no login; the logins themselves are Login's (server/login.h).
Awaitable<protocol::SaslHandshakeResponse> sasl_handshake(RequestContext& context,
                                                          protocol::SaslHandshakeRequest request);
Awaitable<protocol::SaslAuthenticateResponse> sasl_authenticate(RequestContext& context,
                                                                protocol::SaslAuthenticateRequest request);
Awaitable<protocol::DescribeUserScramCredentialsResponse> describe_user_scram_credentials(
    RequestContext& context, protocol::DescribeUserScramCredentialsRequest request);
Awaitable<protocol::AlterUserScramCredentialsResponse> alter_user_scram_credentials(
    RequestContext& context, protocol::AlterUserScramCredentialsRequest request);

Awaitable<protocol::CreateDelegationTokenResponse> create_delegation_token(
    RequestContext& context, protocol::CreateDelegationTokenRequest request);
Awaitable<protocol::RenewDelegationTokenResponse> renew_delegation_token(RequestContext& context,
                                                                         protocol::RenewDelegationTokenRequest request);
Awaitable<protocol::ExpireDelegationTokenResponse> expire_delegation_token(
    RequestContext& context, protocol::ExpireDelegationTokenRequest request);
Awaitable<protocol::DescribeDelegationTokenResponse> describe_delegation_token(
    RequestContext& context, protocol::DescribeDelegationTokenRequest request);

Awaitable<protocol::FindCoordinatorResponse> find_coordinator(RequestContext& context,
                                                              protocol::FindCoordinatorRequest request);
Awaitable<protocol::JoinGroupResponse> join_group(RequestContext& context, protocol::JoinGroupRequest request);
Awaitable<protocol::SyncGroupResponse> sync_group(RequestContext& context, protocol::SyncGroupRequest request);
Awaitable<protocol::HeartbeatResponse> heartbeat(RequestContext& context, protocol::HeartbeatRequest request);
Awaitable<protocol::LeaveGroupResponse> leave_group(RequestContext& context, protocol::LeaveGroupRequest request);
Awaitable<protocol::OffsetCommitResponse> offset_commit(RequestContext& context, protocol::OffsetCommitRequest request);
Awaitable<protocol::OffsetFetchResponse> offset_fetch(RequestContext& context, protocol::OffsetFetchRequest request);
Awaitable<protocol::OffsetDeleteResponse> offset_delete(RequestContext& context, protocol::OffsetDeleteRequest request);
Awaitable<protocol::ListGroupsResponse> list_groups(RequestContext& context, protocol::ListGroupsRequest request);
Awaitable<protocol::DescribeGroupsResponse> describe_groups(RequestContext& context,
                                                            protocol::DescribeGroupsRequest request);
Awaitable<protocol::DeleteGroupsResponse> delete_groups(RequestContext& context, protocol::DeleteGroupsRequest request);

Awaitable<protocol::GetTelemetrySubscriptionsResponse> get_telemetry_subscriptions(
    RequestContext& context, protocol::GetTelemetrySubscriptionsRequest request);
Awaitable<protocol::PushTelemetryResponse> push_telemetry(RequestContext& context,
                                                          protocol::PushTelemetryRequest request);

// Produce answers nothing with acks=0; then a fault closes the connection instead, which is all such a client can
// notice.
using ProduceAnswer = AnswerOrClose<protocol::ProduceResponse>;
Awaitable<ProduceAnswer> produce(RequestContext& context, protocol::ProduceRequest request);
Awaitable<protocol::ElectLeadersResponse> elect_leaders(RequestContext& context, protocol::ElectLeadersRequest request);
Awaitable<protocol::AlterPartitionReassignmentsResponse> alter_partition_reassignments(
    RequestContext& context, protocol::AlterPartitionReassignmentsRequest request);
Awaitable<protocol::ListPartitionReassignmentsResponse> list_partition_reassignments(
    RequestContext& context, protocol::ListPartitionReassignmentsRequest request);
Awaitable<protocol::DescribeProducersResponse> describe_producers(RequestContext& context,
                                                                  protocol::DescribeProducersRequest request);
Awaitable<protocol::DescribeQuorumResponse> describe_quorum(RequestContext& context,
                                                            protocol::DescribeQuorumRequest request);
Awaitable<protocol::UpdateFeaturesResponse> update_features(RequestContext& context,
                                                            protocol::UpdateFeaturesRequest request);
Awaitable<protocol::UnregisterBrokerResponse> unregister_broker(RequestContext& context,
                                                                protocol::UnregisterBrokerRequest request);
Awaitable<protocol::AddRaftVoterResponse> add_raft_voter(RequestContext& context,
                                                         protocol::AddRaftVoterRequest request);
Awaitable<protocol::RemoveRaftVoterResponse> remove_raft_voter(RequestContext& context,
                                                               protocol::RemoveRaftVoterRequest request);
Awaitable<protocol::UnregisterControllerResponse> unregister_controller(RequestContext& context,
                                                                        protocol::UnregisterControllerRequest request);
Awaitable<protocol::DescribeLogDirsResponse> describe_log_dirs(RequestContext& context,
                                                               protocol::DescribeLogDirsRequest request);

}  // namespace thalweg::server::handlers
