#include "coordinator/classic_group.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/log.h"

namespace thalweg::coordinator {

namespace {

using protocol::ErrorCode;
using protocol::HeartbeatRequest;
using protocol::JoinGroupRequest;
using protocol::JoinGroupResponse;
using protocol::LeaveGroupRequest;
using protocol::LeaveGroupResponse;
using protocol::SyncGroupRequest;
using protocol::SyncGroupResponse;

// From this version of JoinGroup on a dynamic member must know its id before it counts (KIP-394).
constexpr int kMemberIdRequired = 4;
// From this version of JoinGroup on a leader can be told to keep the assignment (KIP-814).
constexpr int kSkipAssignment = 9;
// How long to wait at least for static members of whom none has joined.
constexpr std::int32_t kLeastJoinRetryMs = 1'000;

JoinGroupResponse join_error(ErrorCode error, std::string_view member_id) {
  JoinGroupResponse response;
  response.error_code = error;
  response.member_id = member_id;
  response.protocol_name.reset();
  return response;
}

SyncGroupResponse sync_error(ErrorCode error) {
  SyncGroupResponse response;
  response.error_code = error;
  return response;
}

std::optional<std::string_view> view(const std::optional<base::String>& text) {
  return text ? std::optional(text->view()) : std::nullopt;
}

std::string_view reason_of(const std::optional<base::String>& reason) {
  return reason && !reason->empty() ? reason->view() : "not provided";
}

// Whether what the client says differs from what the group has; what either leaves open does not.
bool differs(const std::optional<base::String>& theirs, const std::optional<std::string>& ours) {
  return theirs && ours && theirs->view() != *ours;
}

// Version 0 knows one timeout for both.
std::int32_t rebalance_timeout(const JoinGroupRequest& request, int version) {
  return version == 0 ? request.session_timeout_ms : request.rebalance_timeout_ms;
}

bool same_protocols(const std::vector<ClassicMember::Protocol>& ours, const JoinGroupRequest& request) {
  return std::ranges::equal(ours, request.protocols, [](const auto& a, const auto& b) {
    return a.name == b.name.view() && a.metadata == b.metadata;
  });
}

}  // namespace

std::string_view ClassicGroup::state_name() const {
  switch (state_) {
    case State::empty:
      return "Empty";
    case State::preparing_rebalance:
      return "PreparingRebalance";
    case State::completing_rebalance:
      return "CompletingRebalance";
    case State::stable:
      break;
  }
  return "Stable";
}

// ---- Joining ----

void ClassicGroup::join(const JoinGroupRequest& request, const Caller& caller, Time now, Reply<Response> reply,
                        Step& step) {
  if (!accepts(request.member_id)) {
    pending_.erase(request.member_id.str());
    if (const auto it = members_.find(request.member_id); it != members_.end()) remove_member(it);
    return step.answer(std::move(reply), join_error(ErrorCode::group_max_size_reached, ""));
  }
  const bool is_unknown = request.member_id.empty();
  if (!supports(request))
    return step.answer(std::move(reply), join_error(ErrorCode::inconsistent_group_protocol,
                                                    is_unknown ? std::string_view() : request.member_id.view()));
  if (is_unknown) return join_new(request, caller, now, std::move(reply), step);
  join_known(request, caller, now, std::move(reply), step);
}

void ClassicGroup::join_new(const JoinGroupRequest& request, const Caller& caller, Time now, Reply<Response> reply,
                            Step& step) {
  const std::string_view prefix = request.group_instance_id ? request.group_instance_id->view() : caller.client_id;
  std::string id = fmt::format("{}-{}", prefix, environment_.uuids->next().dashed());
  if (request.group_instance_id) {
    if (static_members_.contains(request.group_instance_id->view()))
      return replace_static_member(request, caller, std::move(id), now, std::move(reply), step);
    return add_member(request, caller, std::move(id), now, std::move(reply), step);
  }
  if (caller.version < kMemberIdRequired)
    return add_member(request, caller, std::move(id), now, std::move(reply), step);
  at(pending_[id], now.steady_ms + request.session_timeout_ms);
  step.answer(std::move(reply), join_error(ErrorCode::member_id_required, id));
}

void ClassicGroup::join_known(const JoinGroupRequest& request, const Caller& caller, Time now, Reply<Response> reply,
                              Step& step) {
  const std::string_view id = request.member_id.view();
  if (pending_.contains(id) && !request.group_instance_id)
    return add_member(request, caller, std::string(id), now, std::move(reply), step);
  if (const ErrorCode error = check_member(id, view(request.group_instance_id), "join-group");
      error != ErrorCode::none) {
    return step.answer(std::move(reply), join_error(error, id));
  }
  ClassicMember& member = members_.find(id)->second;
  const bool unchanged = same_protocols(member.protocols, request);
  const std::string reason =
      fmt::format("member {} joins while {}; client reason: {}", id, state_name(), reason_of(request.reason));
  switch (state_) {
    case State::empty:
      return step.answer(std::move(reply), join_error(ErrorCode::unknown_member_id, id));
    case State::preparing_rebalance:
      break;
    case State::completing_rebalance:
      // The answer to an earlier join was lost, or the client asks again.
      if (unchanged) return step.answer(std::move(reply), current_generation(id));
      break;
    case State::stable:
      // The leader asks for a new assignment; a follower that comes back as it was only lost its way.
      if (unchanged && !is_leader(id)) {
        Response response = current_generation(id);
        response.members.clear();
        return step.answer(std::move(reply), std::move(response));
      }
      break;
  }
  update_member(member, request, caller, std::move(reply), step);
  rebalance_or_complete_join(reason, now, step);
}

void ClassicGroup::add_member(const JoinGroupRequest& request, const Caller& caller, std::string id, Time now,
                              Reply<Response> reply, Step& step) {
  ClassicMember member{.id = id,
                       .client_id = std::string(caller.client_id),
                       .client_host = std::string(caller.client_host),
                       .rebalance_timeout_ms = rebalance_timeout(request, caller.version),
                       .session_timeout_ms = request.session_timeout_ms,
                       .protocols = own_protocols(request),
                       .is_new = true};
  if (request.group_instance_id) member.instance_id = request.group_instance_id->str();
  if (state_ == State::preparing_rebalance && previous_state_ == State::empty) new_member_added_ = true;
  if (members_.empty()) protocol_type_ = request.protocol_type.str();
  if (!leader_) leader_ = id;
  if (member.instance_id) static_members_[*member.instance_id] = id;
  member.join_reply = std::move(reply);
  start_session(member, environment_.settings->new_member_join_timeout_ms, now);
  pending_.erase(id);
  members_.emplace(id, std::move(member));
  rebalance_or_complete_join(
      fmt::format("adding new member {}{}{}; client reason: {}", id,
                  request.group_instance_id ? " with group instance id " : "",
                  request.group_instance_id ? request.group_instance_id->view() : "", reason_of(request.reason)),
      now, step);
}

void ClassicGroup::replace_static_member(const JoinGroupRequest& request, const Caller& caller, std::string new_id,
                                         Time now, Reply<Response> reply, Step& step) {
  const std::string_view instance_id = request.group_instance_id->view();
  const std::string old_id = static_members_.find(instance_id)->second;
  LOG_INFO("group", "group {}: static member {} comes back, {} takes the place of {}", id_, instance_id, new_id,
           old_id);
  auto node = members_.extract(old_id);
  ClassicMember& member = node.mapped();
  // Whoever waits under the old id is another process with the same instance id, or the same one before it restarted.
  answer_join(member, join_error(ErrorCode::fenced_instance_id, old_id), step);
  answer_sync(member, ErrorCode::fenced_instance_id, now, step);
  const std::optional<std::string> old_leader = leader_;
  if (is_leader(old_id)) leader_ = new_id;
  static_members_.find(instance_id)->second = new_id;
  if (pending_sync_.erase(old_id) > 0) pending_sync_.insert(new_id);
  node.key() = member.id = new_id;
  members_.insert(std::move(node));
  ClassicMember& current = members_.find(new_id)->second;
  update_member(current, request, caller, std::move(reply), step);
  current.client_id = caller.client_id;
  current.client_host = caller.client_host;
  start_session(current, current.session_timeout_ms, now);

  switch (state_) {
    case State::stable: {
      if (select_protocol() != protocol_name_)
        return rebalance_or_complete_join(
            fmt::format("static member {} with group instance id {} changes the protocol; client reason: {}", new_id,
                        instance_id, reason_of(request.reason)),
            now, step);
      store(step);
      Response response = current_generation(new_id);
      const bool leads = is_leader(new_id);
      if (caller.version >= kSkipAssignment) {
        response.skip_assignment = leads;
        if (!leads) response.members.clear();
      } else {
        // A leader of an older client must not believe that it has to assign: it is told of the leader that was.
        response.members.clear();
        response.leader = old_leader.value_or("");
      }
      return answer_join(current, std::move(response), step);
    }
    case State::completing_rebalance:
      return prepare_rebalance(fmt::format("static member {} with group instance id {} comes back; client reason: {}",
                                           new_id, instance_id, reason_of(request.reason)),
                               now, step);
    case State::empty:
    case State::preparing_rebalance:
      return maybe_complete_join(now, step);
  }
}

void ClassicGroup::update_member(ClassicMember& member, const JoinGroupRequest& request, const Caller& caller,
                                 Reply<Response> reply, Step& step) {
  member.protocols = own_protocols(request);
  member.rebalance_timeout_ms = rebalance_timeout(request, caller.version);
  member.session_timeout_ms = request.session_timeout_ms;
  // A join that came before on another connection has no one to hear its answer, most likely; it must end all the same.
  answer_join(member, join_error(ErrorCode::rebalance_in_progress, member.id), step);
  member.join_reply = std::move(reply);
}

// ---- From one generation to the next ----

void ClassicGroup::rebalance_or_complete_join(std::string_view reason, Time now, Step& step) {
  if (state_ == State::preparing_rebalance) return maybe_complete_join(now, step);
  prepare_rebalance(reason, now, step);
}

void ClassicGroup::prepare_rebalance(std::string_view reason, Time now, Step& step) {
  if (state_ == State::completing_rebalance)
    for (auto& [id, member] : members_) {
      member.assignment = {};
      answer_sync(member, ErrorCode::rebalance_in_progress, now, step);
    }
  forget_syncs();
  LOG_INFO("group", "group {}: preparing to rebalance, old generation {} ({})", id_, generation_, reason);
  initial_delay_ = state_ == State::empty;
  enter(State::preparing_rebalance, now);
  if (initial_delay_) {
    initial_delay_ms_ = environment_.settings->initial_rebalance_delay_ms;
    initial_remaining_ms_ = std::max<std::int64_t>(rebalance_timeout_ms() - initial_delay_ms_, 0);
    return at(join_deadline_ms_, now.steady_ms + initial_delay_ms_);
  }
  if (everybody_joined()) return complete_join(now, step);
  at(join_deadline_ms_, now.steady_ms + rebalance_timeout_ms());
}

void ClassicGroup::maybe_complete_join(Time now, Step& step) {
  // The first rebalance of an empty group ends with its delay, so that members that start together meet in it.
  if (state_ != State::preparing_rebalance || previous_state_ == State::empty || !everybody_joined()) return;
  complete_join(now, step);
}

void ClassicGroup::initial_delay_over(Time now, Step& step) {
  if (!new_member_added_ || initial_remaining_ms_ == 0) return complete_join(now, step);
  new_member_added_ = false;
  const std::int64_t next =
      std::min<std::int64_t>(environment_.settings->initial_rebalance_delay_ms, initial_remaining_ms_);
  initial_remaining_ms_ = std::max<std::int64_t>(initial_remaining_ms_ - initial_delay_ms_, 0);
  initial_delay_ms_ = next;
  at(join_deadline_ms_, now.steady_ms + next);
}

void ClassicGroup::complete_join(Time now, Step& step) {
  join_deadline_ms_ = kNever;
  initial_delay_ = false;
  for (auto it = members_.begin(); it != members_.end();) {
    const auto member = it++;
    if (member->second.awaits_join() || member->second.is_static()) continue;
    LOG_INFO("group", "group {}: member {} did not join in time and is removed", id_, member->first);
    remove_member(member);
  }
  if (!members_.empty() && !elect_joined_leader()) {
    // Static members only, and none has joined: they may still come. A timeout of nothing must not have us look without
    // end.
    LOG_WARN("group", "group {}: nobody joined within the rebalance timeout", id_);
    return at(join_deadline_ms_, now.steady_ms + std::max(rebalance_timeout_ms(), kLeastJoinRetryMs));
  }
  ++generation_;
  forget_syncs();
  if (members_.empty()) {
    protocol_name_.reset();
    read_subscriptions();
    enter(State::empty, now);
    LOG_INFO("group", "group {}: empty, generation {}", id_, generation_);
    return store(step);
  }
  protocol_name_ = select_protocol();
  read_subscriptions();
  enter(State::completing_rebalance, now);
  LOG_INFO("group", "group {}: generation {} has {} members, leader {}", id_, generation_, members_.size(), *leader_);
  for (auto& [id, member] : members_) {
    Response response = current_generation(id);
    answer_join(member, std::move(response), step);
    start_session(member, member.session_timeout_ms, now);
    member.is_new = false;
    pending_sync_.insert(id);
  }
  at(sync_deadline_ms_, now.steady_ms + rebalance_timeout_ms());
}

void ClassicGroup::enter(State state, Time now) {
  previous_state_ = std::exchange(state_, state);
  state_since_ms_ = now.wall_ms;
}

// A static leader may be away; then one that has joined takes its place. Whether the group has a leader that joined.
bool ClassicGroup::elect_joined_leader() {
  if (!leader_) return false;
  const auto leader = members_.find(*leader_);
  if (leader != members_.end() && leader->second.awaits_join()) return true;
  for (const auto& [id, member] : members_)
    if (member.awaits_join()) {
      LOG_INFO("group", "group {}: leader {} did not join in time, {} takes its place", id_, *leader_, id);
      leader_ = id;
      return true;
    }
  return false;
}

void ClassicGroup::forget_syncs() {
  pending_sync_.clear();
  sync_deadline_ms_ = kNever;
}

// ---- Syncing ----

void ClassicGroup::sync(const SyncGroupRequest& request, Time now, Reply<SyncGroupResponse> reply, Step& step) {
  // As Kafka: an empty group knows nobody, whatever the request says.
  if (empty()) return step.answer(std::move(reply), sync_error(ErrorCode::unknown_member_id));
  ErrorCode error = check_member(request.member_id, view(request.group_instance_id), "sync-group");
  if (error == ErrorCode::none && request.generation_id != generation_) error = ErrorCode::illegal_generation;
  if (error == ErrorCode::none &&
      (differs(request.protocol_type, protocol_type_) || differs(request.protocol_name, protocol_name_)))
    error = ErrorCode::inconsistent_group_protocol;
  if (error == ErrorCode::none && state_ == State::preparing_rebalance) error = ErrorCode::rebalance_in_progress;
  if (error != ErrorCode::none) return step.answer(std::move(reply), sync_error(error));

  ClassicMember& member = members_.find(request.member_id)->second;
  pending_sync_.erase(member.id);
  if (pending_sync_.empty()) sync_deadline_ms_ = kNever;
  if (member.awaits_sync()) answer_sync(member, ErrorCode::rebalance_in_progress, now, step);
  member.sync_reply = std::move(reply);
  if (state_ == State::stable) return answer_sync(member, ErrorCode::none, now, step);
  if (is_leader(member.id)) complete_sync(request, now, step);
}

void ClassicGroup::complete_sync(const SyncGroupRequest& request, Time now, Step& step) {
  std::size_t assigned = 0;
  for (auto& [id, member] : members_) {
    // Of two assignments for a member the last counts.
    const auto it = std::find_if(request.assignments.rbegin(), request.assignments.rend(),
                                 [&id](const auto& a) { return a.member_id.view() == id; });
    if (it != request.assignments.rend()) ++assigned;
    member.assignment = it == request.assignments.rend() ? base::Bytes() : it->assignment.copy();
  }
  if (assigned < members_.size())
    LOG_WARN("group", "group {}: the leader of generation {} gave {} of {} members no assignment", id_, generation_,
             members_.size() - assigned, members_.size());
  enter(State::stable, now);
  LOG_INFO("group", "group {}: generation {} is stable", id_, generation_);
  store(step);
  for (auto& [id, member] : members_) answer_sync(member, ErrorCode::none, now, step);
}

void ClassicGroup::pending_sync_over(Time now, Step& step) {
  sync_deadline_ms_ = kNever;
  const auto late = std::exchange(pending_sync_, {});
  for (const std::string& id : late) {
    LOG_INFO("group", "group {}: member {} did not sync in time and is removed", id_, id);
    if (const auto it = members_.find(id); it != members_.end()) remove_member(it);
  }
  if (!late.empty()) prepare_rebalance("members did not sync in time", now, step);
}

// ---- Heartbeats and commits ----

ErrorCode ClassicGroup::heartbeat(const HeartbeatRequest& request, Time now) {
  if (const ErrorCode error = check_member(request.member_id, view(request.group_instance_id), "heartbeat");
      error != ErrorCode::none)
    return error;
  if (request.generation_id != generation_) return ErrorCode::illegal_generation;
  if (empty()) return ErrorCode::unknown_member_id;
  ClassicMember& member = members_.find(request.member_id)->second;
  start_session(member, member.session_timeout_ms, now);
  return state_ == State::preparing_rebalance ? ErrorCode::rebalance_in_progress : ErrorCode::none;
}

ErrorCode ClassicGroup::check_commit(std::string_view member_id, const std::optional<std::string>& instance_id,
                                     std::int32_t generation, Time now) {
  if (generation < 0 && empty()) return ErrorCode::none;
  if (generation < 0 && member_id.empty() && !instance_id) return ErrorCode::unknown_member_id;
  const auto instance = instance_id ? std::optional<std::string_view>(*instance_id) : std::nullopt;
  if (const ErrorCode error = check_member(member_id, instance, "offset-commit"); error != ErrorCode::none)
    return error;
  if (generation != generation_) return ErrorCode::illegal_generation;
  // The member has not got the assignment of its generation, so it cannot be at any place in it.
  if (state_ == State::completing_rebalance) return ErrorCode::rebalance_in_progress;
  ClassicMember& member = members_.find(member_id)->second;
  start_session(member, member.session_timeout_ms, now);
  return ErrorCode::none;
}

// ---- Leaving and failing ----

std::vector<LeaveGroupResponse::MemberResponse> ClassicGroup::leave(
    const std::vector<LeaveGroupRequest::MemberIdentity>& members, Time now, Step& step) {
  std::vector<LeaveGroupResponse::MemberResponse> responses;
  responses.reserve(members.size());
  std::string left;
  for (const auto& member : members) {
    auto& response = responses.emplace_back();
    response.member_id = member.member_id;
    response.group_instance_id = member.group_instance_id;
    std::string_view id = member.member_id.view();
    if (id.empty()) {
      const auto it =
          member.group_instance_id ? static_members_.find(member.group_instance_id->view()) : static_members_.end();
      if (it != static_members_.end()) id = it->second;
    } else if (const auto pending = pending_.find(id); pending != pending_.end()) {
      pending_.erase(pending);
      left += fmt::format(" {}", id);
      continue;
    }
    response.error_code =
        id.empty() ? ErrorCode::unknown_member_id : check_member(id, view(member.group_instance_id), "leave-group");
    if (response.error_code != ErrorCode::none) continue;
    LOG_INFO("group", "group {}: member {} leaves; client reason: {}", id_, id, reason_of(member.reason));
    left += fmt::format(" {}", id);
    remove_leaving_member(members_.find(id), step);
  }
  if (!left.empty() && !empty()) rebalance_or_complete_join("members left:" + left, now, step);
  return responses;
}

void ClassicGroup::remove_leaving_member(Members::iterator member, Step& step) {
  answer_join(member->second, join_error(ErrorCode::unknown_member_id, ""), step);
  if (member->second.awaits_sync())
    step.answer(std::exchange(member->second.sync_reply, nullptr), sync_error(ErrorCode::unknown_member_id));
  remove_member(member);
}

void ClassicGroup::remove_member(Members::iterator it) {
  const std::string id = it->first;
  CHECK(!it->second.awaits_join() && !it->second.awaits_sync(), "a member that waits is answered before it goes");
  if (it->second.instance_id) static_members_.erase(*it->second.instance_id);
  members_.erase(it);
  pending_sync_.erase(id);
  if (!is_leader(id)) return;
  leader_ = members_.empty() ? std::nullopt : std::optional(members_.begin()->first);
}

void ClassicGroup::expire_session(Members::iterator it, Time now, Step& step) {
  ClassicMember& member = it->second;
  // Who waits for an answer of ours cannot send heartbeats; its session starts again with that answer.
  if (!member.is_new && (member.awaits_join() || member.awaits_sync())) {
    member.expires_ms = kNever;
    return;
  }
  LOG_INFO("group", "group {}: member {} was not heard of for {} ms and is removed", id_, member.id,
           member.is_new ? environment_.settings->new_member_join_timeout_ms : member.session_timeout_ms);
  const std::string reason = fmt::format("member {} failed", member.id);
  remove_leaving_member(it, step);
  if (state_ == State::preparing_rebalance) {
    if (everybody_joined()) complete_join(now, step);
  } else {
    prepare_rebalance(reason, now, step);
  }
}

void ClassicGroup::tick(Time now, Step& step) {
  std::vector<std::string> due;
  for (const auto& [id, deadline] : pending_)
    if (deadline <= now.steady_ms) due.push_back(id);
  for (const std::string& id : due) {
    LOG_INFO("group", "group {}: member id {} was never used and is forgotten", id_, id);
    pending_.erase(id);
    if (state_ == State::preparing_rebalance && everybody_joined() && !initial_delay_) complete_join(now, step);
  }
  due.clear();
  for (const auto& [id, member] : members_)
    if (member.expires_ms <= now.steady_ms) due.push_back(id);
  for (const std::string& id : due)
    if (const auto it = members_.find(id); it != members_.end() && it->second.expires_ms <= now.steady_ms)
      expire_session(it, now, step);
  if (join_deadline_ms_ <= now.steady_ms) {
    if (initial_delay_) {
      initial_delay_over(now, step);
    } else {
      complete_join(now, step);
    }
  }
  if (sync_deadline_ms_ <= now.steady_ms) pending_sync_over(now, step);

  earliest_ = std::min(join_deadline_ms_, sync_deadline_ms_);
  for (const auto& [id, deadline] : pending_) earliest_ = std::min(earliest_, deadline);
  for (const auto& [id, member] : members_) earliest_ = std::min(earliest_, member.expires_ms);
}

void ClassicGroup::abandon(ErrorCode error, Step& step) {
  for (auto& [id, member] : members_) {
    answer_join(member, join_error(error, id), step);
    if (member.awaits_sync()) step.answer(std::exchange(member.sync_reply, nullptr), sync_error(error));
  }
}

// ---- What is true of the group ----

ErrorCode ClassicGroup::check_member(std::string_view member_id, std::optional<std::string_view> instance_id,
                                     std::string_view operation) const {
  if (instance_id) {
    const auto it = static_members_.find(*instance_id);
    if (it == static_members_.end()) return ErrorCode::unknown_member_id;
    // An empty id comes from LeaveGroup, which may name the instance alone.
    if (it->second != member_id) {
      LOG_INFO("group", "group {}: {} by member {} is fenced, instance {} is now {}", id_, operation, member_id,
               *instance_id, it->second);
      return ErrorCode::fenced_instance_id;
    }
  }
  return members_.contains(member_id) ? ErrorCode::none : ErrorCode::unknown_member_id;
}

bool ClassicGroup::accepts(std::string_view member_id) const {
  const auto it = members_.find(member_id);
  const bool is_member = it != members_.end();
  switch (state_) {
    case State::empty:
      return true;
    case State::preparing_rebalance:
      return (is_member && it->second.awaits_join()) || std::cmp_less(awaiting_join(), environment_.settings->max_size);
    case State::completing_rebalance:
    case State::stable:
      break;
  }
  return is_member || std::cmp_less(members_.size(), environment_.settings->max_size);
}

bool ClassicGroup::supports(const JoinGroupRequest& request) const {
  if (empty()) return !request.protocol_type.empty() && !request.protocols.empty();
  return protocol_type_ == request.protocol_type.view() &&
         std::ranges::any_of(request.protocols, [this](const auto& p) {
           return std::ranges::all_of(members_, [&p](const auto& m) { return m.second.knows(p.name); });
         });
}

std::size_t ClassicGroup::awaiting_join() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(members_, [](const auto& m) { return m.second.awaits_join(); }));
}

bool ClassicGroup::everybody_joined() const {
  return pending_.empty() && std::ranges::all_of(members_, [](const auto& m) { return m.second.awaits_join(); });
}

std::int32_t ClassicGroup::rebalance_timeout_ms() const {
  std::int32_t longest = 0;
  for (const auto& [id, member] : members_) longest = std::max(longest, member.rebalance_timeout_ms);
  return longest;
}

// Each member votes for the first of its protocols that all know; of two with as many votes the one that the leader
// names first is taken.
std::string ClassicGroup::select_protocol() const {
  CHECK(!members_.empty() && leader_, "only a group with members has a protocol");
  std::vector<std::string_view> candidates;
  for (const auto& p : members_.find(*leader_)->second.protocols)
    if (std::ranges::all_of(members_, [&p](const auto& m) { return m.second.knows(p.name); }))
      candidates.push_back(p.name);
  CHECK(!candidates.empty(), "a member that knows no common protocol is not let in");
  std::vector<std::size_t> votes(candidates.size());
  for (const auto& [id, member] : members_)
    for (const auto& p : member.protocols) {
      const auto it = std::ranges::find(candidates, p.name);
      if (it == candidates.end()) continue;
      ++votes[static_cast<std::size_t>(it - candidates.begin())];
      break;
    }
  const auto most = std::ranges::max_element(votes);
  return std::string(candidates[static_cast<std::size_t>(most - votes.begin())]);
}

bool ClassicGroup::subscribed_to(std::string_view topic) const {
  return subscribed_topics_ ? subscribed_topics_->contains(topic) : of_consumers();
}

std::vector<JoinGroupResponse::JoinGroupResponseMember> ClassicGroup::members_for_leader() const {
  std::vector<Response::JoinGroupResponseMember> members;
  members.reserve(members_.size());
  for (const auto& [id, member] : members_) {
    auto& m = members.emplace_back();
    m.member_id = id;
    if (member.instance_id) m.group_instance_id = *member.instance_id;
    m.metadata = member.metadata(protocol_name_.value_or(""));
  }
  return members;
}

JoinGroupResponse ClassicGroup::current_generation(std::string_view member_id) const {
  Response response;
  response.member_id = member_id;
  response.generation_id = generation_;
  response.protocol_type = protocol_type_;
  response.protocol_name = protocol_name_;
  response.leader = leader_.value_or("");
  if (is_leader(member_id)) response.members = members_for_leader();
  return response;
}

protocol::DescribeGroupsResponse::DescribedGroup ClassicGroup::describe() const {
  protocol::DescribeGroupsResponse::DescribedGroup described;
  described.group_id = protocol::GroupId(id_);
  described.group_state = state_name();
  described.protocol_type = protocol_type_.value_or("");
  const bool is_stable = state_ == State::stable;
  if (is_stable) described.protocol_data = protocol_name_.value_or("");
  for (const auto& [id, member] : members_) {
    auto& m = described.members.emplace_back();
    m.member_id = id;
    if (member.instance_id) m.group_instance_id = *member.instance_id;
    m.client_id = member.client_id;
    m.client_host = member.client_host;
    if (is_stable) m.member_metadata = member.metadata(protocol_name_.value_or(""));
    m.member_assignment = member.assignment;
  }
  return described;
}

// ---- Small things ----

void ClassicGroup::answer_join(ClassicMember& member, Response response, Step& step) {
  if (member.awaits_join()) step.answer(std::exchange(member.join_reply, nullptr), std::move(response));
}

void ClassicGroup::answer_sync(ClassicMember& member, ErrorCode error, Time now, Step& step) {
  if (!member.awaits_sync()) return;
  SyncGroupResponse response = sync_error(error);
  if (error == ErrorCode::none) {
    response.protocol_type = protocol_type_;
    response.protocol_name = protocol_name_;
    response.assignment = member.assignment;
  }
  step.answer(std::exchange(member.sync_reply, nullptr), std::move(response));
  start_session(member, member.session_timeout_ms, now);
}

void ClassicGroup::start_session(ClassicMember& member, std::int64_t timeout_ms, Time now) {
  at(member.expires_ms, now.steady_ms + timeout_ms);
}

void ClassicGroup::at(std::int64_t& deadline, std::int64_t steady_ms) {
  deadline = steady_ms;
  earliest_ = std::min(earliest_, steady_ms);
}

}  // namespace thalweg::coordinator
