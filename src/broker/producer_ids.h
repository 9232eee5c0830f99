// Producer ids: each core takes blocks of a thousand from the metadata store and hands them out one by one.
#pragma once

#include <cstdint>

#include "broker/request_context.h"
#include "protocol/error.h"
#include "runtime/await.h"

namespace thalweg::broker {

// An id that no producer has had.
//   errors   those of the store
runtime::Awaitable<protocol::Result<std::int64_t>> next_producer_id(RequestContext& context);

}  // namespace thalweg::broker
