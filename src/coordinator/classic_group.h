// ClassicGroup: the group protocol in which the members agree on an assignment and the coordinator only passes it on
// (JoinGroup, SyncGroup, Heartbeat, LeaveGroup). States, answers and timeouts are those of Kafka 4.4.
//
//            first member                  all joined, or time is up
//   empty ───────────────▶ preparing ──────────────────────────────▶ completing ──── leader's assignment ───▶ stable
//     ▲                     │     ▲                                      │                                     │
//     └── nobody joined ────┘     └────────── somebody joins anew, leaves, or is not heard of any more ────────┘
//
// A group is stored when a generation is complete, when it becomes empty, and when a static member comes back under a
// new id; what is stored is Kafka's GroupMetadataValue. A coordinator that loads it goes on with the same generation.
// Sources: KIP-345 (static members), KIP-394 (MEMBER_ID_REQUIRED), KIP-429, KIP-559 (protocol type and name), KIP-800
// (reasons), KIP-814 (static leader).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/uuid.h"
#include "coordinator/classic_member.h"
#include "coordinator/group_settings.h"
#include "coordinator/group_step.h"
#include "protocol/error.h"
#include "protocol/messages/describe_groups_response.h"
#include "protocol/messages/heartbeat_request.h"
#include "protocol/messages/heartbeat_response.h"
#include "protocol/messages/join_group_request.h"
#include "protocol/messages/join_group_response.h"
#include "protocol/messages/leave_group_request.h"
#include "protocol/messages/leave_group_response.h"
#include "protocol/messages/sync_group_request.h"
#include "protocol/messages/sync_group_response.h"

namespace thalweg::coordinator {

// Who sent a request, and how.
struct Caller {
  std::string_view client_id;
  std::string_view client_host;  // "/127.0.0.1"
  int version = 0;               // of the request
};

// What the machines need of their surroundings.
struct GroupEnvironment {
  const GroupSettings* settings;
  base::UuidSource* uuids;  // for member ids
};

class ClassicGroup {
 public:
  enum class State { empty, preparing_rebalance, completing_rebalance, stable };

  ClassicGroup(GroupEnvironment environment, std::string id) : environment_(environment), id_(std::move(id)) {}

  // The group as a coordinator stored it: with members it is stable, and each has a whole session to be heard of.
  //   errors   the bytes are not a GroupMetadataValue
  static base::Result<ClassicGroup, std::string> load(GroupEnvironment environment, const records::GroupChanged& stored,
                                                      Time now, Step& step);

  // ---- Requests. Each is answered through `reply`, perhaps by a later call. ----

  // The session timeout is within its bounds. An unknown member id ("") makes a new member, or only a new id where the
  // version asks for ids to be known (from 4, dynamic members).
  void join(const protocol::JoinGroupRequest& request, const Caller& caller, Time now,
            Reply<protocol::JoinGroupResponse> reply, Step& step);
  void sync(const protocol::SyncGroupRequest& request, Time now, Reply<protocol::SyncGroupResponse> reply, Step& step);
  [[nodiscard]] protocol::ErrorCode heartbeat(const protocol::HeartbeatRequest& request, Time now);
  // One answer for each member named, in their order.
  std::vector<protocol::LeaveGroupResponse::MemberResponse> leave(
      const std::vector<protocol::LeaveGroupRequest::MemberIdentity>& members, Time now, Step& step);

  // Whether a member may commit offsets; a member that may is alive. A generation below zero and no member id is what a
  // client sends that assigns partitions itself, which only an empty group takes.
  [[nodiscard]] protocol::ErrorCode check_commit(std::string_view member_id,
                                                 const std::optional<std::string>& instance_id, std::int32_t generation,
                                                 Time now);

  // Does what is due, and tells when something is due next: kNever, or steady ms. Calls may only bring that forward by
  // what they report through earliest_deadline().
  void tick(Time now, Step& step);
  [[nodiscard]] std::int64_t earliest_deadline() const { return earliest_; }

  // Answers everybody who waits; for a coordinator that gives the group up.
  void abandon(protocol::ErrorCode error, Step& step);

  // ---- Views ----

  [[nodiscard]] State state() const { return state_; }
  // "Empty", "PreparingRebalance", ..., as ListGroups and DescribeGroups say.
  [[nodiscard]] std::string_view state_name() const;
  [[nodiscard]] bool empty() const { return state_ == State::empty; }
  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] std::int32_t generation() const { return generation_; }
  [[nodiscard]] const std::optional<std::string>& protocol_type() const { return protocol_type_; }
  [[nodiscard]] const std::optional<std::string>& protocol_name() const { return protocol_name_; }
  [[nodiscard]] const std::optional<std::string>& leader() const { return leader_; }
  // Wall time of the last change of state; -1: there was none.
  [[nodiscard]] std::int64_t state_since_ms() const { return state_since_ms_; }
  // The members by id, and those that were only given an id.
  [[nodiscard]] const std::map<std::string, ClassicMember, std::less<>>& members() const { return members_; }
  [[nodiscard]] std::size_t pending_members() const { return pending_.size(); }
  // Whether the members are consumers: then their protocols name the topics they read.
  [[nodiscard]] bool of_consumers() const { return protocol_type_ == "consumer"; }
  // Whether a member reads the topic. Where that cannot be told, a group of consumers reads everything.
  [[nodiscard]] bool subscribed_to(std::string_view topic) const;
  [[nodiscard]] bool knows_subscriptions() const { return subscribed_topics_.has_value(); }
  [[nodiscard]] protocol::DescribeGroupsResponse::DescribedGroup describe() const;

 private:
  using Members = std::map<std::string, ClassicMember, std::less<>>;
  using Response = protocol::JoinGroupResponse;

  void join_new(const protocol::JoinGroupRequest& request, const Caller& caller, Time now, Reply<Response> reply,
                Step& step);
  void join_known(const protocol::JoinGroupRequest& request, const Caller& caller, Time now, Reply<Response> reply,
                  Step& step);
  void add_member(const protocol::JoinGroupRequest& request, const Caller& caller, std::string id, Time now,
                  Reply<Response> reply, Step& step);
  void replace_static_member(const protocol::JoinGroupRequest& request, const Caller& caller, std::string new_id,
                             Time now, Reply<Response> reply, Step& step);
  void update_member(ClassicMember& member, const protocol::JoinGroupRequest& request, const Caller& caller,
                     Reply<Response> reply, Step& step);
  void complete_sync(const protocol::SyncGroupRequest& request, Time now, Step& step);
  void remove_member(Members::iterator member);
  void remove_leaving_member(Members::iterator member, Step& step);
  void expire_session(Members::iterator member, Time now, Step& step);

  void rebalance_or_complete_join(std::string_view reason, Time now, Step& step);
  void prepare_rebalance(std::string_view reason, Time now, Step& step);
  void maybe_complete_join(Time now, Step& step);
  void complete_join(Time now, Step& step);
  void initial_delay_over(Time now, Step& step);
  void pending_sync_over(Time now, Step& step);
  void enter(State state, Time now);
  [[nodiscard]] bool elect_joined_leader();
  void forget_syncs();

  [[nodiscard]] protocol::ErrorCode check_member(std::string_view member_id,
                                                 std::optional<std::string_view> instance_id,
                                                 std::string_view operation) const;
  [[nodiscard]] bool accepts(std::string_view member_id) const;
  [[nodiscard]] bool supports(const protocol::JoinGroupRequest& request) const;
  [[nodiscard]] bool everybody_joined() const;
  [[nodiscard]] std::size_t awaiting_join() const;
  [[nodiscard]] std::int32_t rebalance_timeout_ms() const;
  [[nodiscard]] std::string select_protocol() const;
  [[nodiscard]] bool is_leader(std::string_view member_id) const { return leader_ == member_id; }
  [[nodiscard]] std::vector<Response::JoinGroupResponseMember> members_for_leader() const;
  [[nodiscard]] Response current_generation(std::string_view member_id) const;
  void answer_join(ClassicMember& member, Response response, Step& step);
  void answer_sync(ClassicMember& member, protocol::ErrorCode error, Time now, Step& step);
  void start_session(ClassicMember& member, std::int64_t timeout_ms, Time now);
  void at(std::int64_t& deadline, std::int64_t steady_ms);
  void read_subscriptions();
  void store(Step& step) const;

  GroupEnvironment environment_;
  std::string id_;
  State state_ = State::empty;
  State previous_state_ = State::empty;
  std::int64_t state_since_ms_ = -1;
  std::int32_t generation_ = 0;
  std::optional<std::string> protocol_type_;
  std::optional<std::string> protocol_name_;
  std::optional<std::string> leader_;
  Members members_;
  std::map<std::string, std::string, std::less<>> static_members_;  // instance id -> member id
  std::map<std::string, std::int64_t, std::less<>> pending_;        // given an id, not joined; when it is forgotten
  std::set<std::string, std::less<>> pending_sync_;                 // of this generation, not synced
  std::optional<std::set<std::string, std::less<>>> subscribed_topics_;

  std::int64_t join_deadline_ms_ = kNever;  // the end of preparing, or of a part of the initial delay
  bool initial_delay_ = false;
  std::int64_t initial_delay_ms_ = 0;      // the running part of it
  std::int64_t initial_remaining_ms_ = 0;  // what new members may still add
  bool new_member_added_ = false;
  std::int64_t sync_deadline_ms_ = kNever;
  std::int64_t earliest_ = kNever;
};

}  // namespace thalweg::coordinator
