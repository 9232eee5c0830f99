#include "broker/commit.h"

#include <utility>
#include <vector>

#include "base/log.h"
#include "broker/broker.h"
#include "broker/gather.h"

namespace thalweg::broker {

namespace {

using metadata::Revision;
using runtime::Awaitable;

// The store tells the cores one after the other, without waiting in between; each is looked at this often at most.
constexpr int kLooks = 100'000;

// Goes behind what is queued on the core.
Awaitable<void> step_back(runtime::Core& core) {
  (void)co_await runtime::suspend<int>(
      [&core](runtime::Resume<int> resume) { core.post([resume = std::move(resume)]() mutable { resume(0); }); });
}

struct WaitForRevision {
  Awaitable<std::vector<Revision>> operator()(Shard& shard, std::vector<Revision> revisions) const {
    return wait(shard, revisions.front());
  }
  // What the core has in the end.
  static Awaitable<std::vector<Revision>> wait(Shard& shard, Revision revision) {
    for (int looks = 0; looks < kLooks && shard.snapshot()->revision() < revision; ++looks)
      co_await step_back(shard.core());
    std::vector<Revision> seen = {shard.snapshot()->revision()};
    co_return seen;
  }
};

Awaitable<void> seen_everywhere(RequestContext& context, Revision revision) {
  PerCore<Revision> cores(context.broker);
  for (int i = 0; i < context.broker.core_count(); ++i) cores.add(i, revision);
  const std::vector<Revision> seen = co_await gather<Revision>(context.shard, std::move(cores), WaitForRevision{});
  for (const Revision core : seen)
    if (core < revision)
      LOG_WARN("metadata", "a core is at revision {} still, behind {}", core.value(), revision.value());
}

}  // namespace

runtime::Awaitable<metadata::CommitResult> commit(RequestContext& context, metadata::ChangeSet changes,
                                                  metadata::Urgency urgency) {
  metadata::Store& store = context.broker.store();
  runtime::Core& core = context.core;
  metadata::CommitResult committed = co_await runtime::suspend<metadata::CommitResult>(
      [&store, &core, urgency, changes = std::move(changes)](runtime::Resume<metadata::CommitResult> resume) mutable {
        store.commit(std::move(changes), urgency, core, std::move(resume));
      });
  if (committed) co_await seen_everywhere(context, *committed);
  co_return committed;
}

protocol::Error store_error(const metadata::CommitFault& fault) {
  using protocol::ErrorCode;
  LOG_ERROR("metadata", "a change was not stored: {}", fault.detail);
  switch (fault.kind) {
    case metadata::CommitFault::Kind::stopped:
      return {ErrorCode::broker_not_available, "the broker is stopping"};
    case metadata::CommitFault::Kind::overloaded:
      return {ErrorCode::request_timed_out, "too many changes are waiting"};
    case metadata::CommitFault::Kind::precondition:
    case metadata::CommitFault::Kind::invalid:
      return {ErrorCode::unknown_server_error, fault.detail};
    case metadata::CommitFault::Kind::storage:
      break;
  }
  return {ErrorCode::unknown_server_error, "the metadata store failed"};
}

}  // namespace thalweg::broker
