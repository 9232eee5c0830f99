// GroupService: the shell around the group coordinator of one core. It gives calls to the pure machine, stores what
// they change, lets answers go once that is durable, and wakes the machine when something is due.
//
// A group belongs to a slot, by Kafka's rule for partitions of the offsets topic, and a slot to a core. Whoever holds a
// slot's lease in the store is its coordinator; every change names the lease as a precondition, so a coordinator that
// was replaced without knowing cannot write.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "broker/metrics.h"
#include "coordinator/group_coordinator.h"
#include "coordinator/group_step.h"
#include "metadata/store.h"
#include "runtime/await.h"
#include "runtime/core.h"

namespace thalweg::broker {

class Broker;
class Shard;
struct RequestContext;

// The slot of a group among `slots`, as Kafka picks a partition of its offsets topic.
int group_slot(std::string_view group_id, int slots);
// The lease of a slot.
std::string group_lease(int slot);

class GroupService {
 public:
  using Call = std::move_only_function<void(coordinator::GroupCoordinator&, coordinator::Time, coordinator::Step&)>;

  GroupService(Shard& shard, coordinator::GroupSettings settings);
  GroupService(const GroupService&) = delete;
  GroupService& operator=(const GroupService&) = delete;

  [[nodiscard]] coordinator::GroupCoordinator& coordinator() { return coordinator_; }
  [[nodiscard]] coordinator::Time now() const;

  // ---- Start and stop ----

  // `lease_epochs`: at which the broker holds the lease of each slot. From now on offsets expire.
  void start(std::vector<std::int32_t> lease_epochs);
  // Puts in what was stored, and into the mirror where that is new; before any request.
  void load(metadata::GroupPage page, bool fill_mirror = false);
  // Answers everybody who waits; nothing is taken any more.
  void stop();

  // ---- Requests ----

  // none where calls on the group are taken; else what its clients are told.
  [[nodiscard]] protocol::ErrorCode readiness(std::string_view group_id) const;
  // Makes the call on the group, stores what it wrote and delivers its answers.
  void run(const std::string& group_id, Call call);
  // The topic is gone.
  void topic_deleted(const base::Uuid& topic_id);

 private:
  // A change of a group's state on its way to the store, and the answers that wait for it.
  struct Pending {
    std::vector<coordinator::Answer> answers;
  };

  void finish(const std::string& group_id, coordinator::Step step);
  void committed(const std::string& group_id, const std::vector<records::Record>& written, bool of_state,
                 std::vector<coordinator::Answer> answers, const metadata::CommitResult& result);
  void mirror(const std::string& group_id, const std::vector<records::Record>& written);
  void reload(const std::string& group_id, protocol::ErrorCode error);
  void arm();
  void tick();
  void sweep();
  void schedule_sweep();
  static void deliver(std::vector<coordinator::Answer> answers, protocol::ErrorCode error);

  Shard& shard_;
  coordinator::GroupCoordinator coordinator_;
  std::vector<std::int32_t> lease_epochs_;
  std::unordered_map<std::string, std::deque<Pending>> pending_;  // by group id, oldest first
  std::unordered_set<std::string, base::TextHash, base::TextEqual> loading_;
  std::optional<runtime::Core::TimerId> timer_;
  std::int64_t armed_ms_ = coordinator::kNever;
  bool stopped_ = false;
};

namespace internal {
Shard& group_shard(RequestContext& context, std::string_view group_id);
GroupService& group_service(Shard& shard);
runtime::Core& core_of(Shard& shard);
}  // namespace internal

// Makes `call(GroupCoordinator&, Time, Reply<R>, Step&)` on the core of the group and returns the answer, once what it
// says is durable. The call must own what it refers to, or refer to what lives as long as the caller waits.
template <class R, class MakeCall>
runtime::Awaitable<R> ask_group(RequestContext& context, std::string group_id, MakeCall call) {
  Shard& owner = internal::group_shard(context, group_id);
  co_return co_await runtime::suspend<R>(
      [&owner, group_id = std::move(group_id), call = std::move(call)](runtime::Resume<R> resume) mutable {
        internal::core_of(owner).dispatch([&owner, group_id = std::move(group_id), call = std::move(call),
                                           resume = std::move(resume)]() mutable {
          GroupService& service = internal::group_service(owner);
          if (const protocol::ErrorCode error = service.readiness(group_id); error != protocol::ErrorCode::none) {
            R answer{};
            using coordinator::set_failed;  // or that of the answer itself
            set_failed(answer, error);
            return resume(std::move(answer));
          }
          service.run(group_id,
                      [&call, &resume](coordinator::GroupCoordinator& coordinator, coordinator::Time now,
                                       coordinator::Step& step) { call(coordinator, now, std::move(resume), step); });
        });
      });
}

}  // namespace thalweg::broker
