// The broker ids that config resources are named by.
#pragma once

#include <string>

#include "broker/request_context.h"
#include "protocol/error.h"

namespace thalweg::broker {

// Whether a resource of the name is this broker.
//   errors   invalid_request: the name is no number, or another broker's
protocol::Result<void> check_broker_id(const RequestContext& context, const std::string& name);

}  // namespace thalweg::broker
