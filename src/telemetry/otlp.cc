#include "telemetry/otlp.h"

#include <fmt/format.h>

#include <climits>
#include <utility>

#include "protocol/compression.h"
#include "telemetry/utf8.h"

namespace thalweg::telemetry {

using protocol::CompressionType;
using protocol::ErrorCode;
using protocol::fail;

protocol::Result<base::Bytes> decompress_payload(std::int8_t codec, std::span<const std::uint8_t> payload,
                                                 const PayloadLimits& limits) {
  if (codec < 0 || codec > static_cast<std::int8_t>(CompressionType::zstd))
    return fail(ErrorCode::unsupported_compression_type, fmt::format("compression type {}", codec));
  const auto type = static_cast<CompressionType>(codec);
  if (type == CompressionType::none) {
    if (payload.size() > limits.max_bytes)
      return fail(ErrorCode::telemetry_too_large,
                  fmt::format("metrics of {} bytes, {} are allowed", payload.size(), limits.max_bytes));
    return base::Bytes::copy_of(payload);
  }
  protocol::Decompressor decompressor;
  const auto plain = decompressor.decompress(type, payload, {.max_bytes = limits.max_bytes});
  if (!plain) {
    // A decompressor keeps INVALID_RECORD for output beyond the limit.
    const bool too_large = plain.error().code == ErrorCode::invalid_record;
    return fail(too_large ? ErrorCode::telemetry_too_large : ErrorCode::invalid_record, plain.error().detail);
  }
  return base::Bytes::copy_of(*plain);
}

protocol::Result<MetricsData> decode_metrics(std::int8_t codec, std::span<const std::uint8_t> payload,
                                             const PayloadLimits& limits) {
  ASSIGN_OR_RETURN(const base::Bytes plain, decompress_payload(codec, payload, limits));
  // What the library finds wrong with a client's bytes is no news for our stderr.
  [[maybe_unused]] static const auto kQuiet = google::protobuf::SetLogHandler(nullptr);
  MetricsData metrics;
  if (plain.size() > INT_MAX || !metrics.ParseFromArray(plain.data(), static_cast<int>(plain.size())))
    return fail(ErrorCode::invalid_record, "the metrics are no MetricsData of OTLP");
  return metrics;
}

std::optional<std::string> encode_with(const ClientFacts& client, MetricsData metrics) {
  constexpr int kMostResources = 64;
  if (metrics.resource_metrics_size() > kMostResources) return std::nullopt;
  const std::pair<const char*, std::string> facts[] = {{"client_id", client.client_id},
                                                       {"client_instance_id", client.instance_id.str()},
                                                       {"client_software_name", client.software_name},
                                                       {"client_software_version", client.software_version},
                                                       {"client_source_address", client.source_address},
                                                       {"client_source_port", client.source_port},
                                                       {"listener", client.listener}};
  for (auto& resource : *metrics.mutable_resource_metrics()) {
    for (const auto& [key, value] : facts) {
      auto& attribute = *resource.mutable_resource()->add_attributes();
      attribute.set_key(key);
      attribute.mutable_value()->set_string_value(sound_utf8(value));
    }
  }
  return metrics.SerializeAsString();
}

}  // namespace thalweg::telemetry
