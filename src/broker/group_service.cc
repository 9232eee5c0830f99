#include "broker/group_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "broker/broker.h"
#include "broker/offsets_mirror.h"
#include "broker/request_context.h"
#include "broker/shard.h"

namespace thalweg::broker {

using coordinator::Answer;
using coordinator::Step;
using protocol::ErrorCode;

namespace {

std::int64_t steady_ms(base::SteadyTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

// The UTF-16 units of UTF-8 text, one by one; a byte that is not UTF-8 counts as the replacement character.
template <class Visit>
void for_each_utf16(std::string_view text, const Visit& visit) {
  constexpr char32_t kReplacement = 0xFFFD;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<std::uint8_t>(text[i]);
    const std::size_t length = lead < 0x80         ? 1
                               : lead >> 5 == 0x6  ? 2
                               : lead >> 4 == 0xE  ? 3
                               : lead >> 3 == 0x1E ? 4
                                                   : 0;
    char32_t point = length == 1 ? lead : length == 0 ? kReplacement : lead & (0x7FU >> length);
    std::size_t used = 1;
    for (; used < length && i + used < text.size(); ++used) {
      const auto next = static_cast<std::uint8_t>(text[i + used]);
      if (next >> 6 != 0x2) break;
      point = point << 6 | (next & 0x3FU);
    }
    if (length != 0 && used < length) point = kReplacement;
    i += used;
    if (point < 0x10000) {
      visit(static_cast<char16_t>(point));
    } else {
      visit(static_cast<char16_t>(0xD800 + ((point - 0x10000) >> 10)));
      visit(static_cast<char16_t>(0xDC00 + ((point - 0x10000) & 0x3FF)));
    }
  }
}

ErrorCode error_of(const metadata::CommitFault& fault) {
  switch (fault.kind) {
    case metadata::CommitFault::Kind::precondition:
      return ErrorCode::not_coordinator;
    case metadata::CommitFault::Kind::overloaded:
    case metadata::CommitFault::Kind::storage:
    case metadata::CommitFault::Kind::invalid:
    case metadata::CommitFault::Kind::stopped:
      break;
  }
  return ErrorCode::coordinator_not_available;
}

}  // namespace

// Java's String.hashCode over UTF-16, made positive, modulo the slots.
int group_slot(std::string_view group_id, int slots) {
  std::uint32_t hash = 0;
  for_each_utf16(group_id, [&hash](char16_t unit) { hash = hash * 31 + unit; });
  return static_cast<int>((hash & 0x7FFFFFFFU) % static_cast<std::uint32_t>(slots));
}

std::string group_lease(int slot) { return fmt::format("group-coordinator/{}", slot); }

GroupService::GroupService(Shard& shard, coordinator::GroupSettings settings)
    : shard_(shard), coordinator_(settings, shard.random()) {}

coordinator::Time GroupService::now() const {
  const base::Clock& clock = shard_.core().clock();
  return {.steady_ms = steady_ms(clock.steady()), .wall_ms = clock.wall_ms()};
}

// ---- Start and stop ----

void GroupService::load(metadata::GroupPage page, bool fill_mirror) {
  for (const metadata::StoredGroup& group : page.groups) {
    Step step;
    const auto loaded = coordinator_.load(group.state, now(), step);
    if (!loaded) LOG_ERROR("group", "not loaded: {}", loaded.error());
    finish(group.state.group_id, std::move(step));
  }
  for (const records::OffsetCommitted& offset : page.offsets) coordinator_.load(offset);
  if (fill_mirror) {
    for (const metadata::StoredGroup& group : page.groups) mirror(group.state.group_id, {group.state});
    for (const records::OffsetCommitted& offset : page.offsets) mirror(offset.group_id, {offset});
  }
  arm();
}

void GroupService::start(std::vector<std::int32_t> lease_epochs) {
  lease_epochs_ = std::move(lease_epochs);
  arm();
  schedule_sweep();
}

void GroupService::stop() {
  stopped_ = true;
  if (timer_) shard_.core().cancel(*std::exchange(timer_, std::nullopt));
  Step step;
  std::vector<std::string> ids;
  coordinator_.for_each_group([&ids](const auto& group) { ids.push_back(group.classic.id()); });
  for (const std::string& id : ids) coordinator_.forget(id, ErrorCode::coordinator_not_available, step);
  deliver(std::move(step.answers), ErrorCode::none);
}

// ---- Requests ----

ErrorCode GroupService::readiness(std::string_view group_id) const {
  if (stopped_) return ErrorCode::coordinator_not_available;
  return !loading_.empty() && loading_.contains(group_id) ? ErrorCode::coordinator_load_in_progress : ErrorCode::none;
}

void GroupService::run(const std::string& group_id, Call call) {
  Step step;
  call(coordinator_, now(), step);
  finish(group_id, std::move(step));
  arm();
}

void GroupService::finish(const std::string& group_id, Step step) {
  if (step.writes.empty()) {
    if (step.answers.empty()) return;
    // What this step says may rest on a change that is not durable yet.
    if (!pending_.empty())
      if (const auto it = pending_.find(group_id); it != pending_.end()) {
        auto& behind = it->second.back().answers;
        std::ranges::move(step.answers, std::back_inserter(behind));
        return;
      }
    return deliver(std::move(step.answers), ErrorCode::none);
  }
  const bool of_state = std::ranges::any_of(step.writes, [](const records::Record& record) {
    return std::holds_alternative<records::GroupChanged>(record) ||
           std::holds_alternative<records::GroupDeleted>(record);
  });
  if (of_state) pending_[group_id].push_back({.answers = std::exchange(step.answers, {})});
  metadata::ChangeSet changes;
  const int slot = group_slot(group_id, static_cast<int>(lease_epochs_.size()));
  changes.preconditions.emplace_back(metadata::LeaseHeld{.name = group_lease(slot),
                                                         .owner = shard_.broker().node_id(),
                                                         .epoch = lease_epochs_[static_cast<std::size_t>(slot)]});
  changes.records = step.writes;
  shard_.broker().store().commit(std::move(changes), metadata::Urgency::bulk, shard_.core(),
                                 [this, group_id, of_state, written = std::move(step.writes),
                                  answers = std::move(step.answers)](const metadata::CommitResult& result) mutable {
                                   committed(group_id, written, of_state, std::move(answers), result);
                                 });
}

void GroupService::committed(const std::string& group_id, const std::vector<records::Record>& written, bool of_state,
                             std::vector<Answer> answers, const metadata::CommitResult& result) {
  if (of_state) {
    // Commits are answered in the order they were asked for in, so the oldest is this one.
    const auto it = pending_.find(group_id);
    answers = std::move(it->second.front().answers);
    it->second.pop_front();
    if (it->second.empty()) pending_.erase(it);
  }
  if (result) {
    if (shard_.broker().settings().offsets_mirror) mirror(group_id, written);
    coordinator_.stored(written);
    // A deletion of the topic that came first has won.
    for (const records::Record& record : written)
      if (const auto* offset = std::get_if<records::OffsetCommitted>(&record))
        if (shard_.snapshot()->topic(offset->topic_id) == nullptr) coordinator_.topic_deleted(offset->topic_id);
    return deliver(std::move(answers), ErrorCode::none);
  }
  const ErrorCode error = error_of(result.error());
  LOG_ERROR("group", "group {}: a change was not stored: {}", group_id, result.error().detail);
  deliver(std::move(answers), error);
  if (!stopped_) reload(group_id, error);
}

// Before the coordinator takes the records in: what they delete is still there to be named.
void GroupService::mirror(const std::string& group_id, const std::vector<records::Record>& written) {
  std::vector<MirrorRecord> mirrored;
  const coordinator::GroupOffsets* const offsets = coordinator_.offsets(group_id);
  for (const records::Record& record : written)
    std::visit(records::Overloaded{
                   [&](const records::OffsetCommitted& r) { mirrored.push_back(mirror_record(r)); },
                   [&](const records::GroupChanged& r) { mirrored.push_back(mirror_record(r)); },
                   [&](const records::OffsetDeleted& r) {
                     if (offsets == nullptr) return;
                     const auto topic = offsets->topics().find(r.topic_id);
                     if (topic != offsets->topics().end())
                       mirrored.push_back(mirror_tombstone(group_id, topic->second.name, r.partition));
                   },
                   [&](const records::GroupDeleted&) {
                     if (offsets != nullptr) mirror_tombstones(group_id, *offsets, mirrored);
                     mirrored.push_back(mirror_tombstone(group_id));
                   },
                   [](const auto&) {},
               },
               record);
  write_to_mirror(shard_, group_slot(group_id, shard_.broker().settings().group_slots), mirrored);
}

void GroupService::topic_deleted(const base::Uuid& topic_id) {
  if (shard_.broker().settings().offsets_mirror)
    coordinator_.for_each_group([&](const coordinator::GroupCoordinator::Group& group) {
      std::vector<MirrorRecord> tombstones;
      const auto topic = group.offsets.topics().find(topic_id);
      if (topic == group.offsets.topics().end()) return;
      for (const auto& [partition, offset] : topic->second.partitions)
        tombstones.push_back(mirror_tombstone(group.classic.id(), topic->second.name, partition));
      write_to_mirror(shard_, group_slot(group.classic.id(), shard_.broker().settings().group_slots), tombstones);
    });
  coordinator_.topic_deleted(topic_id);
}

// What is stored is the truth; the group goes on from there.
void GroupService::reload(const std::string& group_id, ErrorCode error) {
  Step step;
  coordinator_.forget(group_id, error, step);
  deliver(std::move(step.answers), ErrorCode::none);
  if (!loading_.insert(group_id).second) return;
  metadata::GroupRange range{.first = group_id, .end = group_id + '\0'};
  shard_.broker().store().load_group_state(
      std::move(range), shard_.core(), [this, group_id](base::Result<metadata::GroupPage, metadata::StoreError> page) {
        if (stopped_) return;
        if (page) {
          load(std::move(*page));
          loading_.erase(group_id);
        } else {
          // The store is beyond help; its clients look for another coordinator.
          LOG_ERROR("group", "group {} cannot be loaded: {}", group_id, page.error().message);
        }
      });
}

void GroupService::deliver(std::vector<Answer> answers, ErrorCode error) {
  for (Answer& answer : answers) answer(error);
}

// ---- Time ----

void GroupService::arm() {
  const std::int64_t deadline = coordinator_.next_deadline();
  // A timer that is early finds nothing due and is set again.
  if (stopped_ || deadline >= armed_ms_) return;
  if (timer_) shard_.core().cancel(*timer_);
  armed_ms_ = deadline;
  timer_ = shard_.core().at(base::SteadyTime(std::chrono::milliseconds(deadline)), [this] { tick(); });
}

void GroupService::tick() {
  timer_.reset();
  armed_ms_ = coordinator::kNever;
  for (;;) {
    Step step;
    const std::string group_id = coordinator_.tick(now(), step);
    if (group_id.empty()) break;
    finish(group_id, std::move(step));
  }
  arm();
}

void GroupService::schedule_sweep() {
  const auto interval = std::chrono::milliseconds(shard_.broker().settings().offsets_check_interval_ms);
  shard_.core().at(shard_.core().clock().steady() + interval, [this] {
    if (stopped_) return;
    sweep();
    schedule_sweep();
  });
}

void GroupService::sweep() {
  Step step;
  coordinator_.expire_offsets(now(), step);
  // One change set a group, as each names the lease of its own slot.
  const auto group_of = [](const records::Record& record) -> const std::string& {
    if (const auto* offset = std::get_if<records::OffsetDeleted>(&record)) return offset->group_id;
    return std::get<records::GroupDeleted>(record).group_id;
  };
  for (auto it = step.writes.begin(); it != step.writes.end();) {
    std::string group_id;
    group_id = group_of(*it);  // a copy: the records are about to move
    const auto end = std::find_if(it, step.writes.end(), [&](const auto& r) { return group_of(r) != group_id; });
    Step of_group;
    std::move(it, end, std::back_inserter(of_group.writes));
    it = end;
    finish(group_id, std::move(of_group));
  }
}

namespace internal {

Shard& group_shard(RequestContext& context, std::string_view group_id) {
  return context.broker.shard(context.broker.owner_of_group(group_id));
}
GroupService& group_service(Shard& shard) { return shard.groups(); }
runtime::Core& core_of(Shard& shard) { return shard.core(); }

}  // namespace internal

}  // namespace thalweg::broker
