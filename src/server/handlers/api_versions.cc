// ApiVersions (API 18): what is served, and the feature levels that clients switch their behaviour on.
#include <re2/re2.h>

#include "broker/broker.h"
#include "broker/features.h"
#include "server/dispatch.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::ApiVersionsResponse;
using protocol::ErrorCode;

// source   KIP-511
bool is_software_name(std::string_view text) {
  static const RE2* const pattern = new RE2("[a-zA-Z0-9](?:[a-zA-Z0-9\\-.]*[a-zA-Z0-9])?");
  return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *pattern);
}

void add_apis(ApiVersionsResponse& response, bool unstable) {
  for (const ServedApi& api : served_apis()) {
    ApiVersionsResponse::ApiVersion range;
    range.api_key = static_cast<std::int16_t>(api.key);
    range.min_version = api.advertised_lowest;
    range.max_version = unstable ? api.highest_unstable : api.highest;
    response.api_keys.push_back(std::move(range));
  }
}

void add_features(ApiVersionsResponse& response, const broker::Broker& broker, int version) {
  for (const broker::Feature& feature : broker::kFeatures) {
    ApiVersionsResponse::SupportedFeatureKey supported;
    supported.name = feature.name;
    supported.min_version = feature.min_supported;
    supported.max_version = feature.max_supported;
    // Clients before version 4 cannot read a feature that starts at 0 (KAFKA-17011), so they are not told of it.
    if (version >= 4 || feature.min_supported != 0) response.supported_features.push_back(std::move(supported));
    ApiVersionsResponse::FinalizedFeatureKey finalized;
    finalized.name = feature.name;
    finalized.min_version_level = feature.finalized;
    finalized.max_version_level = feature.finalized;
    response.finalized_features.push_back(std::move(finalized));
  }
  response.finalized_features_epoch = broker.broker_epoch();
}

// From version 5 on a client may say which broker it means to talk to: cluster and node, both or neither. One that has
// come to another broker is told to look for its cluster again (KIP-1242).
ErrorCode check_target(const RequestContext& context, const protocol::ApiVersionsRequest& request) {
  const bool names_node = request.node_id != protocol::kNoBroker.value();
  if (!request.cluster_id && !names_node) return ErrorCode::none;
  if (!request.cluster_id || !names_node) return ErrorCode::invalid_request;
  const bool is_here =
      request.cluster_id->view() == context.broker.cluster_id() && request.node_id == context.broker.settings().node_id;
  return is_here ? ErrorCode::none : ErrorCode::rebootstrap_required;
}

}  // namespace

Awaitable<ApiVersionsResponse> api_versions(RequestContext& context, protocol::ApiVersionsRequest request) {
  ApiVersionsResponse response;
  if (context.version >= 3) {
    if (!is_software_name(request.client_software_name) || !is_software_name(request.client_software_version)) {
      response.error_code = ErrorCode::invalid_request;
      co_return response;
    }
    if (response.error_code = check_target(context, request); response.error_code != ErrorCode::none)
      co_return response;
    context.connection.client_software_name = request.client_software_name.str();
    context.connection.client_software_version = request.client_software_version.str();
  }
  add_apis(response, context.broker.settings().unstable_api_versions);
  add_features(response, context.broker, context.version);
  co_return response;
}

ApiVersionsResponse unsupported_api_versions() {
  const ServedApi* api = find_served(static_cast<std::int16_t>(protocol::ApiKey::api_versions));
  ApiVersionsResponse response;
  response.error_code = ErrorCode::unsupported_version;
  ApiVersionsResponse::ApiVersion range;
  range.api_key = static_cast<std::int16_t>(api->key);
  range.min_version = api->advertised_lowest;
  range.max_version = api->highest;
  response.api_keys.push_back(std::move(range));
  return response;
}

}  // namespace thalweg::server::handlers
