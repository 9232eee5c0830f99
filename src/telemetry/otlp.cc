#include "telemetry/otlp.h"

#include <fmt/format.h>

#include <climits>

#include "protocol/compression.h"

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
      return fail(ErrorCode::invalid_record,
                  fmt::format("metrics of {} bytes, {} are allowed", payload.size(), limits.max_bytes));
    return base::Bytes::copy_of(payload);
  }
  protocol::Decompressor decompressor;
  const auto plain = decompressor.decompress(type, payload, {.max_bytes = limits.max_bytes});
  if (!plain) return fail(ErrorCode::invalid_record, plain.error().detail);
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

}  // namespace thalweg::telemetry
