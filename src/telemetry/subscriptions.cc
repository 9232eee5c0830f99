#include "telemetry/subscriptions.h"

#include <re2/re2.h>

#include <algorithm>
#include <set>
#include <span>

#include "base/crc32c.h"

namespace thalweg::telemetry {

namespace {

constexpr std::string_view kEveryMetric = "*";
constexpr std::int32_t kLongestIntervalMs = 300'000;

std::string_view trimmed(std::string_view text) {
  const auto is_space = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// What the client is known by under the name of a selector; null where there is no such selector.
const std::string* attribute_of(const ClientFacts& client, std::string_view attribute) {
  if (attribute == "client_id") return &client.client_id;
  if (attribute == "client_software_name") return &client.software_name;
  if (attribute == "client_software_version") return &client.software_version;
  if (attribute == "client_source_address") return &client.source_address;
  if (attribute == "client_source_port") return &client.source_port;
  return nullptr;
}

std::uint32_t big_endian(std::span<const std::uint8_t, 16> bytes, std::size_t at) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | bytes[at + i];
  return value;
}

// What Java makes of an id as a hash code: its four words, exclusive or.
std::uint32_t java_hash(const base::Uuid& id) {
  return big_endian(id.bytes, 0) ^ big_endian(id.bytes, 4) ^ big_endian(id.bytes, 8) ^ big_endian(id.bytes, 12);
}

}  // namespace

Subscriptions::Subscriptions(const std::vector<Subscription>& configured, const std::optional<Subscription>& fallback) {
  for (const Subscription& subscription : configured) configured_.push_back(compile(subscription));
  if (fallback) fallback_ = compile(*fallback);
}

Subscriptions::Compiled Subscriptions::compile(const Subscription& subscription) {
  Compiled compiled{.metrics = subscription.metrics, .interval_ms = subscription.interval_ms, .patterns = {}};
  RE2::Options options;
  options.set_log_errors(false);
  for (const std::string& pair : subscription.match) {
    const std::string_view text = pair;
    const std::size_t equals = text.find('=');
    const std::string_view pattern = equals == std::string_view::npos ? text : trimmed(text.substr(equals + 1));
    compiled.patterns[std::string(trimmed(text.substr(0, equals)))] =
        std::make_shared<const RE2>(re2::StringPiece(pattern.data(), pattern.size()), options);
  }
  return compiled;
}

bool Subscriptions::matches(const Compiled& subscription, const ClientFacts& client) {
  return std::ranges::all_of(subscription.patterns, [&client](const auto& entry) {
    const auto& [attribute, pattern] = entry;
    if (!pattern->ok()) return false;
    if (attribute == "client_instance_id") return RE2::FullMatch(client.instance_id.str(), *pattern);
    const std::string* const value = attribute_of(client, attribute);
    return value != nullptr && RE2::FullMatch(*value, *pattern);
  });
}

Wanted Subscriptions::wanted_by(const ClientFacts& client) const {
  std::set<std::string> metrics;
  std::int32_t interval_ms = kLongestIntervalMs;
  bool any = false;
  for (const Compiled& subscription : configured_) {
    if (!matches(subscription, client)) continue;
    any = true;
    metrics.insert(subscription.metrics.begin(), subscription.metrics.end());
    interval_ms = std::min(interval_ms, subscription.interval_ms);
  }
  if (!any && fallback_) {
    metrics.insert(fallback_->metrics.begin(), fallback_->metrics.end());
    interval_ms = fallback_->interval_ms;
  }
  Wanted wanted{.metrics = {}, .interval_ms = interval_ms};
  if (metrics.contains(std::string(kEveryMetric))) {
    wanted.metrics.emplace_back(kEveryMetric);
  } else {
    wanted.metrics.assign(metrics.begin(), metrics.end());
  }
  return wanted;
}

std::int32_t subscription_id(const Wanted& wanted, const base::Uuid& instance_id) {
  std::string text = "[";
  for (const std::string& metric : wanted.metrics) text.append(text.size() > 1 ? ", " : "").append(metric);
  text.append("]").append(std::to_string(wanted.interval_ms));
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
  return static_cast<std::int32_t>(base::crc32c(bytes) ^ java_hash(instance_id));
}

bool is_reserved(const base::Uuid& instance_id) {
  base::Uuid one;
  one.bytes.back() = 1;
  return instance_id.is_zero() || instance_id == one;
}

}  // namespace thalweg::telemetry
