#include "broker/commit.h"

#include "base/log.h"
#include "broker/broker.h"

namespace thalweg::broker {

runtime::Awaitable<metadata::CommitResult> commit(RequestContext& context, metadata::ChangeSet changes,
                                                  metadata::Urgency urgency) {
  metadata::Store& store = context.broker.store();
  runtime::Core& core = context.core;
  co_return co_await runtime::suspend<metadata::CommitResult>(
      [&store, &core, urgency, changes = std::move(changes)](runtime::Resume<metadata::CommitResult> resume) mutable {
        store.commit(std::move(changes), urgency, core, std::move(resume));
      });
}

protocol::Error store_error(const metadata::CommitFault& fault) {
  using protocol::ErrorCode;
  LOG_ERROR("metadata", "a change was not stored: {}", fault.detail);
  switch (fault.kind) {
    case metadata::CommitFault::Kind::stopped: return {ErrorCode::broker_not_available, "the broker is stopping"};
    case metadata::CommitFault::Kind::overloaded: return {ErrorCode::request_timed_out, "too many changes are waiting"};
    case metadata::CommitFault::Kind::precondition:
    case metadata::CommitFault::Kind::invalid: return {ErrorCode::unknown_server_error, fault.detail};
    case metadata::CommitFault::Kind::storage: break;
  }
  return {ErrorCode::unknown_server_error, "the metadata store failed"};
}

}  // namespace thalweg::broker
