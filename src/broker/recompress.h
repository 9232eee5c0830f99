// Writes a produced batch again in the compression that its topic demands (compression.type).
#pragma once

#include <optional>

#include "base/bytes.h"
#include "protocol/batch_view.h"
#include "protocol/compression.h"
#include "protocol/error.h"

namespace thalweg::broker {

// What a topic demands.
struct CompressionTarget {
  protocol::CompressionType codec = protocol::CompressionType::none;
  std::optional<int> level;  // the codec's default where there is none
};

// A batch of the same records, offsets, times and producer in another codec. `batch` has passed validation.
//   errors   those of protocol::for_each_record
protocol::Result<base::Bytes> recompress(protocol::BatchView batch, const CompressionTarget& target,
                                         protocol::Decompressor& decompressor, protocol::Compressor& compressor);

}  // namespace thalweg::broker
