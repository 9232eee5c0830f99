// The `.snapshot` file: the producer state of a log up to the offset that names the file.
//
//   0  version (1)      int16     6  count of producers      int32
//   2  crc32c of what   uint32   10  the producers, 46 bytes each:
//      stands behind it
//
//   0  producer id     int64     22  offset delta                  int32
//   8  epoch           int16     26  last timestamp                int64
//  10  last sequence   int32     34  coordinator epoch             int32
//  14  last offset     int64     38  first offset of the open      int64
//                                    transaction, or -1
//
// Of the last five batches only the newest is kept.
//
// source: ProducerSnapshot.json
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "storage/producer_state.h"

namespace thalweg::storage {

std::vector<std::uint8_t> encode_producer_snapshot(const ProducerState& state);
// Nothing where the version is unknown, the CRC is wrong, or the size is not that of `count` entries.
std::optional<std::vector<ProducerEntry>> decode_producer_snapshot(std::span<const std::uint8_t> bytes);

}  // namespace thalweg::storage
