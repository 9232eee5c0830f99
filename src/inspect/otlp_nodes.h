// Telemetry as a tree: the metrics that a client has pushed, read along the descriptors of OTLP's messages.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "inspect/walker.h"

namespace thalweg::inspect {

// Reads an encoded MetricsData; Takes and refuses what protobuf's own
// parser does. Fields that the descriptors lack are shown with their bytes.
//   returns  the tree; each message and each packed array begins with a node `length`, which is tag and length
Walk walk_metrics(const base::Bytes& bytes, const WalkOptions& options = {});

// The same as the decoder's opener of PushTelemetry (DecodeOptions::telemetry): the tree, which says where it is
// damaged.
std::vector<Node> open_telemetry(std::span<const std::uint8_t> metrics);

}  // namespace thalweg::inspect
