// The binary form of records, in which the store keeps changes for followers.
//
//   record  := tag uvarint, version uvarint, size uvarint (bytes of body), body
//   body    := the fields in the order of the struct:
//                signed integers   zig-zag uvarint           unsigned, counts, sizes   uvarint
//                bool              one byte, 0 or 1          uuid                      16 bytes
//                text, bytes       size uvarint, bytes       optional                  bool, then the value if 1
//                list              count uvarint, elements
//                placements        the distinct ones as a list, then for each partition its index uvarint
//
// Tags are never used twice. A field added at the end of a body keeps the version: an older reader passes over it, a
// newer one takes the default where a body ends before it. Any other change of a body raises its version, and a reader
// refuses a version above its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "records/record.h"

namespace thalweg::records {

// Why bytes are no record, for the log.
struct DecodeFault {
  std::size_t position = 0;  // bytes from the start of the input
  std::string what;
};

// Appends the binary form of `record` to `out`.
void encode(const Record& record, std::vector<std::uint8_t>& out);

// The binary form of the records, one behind the other.
std::vector<std::uint8_t> encode_all(std::span<const Record> records);

// Reads one record from the front of `in` and moves `in` past it. Nothing in the result refers to `in`.
base::Result<Record, DecodeFault> decode(std::span<const std::uint8_t>& in);

// Reads records up to the end of `in`; a fault where the end is inside of one.
base::Result<std::vector<Record>, DecodeFault> decode_all(std::span<const std::uint8_t> in);

}  // namespace thalweg::records
