// UpdateFeatures (API 57): feature levels of the cluster. They are those of this release and stay, so a request can ask
// for what is so already, or be told why it cannot be.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>

#include "broker/broker.h"
#include "broker/features.h"
#include "server/handlers/handlers.h"

namespace thalweg::server::handlers {

namespace {

using protocol::Error;
using protocol::ErrorCode;
using protocol::UpdateFeaturesRequest;
using protocol::UpdateFeaturesResponse;

enum class Update : std::int8_t { unknown = 0, upgrade = 1, safe_downgrade = 2, unsafe_downgrade = 3 };

struct Wanted {
  std::int16_t level = 0;
  Update update = Update::unknown;
};

Update update_of(const UpdateFeaturesRequest::FeatureUpdateKey& feature, int version) {
  if (version == 0) return feature.allow_downgrade ? Update::safe_downgrade : Update::upgrade;
  const bool is_known = feature.upgrade_type > 0 && feature.upgrade_type <= 3;
  return is_known ? static_cast<Update>(feature.upgrade_type) : Update::unknown;
}

Error refuse(std::string_view name, std::int16_t level, std::string_view why) {
  return {ErrorCode::invalid_update_version, fmt::format("{} cannot be at level {}: {}", name, level, why)};
}

Error check(const std::string& name, const Wanted& wanted) {
  if (wanted.update == Update::unknown) return refuse(name, wanted.level, "the kind of update is unknown");
  if (wanted.level < 0) return refuse(name, wanted.level, "levels are not negative");
  const auto* feature = std::ranges::find(broker::kFeatures, name, &broker::Feature::name);
  if (feature == broker::kFeatures.end()) return refuse(name, wanted.level, "this release does not know the feature");
  if (wanted.level < feature->min_supported || wanted.level > feature->max_supported)
    return refuse(name, wanted.level,
                  fmt::format("this release knows levels {} to {}", feature->min_supported, feature->max_supported));
  if (wanted.level < feature->finalized) {
    if (wanted.update == Update::upgrade)
      return refuse(name, wanted.level, "that is no upgrade, and none else was allowed");
    return refuse(name, wanted.level, "the levels of this release stay");
  }
  return {};
}

}  // namespace

Awaitable<UpdateFeaturesResponse> update_features(RequestContext& context, protocol::UpdateFeaturesRequest request) {
  UpdateFeaturesResponse response;
  response.error_message.reset();
  if (!context.authorized(broker::AclOperation::alter, broker::ResourceType::cluster, broker::kClusterResource)) {
    response.error_code = ErrorCode::cluster_authorization_failed;
    response.error_message = protocol::error_text(response.error_code);
    co_return response;
  }
  std::map<std::string, Wanted> wanted;
  for (const auto& feature : request.feature_updates)
    wanted[feature.feature.str()] = {feature.max_version_level, update_of(feature, context.version)};
  for (const auto& [name, update] : wanted) {
    const Error error = check(name, update);
    if (error.code == ErrorCode::none) continue;
    response.error_code = error.code;
    response.error_message = error.detail;
    co_return response;
  }
  // Before version 2 each is told, as often as it was named.
  for (const auto& feature : request.feature_updates) {
    auto& result = response.results.emplace_back();
    result.feature = feature.feature;
    result.error_message = protocol::error_name(ErrorCode::none);
  }
  co_return response;
}

}  // namespace thalweg::server::handlers
