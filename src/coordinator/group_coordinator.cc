#include "coordinator/group_coordinator.h"

#include <algorithm>
#include <utility>

#include "base/letter_case.h"
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

// From this version of OffsetCommit on a group may be of the newer kind, and is said to be unknown rather than behind.
constexpr int kKnowsNewGroups = 9;

bool same_word(std::string_view a, std::string_view b) { return base::lower_case(a) == base::lower_case(b); }

bool chosen(const std::vector<std::string>& filter, std::string_view value) {
  return filter.empty() || std::ranges::any_of(filter, [value](const auto& f) { return same_word(f, value); });
}

// Characters as Java counts them, which is how Kafka applies offset.metadata.max.bytes: what UTF-8 writes in four bytes
// counts twice.
std::size_t utf16_length(std::string_view text) {
  std::size_t length = 0;
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (byte >> 6 != 0x2) ++length;
    if (byte >> 3 == 0x1E) ++length;
  }
  return length;
}

constexpr std::string_view kClassic = "classic";

}  // namespace

void set_failed(OffsetCommitOutcome& outcome, ErrorCode error) { outcome = {.error = error, .offsets = {}}; }

// ---- Members ----

void GroupCoordinator::join(const JoinGroupRequest& request, const Caller& caller, Time now,
                            Reply<JoinGroupResponse> reply, Step& step) {
  JoinGroupResponse refused;
  refused.member_id = request.member_id;
  refused.protocol_name.reset();
  if (request.session_timeout_ms < settings_.min_session_timeout_ms ||
      request.session_timeout_ms > settings_.max_session_timeout_ms) {
    refused.error_code = ErrorCode::invalid_session_timeout;
    return step.answer(std::move(reply), std::move(refused));
  }
  Entry* found = entry(request.group_id);
  if (found == nullptr && !request.member_id.empty()) {
    refused.error_code = ErrorCode::unknown_member_id;
    return step.answer(std::move(reply), std::move(refused));
  }
  Entry& group = found == nullptr ? get_or_create(request.group_id) : *found;
  group.group.classic.join(request, caller, now, std::move(reply), step);
  rearm(group);
}

void GroupCoordinator::sync(const SyncGroupRequest& request, Time now, Reply<SyncGroupResponse> reply, Step& step) {
  Entry* const group = entry(request.group_id);
  if (group == nullptr) {
    SyncGroupResponse response;
    response.error_code = ErrorCode::unknown_member_id;
    return step.answer(std::move(reply), std::move(response));
  }
  group->group.classic.sync(request, now, std::move(reply), step);
  rearm(*group);
}

ErrorCode GroupCoordinator::heartbeat(const HeartbeatRequest& request, Time now) {
  Entry* const group = entry(request.group_id);
  if (group == nullptr) return ErrorCode::unknown_member_id;
  // A heartbeat only puts the end of a session off: the deadline that is armed comes too early and finds nothing due.
  const ErrorCode error = group->group.classic.heartbeat(request, now);
  rearm(*group);
  return error;
}

void GroupCoordinator::leave(std::string_view group_id, const std::vector<LeaveGroupRequest::MemberIdentity>& members,
                             Time now, Reply<LeaveGroupResponse> reply, Step& step) {
  LeaveGroupResponse response;
  Entry* const group = entry(group_id);
  if (group != nullptr) {
    response.members = group->group.classic.leave(members, now, step);
    rearm(*group);
  } else {
    for (const auto& member : members) {
      auto& refused = response.members.emplace_back();
      refused.member_id = member.member_id;
      refused.group_instance_id = member.group_instance_id;
      refused.error_code = ErrorCode::unknown_member_id;
    }
  }
  step.answer(std::move(reply), std::move(response));
}

// ---- Offsets ----

void GroupCoordinator::commit(OffsetCommit commit, Time now, Reply<OffsetCommitOutcome> reply, Step& step) {
  OffsetCommitOutcome outcome;
  Entry* group = entry(commit.group_id);
  if (group == nullptr && commit.generation >= 0) {
    outcome.error = commit.version >= kKnowsNewGroups ? ErrorCode::group_id_not_found : ErrorCode::illegal_generation;
  } else if (group != nullptr) {
    outcome.error = group->group.classic.check_commit(commit.member_id, commit.instance_id, commit.generation, now);
    rearm(*group);
  }
  if (outcome.error != ErrorCode::none) return step.answer(std::move(reply), std::move(outcome));
  for (OffsetToCommit& o : commit.offsets) {
    if (std::cmp_greater(utf16_length(o.metadata), settings_.offset_metadata_max_bytes)) {
      outcome.offsets.push_back(ErrorCode::offset_metadata_too_large);
      continue;
    }
    outcome.offsets.push_back(ErrorCode::none);
    step.writes.emplace_back(records::OffsetCommitted{
        .group_id = commit.group_id,
        .topic_id = o.topic_id,
        .topic = std::move(o.topic),
        .partition = o.partition,
        .offset = o.offset,
        .leader_epoch = o.leader_epoch,
        .metadata = std::move(o.metadata),
        .commit_ms = now.wall_ms,
        .expire_ms = commit.retention_ms < 0 ? -1 : now.wall_ms + commit.retention_ms,
    });
  }
  // A group of offsets alone begins with the first that is committed.
  if (!step.writes.empty()) ++(group == nullptr ? get_or_create(commit.group_id) : *group).commits;
  step.answer(std::move(reply), std::move(outcome));
}

void GroupCoordinator::delete_offsets(const OffsetDelete& request, Reply<OffsetDeleteOutcome> reply, Step& step) {
  OffsetDeleteOutcome outcome;
  Entry* const group = entry(request.group_id);
  if (group == nullptr) {
    outcome.error = ErrorCode::group_id_not_found;
    return step.answer(std::move(reply), std::move(outcome));
  }
  const ClassicGroup& classic = group->group.classic;
  if (!classic.empty() && !classic.of_consumers()) {
    outcome.error = ErrorCode::non_empty_group;
    return step.answer(std::move(reply), std::move(outcome));
  }
  for (const OffsetToDelete& o : request.offsets) {
    if (classic.subscribed_to(o.topic)) {
      outcome.offsets.push_back(ErrorCode::group_subscribed_to_topic);
      continue;
    }
    outcome.offsets.push_back(ErrorCode::none);
    if (group->group.offsets.find(o.topic_id, o.partition) != nullptr)
      step.writes.emplace_back(
          records::OffsetDeleted{.group_id = request.group_id, .topic_id = o.topic_id, .partition = o.partition});
  }
  step.answer(std::move(reply), std::move(outcome));
}

const GroupOffsets* GroupCoordinator::offsets(std::string_view group_id) const {
  const Entry* const found = entry(group_id);
  return found == nullptr ? nullptr : &found->group.offsets;
}

bool GroupCoordinator::expired(const Group& group, const std::string& topic, const CommittedOffset& offset,
                               std::int64_t now_ms) const {
  const ClassicGroup& classic = group.classic;
  std::int64_t from = offset.commit_ms;
  if (classic.protocol_type()) {
    if (classic.empty()) {
      // Members count from when the last of them left.
      if (classic.state_since_ms() >= 0) from = classic.state_since_ms();
    } else if (!classic.of_consumers() || !classic.knows_subscriptions() ||
               classic.state() != ClassicGroup::State::stable || classic.subscribed_to(topic)) {
      return false;
    }
  }
  if (offset.expire_ms >= 0) return now_ms >= offset.expire_ms;
  return now_ms - from >= settings_.offsets_retention_ms;
}

void GroupCoordinator::expire_offsets(Time now, Step& step) {
  for (const auto& [id, entry] : groups_) {
    // What is being committed must not be deleted together with a group that looks forsaken.
    if (entry->commits > 0) continue;
    const Group& group = entry->group;
    std::size_t gone = 0;
    for (const auto& [topic_id, topic] : group.offsets.topics())
      for (const auto& [partition, offset] : topic.partitions)
        if (expired(group, topic.name, offset, now.wall_ms)) {
          ++gone;
          step.writes.emplace_back(
              records::OffsetDeleted{.group_id = id, .topic_id = topic_id, .partition = partition});
        }
    if (gone > 0) LOG_INFO("group", "group {}: {} offsets expired", id, gone);
    if (gone == group.offsets.size() && group.classic.empty() && group.classic.pending_members() == 0)
      step.writes.emplace_back(records::GroupDeleted{.group_id = id});
  }
}

// ---- Admin ----

std::vector<protocol::ListGroupsResponse::ListedGroup> GroupCoordinator::list(const GroupFilter& filter) const {
  std::vector<protocol::ListGroupsResponse::ListedGroup> listed;
  if (!chosen(filter.types, kClassic)) return listed;
  for (const auto& [id, entry] : groups_) {
    const ClassicGroup& group = entry->group.classic;
    if (!chosen(filter.states, group.state_name())) continue;
    auto& l = listed.emplace_back();
    l.group_id = protocol::GroupId(id);
    l.protocol_type = group.protocol_type().value_or("");
    l.group_state = group.state_name();
    l.group_type = kClassic;
  }
  return listed;
}

const GroupCoordinator::Group* GroupCoordinator::find(std::string_view group_id) const {
  const Entry* const found = entry(group_id);
  return found == nullptr ? nullptr : &found->group;
}

void GroupCoordinator::delete_group(std::string_view group_id,
                                    Reply<protocol::DeleteGroupsResponse::DeletableGroupResult> reply, Step& step) {
  protocol::DeleteGroupsResponse::DeletableGroupResult result;
  result.group_id = protocol::GroupId(group_id);
  const Entry* const group = entry(group_id);
  if (group == nullptr) {
    result.error_code = ErrorCode::group_id_not_found;
  } else if (!group->group.classic.empty()) {
    result.error_code = ErrorCode::non_empty_group;
  } else {
    step.writes.emplace_back(records::GroupDeleted{.group_id = std::string(group_id)});
  }
  step.answer(std::move(reply), std::move(result));
}

// ---- Time ----

std::string GroupCoordinator::tick(Time now, Step& step) {
  if (deadlines_.empty() || deadlines_.begin()->first > now.steady_ms) return {};
  Entry& entry = *deadlines_.begin()->second;
  disarm(entry);
  entry.group.classic.tick(now, step);
  rearm(entry);
  return entry.group.classic.id();
}

void GroupCoordinator::rearm(Entry& entry) {
  const std::int64_t earliest = entry.group.classic.earliest_deadline();
  if (earliest >= entry.armed) return;
  disarm(entry);
  entry.armed = earliest;
  deadlines_.emplace(earliest, &entry);
}

void GroupCoordinator::disarm(Entry& entry) {
  if (entry.armed == kNever) return;
  deadlines_.erase({entry.armed, &entry});
  entry.armed = kNever;
}

// ---- Storage ----

base::Result<void, std::string> GroupCoordinator::load(const records::GroupChanged& stored, Time now, Step& step) {
  auto classic = ClassicGroup::load(environment_, stored, now, step);
  if (!classic) return std::unexpected(std::move(classic).error());
  Entry& entry = get_or_create(stored.group_id);
  entry.group.classic = std::move(*classic);
  rearm(entry);
  return {};
}

void GroupCoordinator::load(const records::OffsetCommitted& stored) {
  get_or_create(stored.group_id).group.offsets.put(stored);
}

void GroupCoordinator::stored(const std::vector<records::Record>& written) {
  if (written.empty()) return;
  if (const auto* commit = std::get_if<records::OffsetCommitted>(&written.front()))
    if (Entry* const found = entry(commit->group_id); found != nullptr && found->commits > 0) --found->commits;
  for (const records::Record& record : written)
    std::visit(records::Overloaded{
                   [this](const records::OffsetCommitted& r) { get_or_create(r.group_id).group.offsets.put(r); },
                   [this](const records::OffsetDeleted& r) {
                     if (Entry* const found = entry(r.group_id)) found->group.offsets.remove(r.topic_id, r.partition);
                   },
                   [this](const records::GroupDeleted& r) {
                     const auto it = groups_.find(r.group_id);
                     if (it == groups_.end()) return;
                     // Members that came while the deletion was written keep the group; its offsets are gone.
                     it->second->group.offsets = {};
                     if (it->second->group.classic.empty()) erase(it);
                   },
                   [](const auto&) {},
               },
               record);
}

void GroupCoordinator::forget(std::string_view group_id, ErrorCode error, Step& step) {
  const auto it = groups_.find(group_id);
  if (it == groups_.end()) return;
  it->second->group.classic.abandon(error, step);
  erase(it);
}

void GroupCoordinator::topic_deleted(const base::Uuid& topic_id) {
  for (auto& [id, entry] : groups_) entry->group.offsets.remove_topic(topic_id);
}

// ---- The map ----

GroupCoordinator::Entry* GroupCoordinator::entry(std::string_view group_id) const {
  const auto it = groups_.find(group_id);
  return it == groups_.end() ? nullptr : it->second.get();
}

GroupCoordinator::Entry& GroupCoordinator::get_or_create(std::string_view group_id) {
  if (Entry* const found = entry(group_id)) return *found;
  auto made = std::make_unique<Entry>(ClassicGroup(environment_, std::string(group_id)));
  return *groups_.emplace(std::string(group_id), std::move(made)).first->second;
}

void GroupCoordinator::erase(Groups::iterator it) {
  disarm(*it->second);
  groups_.erase(it);
}

}  // namespace thalweg::coordinator
