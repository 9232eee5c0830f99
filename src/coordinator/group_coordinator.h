// GroupCoordinator: the groups of one core, by id, with their offsets and deadlines. Pure, as group_step.h says: no
// I/O, no clock of its own.
//
// Group state changes at once and is stored behind it. Offsets change only when their commit is durable: the shell
// hands the written records back with stored(), and a fetch shows nothing that a crash could take away.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "base/string.h"
#include "coordinator/classic_group.h"
#include "coordinator/group_offsets.h"
#include "coordinator/group_settings.h"
#include "coordinator/group_step.h"
#include "protocol/messages/delete_groups_response.h"
#include "protocol/messages/list_groups_response.h"

namespace thalweg::coordinator {

// One partition's offset in a commit; topic and id are known to exist.
struct OffsetToCommit {
  base::Uuid topic_id;
  std::string topic;
  std::int32_t partition = 0;
  std::int64_t offset = 0;
  std::int32_t leader_epoch = -1;
  std::string metadata;
};

struct OffsetCommit {
  std::string group_id;
  std::string member_id;
  std::optional<std::string> instance_id;
  std::int32_t generation = -1;    // or member epoch
  int version = 0;                 // of the request
  std::int64_t retention_ms = -1;  // versions 2 to 4; -1: the broker's
  std::vector<OffsetToCommit> offsets;
};

// The error of the group where there is one, else one for each offset, in their order.
struct OffsetCommitOutcome {
  protocol::ErrorCode error = protocol::ErrorCode::none;
  std::vector<protocol::ErrorCode> offsets;
};
void set_failed(OffsetCommitOutcome& outcome, protocol::ErrorCode error);

struct OffsetToDelete {
  base::Uuid topic_id;  // zero: the topic is not there
  std::string topic;
  std::int32_t partition = 0;
};
struct OffsetDelete {
  std::string group_id;
  std::vector<OffsetToDelete> offsets;
};
using OffsetDeleteOutcome = OffsetCommitOutcome;

// What ListGroups asks for; empty: everything. States and types are compared without regard to case.
struct GroupFilter {
  std::vector<std::string> states;
  std::vector<std::string> types;
};

class GroupCoordinator {
 public:
  struct Group {
    ClassicGroup classic;
    GroupOffsets offsets;
  };

  GroupCoordinator(GroupSettings settings, base::UuidSource& uuids)
      : settings_(settings), environment_{&settings_, &uuids} {}
  GroupCoordinator(const GroupCoordinator&) = delete;
  GroupCoordinator& operator=(const GroupCoordinator&) = delete;

  [[nodiscard]] const GroupSettings& settings() const { return settings_; }

  // ---- Requests of members. The group id is not empty. ----

  void join(const protocol::JoinGroupRequest& request, const Caller& caller, Time now,
            Reply<protocol::JoinGroupResponse> reply, Step& step);
  void sync(const protocol::SyncGroupRequest& request, Time now, Reply<protocol::SyncGroupResponse> reply, Step& step);
  [[nodiscard]] protocol::ErrorCode heartbeat(const protocol::HeartbeatRequest& request, Time now);
  // `members` are those of the request; before version 3 the one that it names.
  void leave(std::string_view group_id, const std::vector<protocol::LeaveGroupRequest::MemberIdentity>& members,
             Time now, Reply<protocol::LeaveGroupResponse> reply, Step& step);

  // ---- Offsets ----

  void commit(OffsetCommit commit, Time now, Reply<OffsetCommitOutcome> reply, Step& step);
  void delete_offsets(const OffsetDelete& request, Reply<OffsetDeleteOutcome> reply, Step& step);
  // The offsets of the group; null where there is no such group.
  [[nodiscard]] const GroupOffsets* offsets(std::string_view group_id) const;

  // ---- Admin ----

  [[nodiscard]] std::vector<protocol::ListGroupsResponse::ListedGroup> list(const GroupFilter& filter) const;
  // The group, or null.
  [[nodiscard]] const Group* find(std::string_view group_id) const;
  void delete_group(std::string_view group_id, Reply<protocol::DeleteGroupsResponse::DeletableGroupResult> reply,
                    Step& step);
  // Offsets whose time is over, and groups that have neither members nor offsets any more
  // (offsets.retention.minutes; KIP-211).
  void expire_offsets(Time now, Step& step);

  // ---- Time ----

  // When tick() is due; kNever where nothing waits.
  [[nodiscard]] std::int64_t next_deadline() const { return deadlines_.empty() ? kNever : deadlines_.begin()->first; }
  // Does what is due in one group; to be called until nothing is due. The step belongs to the group that is returned.
  // Empty where nothing was due.
  std::string tick(Time now, Step& step);

  // ---- Storage ----

  // Puts in what a store holds. A page ends with a whole group.
  //   errors   the group's state cannot be read: the group is left out
  base::Result<void, std::string> load(const records::GroupChanged& stored, Time now, Step& step);
  void load(const records::OffsetCommitted& stored);
  // The records of one step are durable.
  void stored(const std::vector<records::Record>& written);
  // The group is to be loaded anew, or by another broker: everybody who waits is answered with the error.
  void forget(std::string_view group_id, protocol::ErrorCode error, Step& step);
  // The topic is gone, and with it what was committed for it.
  void topic_deleted(const base::Uuid& topic_id);

  // ---- Numbers ----

  [[nodiscard]] std::size_t group_count() const { return groups_.size(); }
  template <class Visit>
  void for_each_group(const Visit& visit) const {
    for (const auto& [id, entry] : groups_) visit(entry->group);
  }

 private:
  struct Entry {
    explicit Entry(ClassicGroup classic) : group{.classic = std::move(classic), .offsets = {}} {}
    Group group;
    std::int64_t armed = kNever;  // its place among the deadlines
    std::size_t commits = 0;      // asked for, not stored yet
  };
  using Groups = std::unordered_map<std::string, std::unique_ptr<Entry>, base::TextHash, base::TextEqual>;

  Entry* entry(std::string_view group_id) const;
  Entry& get_or_create(std::string_view group_id);
  void rearm(Entry& entry);
  void disarm(Entry& entry);
  void erase(Groups::iterator it);
  [[nodiscard]] bool expired(const Group& group, const std::string& topic, const CommittedOffset& offset,
                             std::int64_t now_ms) const;

  GroupSettings settings_;
  GroupEnvironment environment_;
  Groups groups_;
  std::set<std::pair<std::int64_t, Entry*>> deadlines_;
};

}  // namespace thalweg::coordinator
