// What clients push as telemetry: metrics of OTLP, an encoded MetricsData, compressed.
//
// The messages are those of opentelemetry/proto/**/*.proto beside this file. Nothing here knows how they are printed,
// stored or forwarded.
//
// source: KIP-714; OTLP's published field numbers
#pragma once

#include <opentelemetry/proto/metrics/v1/metrics.pb.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/bytes.h"
#include "protocol/error.h"
#include "telemetry/subscriptions.h"

namespace thalweg::telemetry {

using MetricsData = opentelemetry::proto::metrics::v1::MetricsData;

struct PayloadLimits {
  // Of the payload once it is decompressed. What is decoded takes up to fifty times as much memory: a data point
  // without any field is two bytes.
  std::uint64_t max_bytes = std::uint64_t{16} << 20;
};

// The payload of a PushTelemetry request without its compression.
//   in       codec: as in the request's CompressionType, the numbers of protocol::CompressionType
//   errors   unsupported_compression_type; invalid_record: not what the codec demands; telemetry_too_large: more than
//            max_bytes
protocol::Result<base::Bytes> decompress_payload(std::int8_t codec, std::span<const std::uint8_t> payload,
                                                 const PayloadLimits& limits = {});

// The metrics in such a payload. Fields that this version of OTLP lacks are kept as unknown ones.
//   errors   those of decompress_payload; invalid_record: no MetricsData
protocol::Result<MetricsData> decode_metrics(std::int8_t codec, std::span<const std::uint8_t> payload,
                                             const PayloadLimits& limits = {});

// The metrics encoded again, with whose they are among the attributes of every resource: client_id, client_instance_id,
// client_software_name, client_software_version, client_source_address, client_source_port, listener. For what is
// passed on. Nothing where there are more resources than a client has use for.
std::optional<std::string> encode_with(const ClientFacts& client, MetricsData metrics);

}  // namespace thalweg::telemetry
