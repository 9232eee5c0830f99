#include "telemetry/client_instances.h"

#include <algorithm>
#include <utility>

#include "protocol/batch_view.h"

namespace thalweg::telemetry {

using protocol::ErrorCode;

namespace {

constexpr std::int64_t kShortestSilenceMs = 60'000;
constexpr std::int64_t kSilentIntervals = 3;

}  // namespace

void ClientInstances::set_subscriptions(std::shared_ptr<const Subscriptions> subscriptions) {
  subscriptions_ = std::move(subscriptions);
  ++version_;
}

void ClientInstances::match(Instance& instance) {
  instance.version = version_;
  instance.wanted = subscriptions_->wanted_by(instance.client);
  instance.subscription_id = telemetry::subscription_id(instance.wanted, instance.client.instance_id);
}

ClientInstances::Instance& ClientInstances::instance_of(const ClientFacts& client, std::int64_t now_ms,
                                                        Serial& made_known) {
  const auto found = instances_.find(client.instance_id);
  const bool is_there = found != instances_.end() && found->second->expires_ms > now_ms;
  if (found != instances_.end() && !is_there) {
    order_.erase(found->second);
    instances_.erase(found);
  }
  if (is_there) {
    order_.splice(order_.end(), order_, found->second);
  } else {
    if (instances_.size() >= options_.max_instances) {
      instances_.erase(order_.front().client.instance_id);
      order_.pop_front();
    }
    order_.push_back({.client = client, .wanted = {}});
    instances_.emplace(client.instance_id, std::prev(order_.end()));
  }
  Instance& instance = order_.back();
  // Changed subscriptions begin everything anew, so that the client may ask for them at once.
  if (!is_there || instance.version < version_) {
    Instance fresh{.client = std::move(instance.client), .serial = next_serial_++, .wanted = {}};
    match(fresh);
    instance = std::move(fresh);
    made_known = instance.serial;
  }
  instance.expires_ms =
      now_ms + std::max(kShortestSilenceMs, kSilentIntervals * std::int64_t{instance.wanted.interval_ms});
  return instance;
}

ClientInstances::Subscribed ClientInstances::get(const ClientFacts& client, std::int64_t now_ms) {
  Subscribed subscribed;
  Instance& instance = instance_of(client, now_ms, subscribed.made_known);
  const std::int64_t last_ms = std::max(instance.last_get_ms, instance.last_push_ms);
  if (now_ms - last_ms >= instance.wanted.interval_ms) {
    instance.last_get_ms = now_ms;
  } else if (instance.last_error != ErrorCode::unknown_subscription_id &&
             instance.last_error != ErrorCode::unsupported_compression_type) {
    subscribed.error = ErrorCode::throttling_quota_exceeded;
    return subscribed;
  }
  instance.last_error = ErrorCode::none;
  subscribed.subscription_id = instance.subscription_id;
  subscribed.wanted = instance.wanted;
  return subscribed;
}

ErrorCode ClientInstances::check(Instance& instance, const Push& push, std::int64_t now_ms) const {
  if (instance.terminating) return ErrorCode::invalid_request;
  const bool is_time =
      instance.last_get_ms > instance.last_push_ms || now_ms - instance.last_push_ms >= instance.wanted.interval_ms;
  if (is_time) instance.last_push_ms = now_ms;
  if (!is_time && !push.terminating) return ErrorCode::throttling_quota_exceeded;
  if (push.subscription_id != instance.subscription_id) return ErrorCode::unknown_subscription_id;
  if (push.codec < 0 || push.codec > static_cast<std::int8_t>(protocol::CompressionType::zstd))
    return ErrorCode::unsupported_compression_type;
  if (push.size_bytes > static_cast<std::size_t>(options_.max_push_bytes)) return ErrorCode::telemetry_too_large;
  return ErrorCode::none;
}

ClientInstances::Admitted ClientInstances::push(const ClientFacts& client, const Push& push, std::int64_t now_ms) {
  Admitted admitted;
  if (is_reserved(client.instance_id)) {
    admitted.error = ErrorCode::invalid_request;
    return admitted;
  }
  Instance& instance = instance_of(client, now_ms, admitted.made_known);
  admitted.interval_ms = instance.wanted.interval_ms;
  admitted.error = check(instance, push, now_ms);
  // Also where the push was refused: the one behind the last push is, and the next may then come, as in Kafka.
  instance.terminating = push.terminating;
  if (admitted.error != ErrorCode::none || push.size_bytes == 0) instance.last_error = admitted.error;
  return admitted;
}

void ClientInstances::pushed(const base::Uuid& instance_id, ErrorCode error) {
  if (const auto found = instances_.find(instance_id); found != instances_.end()) found->second->last_error = error;
}

void ClientInstances::forget(const base::Uuid& instance_id, Serial serial) {
  const auto found = instances_.find(instance_id);
  if (found == instances_.end() || found->second->serial != serial) return;
  order_.erase(found->second);
  instances_.erase(found);
}

void ClientInstances::expire(std::int64_t now_ms) {
  for (auto it = order_.begin(); it != order_.end();) {
    if (it->expires_ms > now_ms) {
      ++it;
      continue;
    }
    instances_.erase(it->client.instance_id);
    it = order_.erase(it);
  }
}

}  // namespace thalweg::telemetry
