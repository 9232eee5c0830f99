// Waiting for a commit of the metadata store, and what a client is told where it fails.
#pragma once

#include "broker/request_context.h"
#include "metadata/store.h"
#include "protocol/error.h"
#include "runtime/await.h"

namespace thalweg::broker {

// Commits and goes on once every core's view of the metadata has it: whoever hears of the change, on whichever
// connection, finds it in force.
runtime::Awaitable<metadata::CommitResult> commit(RequestContext& context, metadata::ChangeSet changes,
                                                  metadata::Urgency urgency = metadata::Urgency::urgent);

// The answer for a commit that failed for the store's sake; a failed precondition is the caller's to read.
protocol::Error store_error(const metadata::CommitFault& fault);

}  // namespace thalweg::broker
