#include "broker/broker_id.h"

#include <fmt/format.h>

#include <cstdint>
#include <limits>

#include "broker/broker.h"
#include "config/value.h"

namespace thalweg::broker {

using protocol::ErrorCode;
using protocol::fail;

protocol::Result<void> check_broker_id(const RequestContext& context, const std::string& name) {
  if (name.empty()) return fail(ErrorCode::invalid_request, "A broker id is needed");
  const auto id = config::parse_integer(name);
  if (!id || *id < std::numeric_limits<std::int32_t>::min() || *id > std::numeric_limits<std::int32_t>::max())
    return fail(ErrorCode::invalid_request, fmt::format("'{}' is no broker id", name));
  if (*id != context.broker.settings().node_id)
    return fail(ErrorCode::invalid_request,
                fmt::format("There is no broker '{}'; this one is {}", name, context.broker.settings().node_id));
  return {};
}

}  // namespace thalweg::broker
