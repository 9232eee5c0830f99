// InitProducerId (API 22) for idempotent producers: a producer id that nobody has had, epoch 0.
#include "broker/producer_ids.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

constexpr std::int16_t kNoProducerEpoch = -1;

}  // namespace

Awaitable<protocol::InitProducerIdResponse> init_producer_id(RequestContext& context,
                                                             protocol::InitProducerIdRequest request) {
  protocol::InitProducerIdResponse response;
  response.producer_id = protocol::kNoProducerId;
  response.producer_epoch = kNoProducerEpoch;
  using protocol::ErrorCode;
  if (request.transactional_id) {
    if (!context.authorized(broker::AclOperation::write, broker::ResourceType::transactional_id,
                            request.transactional_id->view())) {
      response.error_code = ErrorCode::transactional_id_authorization_failed;
      co_return response;
    }
    response.error_code =
        request.transactional_id->empty() ? ErrorCode::invalid_request : ErrorCode::coordinator_not_available;
    co_return response;
  }
  // Who may write to any topic may do so idempotently (KIP-679).
  if (!context.authorized(broker::AclOperation::idempotent_write, broker::ResourceType::cluster,
                          broker::kClusterResource, broker::Denial::quiet) &&
      !context.authorized_by_type(broker::AclOperation::write, broker::ResourceType::topic)) {
    response.error_code = ErrorCode::cluster_authorization_failed;
    co_return response;
  }
  // A producer that has lost its place names what it had; both or neither.
  const bool has_id = request.producer_id != protocol::kNoProducerId;
  if (has_id != (request.producer_epoch != kNoProducerEpoch)) {
    response.error_code = ErrorCode::invalid_request;
    co_return response;
  }
  const auto id = co_await broker::next_producer_id(context);
  if (!id) {
    response.error_code = id.error().code;
    co_return response;
  }
  response.producer_id = protocol::ProducerId(*id);
  response.producer_epoch = 0;
  co_return response;
}

}  // namespace thalweg::server::handlers
