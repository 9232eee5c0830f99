// A coordinator for tests: a clock that stands still, ids that count, a store that takes what it is given, and members
// that remember what they were answered.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/uuid.h"
#include "coordinator/group_coordinator.h"

namespace thalweg::coordinator {

class CountingUuids final : public base::UuidSource {
 public:
  base::Uuid next() override {
    base::Uuid uuid;
    ++count_;
    for (int i = 0; i < 8; ++i)
      uuid.bytes[static_cast<std::size_t>(15 - i)] = static_cast<std::uint8_t>(count_ >> 8 * i);
    return uuid;
  }

 private:
  std::uint64_t count_ = 0;
};

// What came of a request; empty until it is answered.
template <class Response>
using Answered = std::shared_ptr<std::optional<Response>>;

// How a member joins.
struct JoinAs {
  std::string member{};
  std::optional<std::string> instance{};
  std::vector<std::pair<std::string, std::string>> protocols{{"range", "m"}};
  std::string type = "consumer";
  std::string client = "c";
  std::int32_t session_ms = 10'000;
  std::int32_t rebalance_ms = 60'000;
  int version = 9;
};

class GroupBench {
 public:
  explicit GroupBench(GroupSettings settings = {}) : settings_(settings) { restart(); }

  GroupCoordinator& groups() { return *groups_; }
  [[nodiscard]] Time now() const { return now_; }

  // Steps are stored at once, unless the store is held: then they wait for release().
  void hold_store() { held_ = true; }
  void release() {
    held_ = false;
    for (auto& step : std::exchange(waiting_, {})) apply(std::move(step));
  }
  // Lets time pass, second by second, doing what is due.
  void pass(std::int64_t ms) {
    for (const std::int64_t end = now_.steady_ms + ms; now_.steady_ms < end;) {
      const std::int64_t next = std::clamp(groups_->next_deadline(), now_.steady_ms, end);
      now_.wall_ms += next - now_.steady_ms;
      now_.steady_ms = next;
      tick();
    }
  }
  void tick() {
    for (;;) {
      Step step;
      if (groups_->tick(now_, step).empty()) return;
      finish(std::move(step));
    }
  }
  // The process dies; another one loads what was stored.
  void restart() {
    waiting_.clear();
    groups_ = std::make_unique<GroupCoordinator>(settings_, uuids_);
    for (const auto& [id, group] : stored_groups) {
      Step step;
      const auto loaded = groups_->load(group, now_, step);
      CHECK(loaded.has_value(), "what was stored can be loaded");
      finish(std::move(step));
    }
    for (const auto& [key, offset] : stored_offsets) groups_->load(offset);
  }

  using Join = JoinAs;
  Answered<protocol::JoinGroupResponse> join(const Join& join, const std::string& group = "g") {
    protocol::JoinGroupRequest request;
    request.group_id = protocol::GroupId(group);
    request.member_id = join.member;
    if (join.instance) request.group_instance_id = *join.instance;
    request.session_timeout_ms = join.session_ms;
    request.rebalance_timeout_ms = join.rebalance_ms;
    request.protocol_type = join.type;
    for (const auto& [name, metadata] : join.protocols) {
      auto& p = request.protocols.emplace_back();
      p.name = name;
      p.metadata = base::Bytes::copy_of(metadata);
    }
    return ask<protocol::JoinGroupResponse>([&](auto reply, Step& step) {
      groups_->join(request, {.client_id = join.client, .client_host = "/127.0.0.1", .version = join.version}, now_,
                    std::move(reply), step);
    });
  }
  using Assignments = std::vector<std::pair<std::string, std::string>>;
  Answered<protocol::SyncGroupResponse> sync(const std::string& member, std::int32_t generation,
                                             const Assignments& assignments = {}, const std::string& group = "g",
                                             std::optional<std::string> instance = {}) {
    protocol::SyncGroupRequest request;
    request.group_id = protocol::GroupId(group);
    request.member_id = member;
    request.generation_id = generation;
    if (instance) request.group_instance_id = *instance;
    for (const auto& [id, assignment] : assignments) {
      auto& a = request.assignments.emplace_back();
      a.member_id = id;
      a.assignment = base::Bytes::copy_of(assignment);
    }
    return ask<protocol::SyncGroupResponse>(
        [&](auto reply, Step& step) { groups_->sync(request, now_, std::move(reply), step); });
  }
  protocol::ErrorCode heartbeat(const std::string& member, std::int32_t generation, const std::string& group = "g",
                                std::optional<std::string> instance = {}) {
    protocol::HeartbeatRequest request;
    request.group_id = protocol::GroupId(group);
    request.member_id = member;
    request.generation_id = generation;
    if (instance) request.group_instance_id = *instance;
    return groups_->heartbeat(request, now_);
  }
  // The first error of the answer.
  protocol::ErrorCode leave(const std::string& member, std::optional<std::string> instance = {},
                            const std::string& group = "g") {
    protocol::LeaveGroupRequest::MemberIdentity identity;
    identity.member_id = member;
    if (instance) identity.group_instance_id = *instance;
    const auto answered = ask<protocol::LeaveGroupResponse>(
        [&](auto reply, Step& step) { groups_->leave(group, {identity}, now_, std::move(reply), step); });
    return (*answered)->members.front().error_code;
  }
  Answered<OffsetCommitOutcome> commit(const std::string& member, std::int32_t generation, std::int32_t partition,
                                       std::int64_t offset, const std::string& group = "g") {
    OffsetCommit request{.group_id = group, .member_id = member, .generation = generation, .version = 9};
    request.offsets.push_back({.topic_id = topic_id(), .topic = "t", .partition = partition, .offset = offset});
    return ask<OffsetCommitOutcome>(
        [&](auto reply, Step& step) { groups_->commit(request, now_, std::move(reply), step); });
  }
  // -1 where nothing was committed.
  [[nodiscard]] std::int64_t committed(std::int32_t partition, const std::string& group = "g") const {
    const GroupOffsets* offsets = groups_->offsets(group);
    const CommittedOffset* offset = offsets == nullptr ? nullptr : offsets->find(topic_id(), partition);
    return offset == nullptr ? -1 : offset->offset;
  }
  static base::Uuid topic_id() {
    base::Uuid uuid;
    uuid.bytes[0] = 7;
    return uuid;
  }
  // Joins a new member the way clients do: for an id first, then with it.
  std::pair<std::string, Answered<protocol::JoinGroupResponse>> join_anew(Join join_as = {},
                                                                          const std::string& group = "g") {
    const auto asked = join(join_as, group);
    join_as.member = (*asked)->member_id.str();
    return {join_as.member, join(join_as, group)};
  }

  template <class Response, class Call>
  Answered<Response> ask(Call call) {
    auto answered = std::make_shared<std::optional<Response>>();
    Step step;
    call(Reply<Response>([answered](Response response) { *answered = std::move(response); }), step);
    finish(std::move(step));
    return answered;
  }
  void finish(Step step) {
    if (held_) {
      waiting_.push_back(std::move(step));
    } else {
      apply(std::move(step));
    }
  }

  std::map<std::string, records::GroupChanged> stored_groups;
  std::map<std::tuple<std::string, base::Uuid, std::int32_t>, records::OffsetCommitted> stored_offsets;

 private:
  void apply(Step step) {
    for (const records::Record& record : step.writes)
      std::visit(
          records::Overloaded{
              [this](const records::GroupChanged& r) { stored_groups[r.group_id] = r; },
              [this](const records::GroupDeleted& r) {
                stored_groups.erase(r.group_id);
                std::erase_if(stored_offsets, [&r](const auto& o) { return std::get<0>(o.first) == r.group_id; });
              },
              [this](const records::OffsetCommitted& r) { stored_offsets[{r.group_id, r.topic_id, r.partition}] = r; },
              [this](const records::OffsetDeleted& r) { stored_offsets.erase({r.group_id, r.topic_id, r.partition}); },
              [](const auto&) {},
          },
          record);
    groups_->stored(step.writes);
    for (Answer& answer : step.answers) answer(protocol::ErrorCode::none);
  }

  GroupSettings settings_;
  CountingUuids uuids_;
  Time now_{.steady_ms = 1'000, .wall_ms = 1'700'000'000'000};
  std::unique_ptr<GroupCoordinator> groups_;
  bool held_ = false;
  std::vector<Step> waiting_;
};

}  // namespace thalweg::coordinator
