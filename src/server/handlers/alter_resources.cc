#include "server/handlers/alter_resources.h"

#include <fmt/format.h>

#include <optional>

#include "broker/broker_id.h"
#include "broker/logger_admin.h"

namespace thalweg::server::handlers {

namespace {

using broker::AclOperation;
using broker::RequestContext;
using protocol::ErrorCode;
using protocol::Result;
using runtime::Awaitable;

Result<void> alter_broker_loggers(const RequestContext& context, const AskedAlteration& asked, bool validate_only) {
  TRY(broker::check_changes(asked.changes));
  if (const ErrorCode denied =
          check_access(context, ConfigResourceType::broker_logger, asked.name, AclOperation::alter_configs);
      denied != ErrorCode::none)
    return protocol::fail(denied);
  TRY(broker::check_broker_id(context, asked.name));
  return broker::alter_loggers(asked.changes, validate_only);
}

}  // namespace

Awaitable<Result<void>> alter_resource(RequestContext& context, AskedAlteration asked, bool validate_only) {
  const auto type = static_cast<ConfigResourceType>(asked.type);
  if (type == ConfigResourceType::broker_logger && !asked.replaces)
    co_return alter_broker_loggers(context, asked, validate_only);
  CO_TRY(broker::check_changes(asked.changes));
  const std::optional<records::ResourceType> stored = stored_type(type);
  if (!stored)
    co_return protocol::fail(ErrorCode::invalid_request,
                             fmt::format("Resources of type {} have no configs to change", asked.type));
  broker::ConfigAlteration alteration{.resource = {.type = *stored, .name = std::move(asked.name)},
                                      .changes = std::move(asked.changes),
                                      .replaces = asked.replaces};
  if (const ErrorCode denied = check_access(context, type, alteration.resource.name, AclOperation::alter_configs);
      denied != ErrorCode::none)
    co_return protocol::fail(denied);
  auto altered = co_await broker::alter_configs(context, std::move(alteration), validate_only);
  co_return altered;
}

}  // namespace thalweg::server::handlers
