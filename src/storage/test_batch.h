// Record batches for the tests of storage/, made field by field.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "base/crc32c.h"
#include "base/endian.h"
#include "base/varint.h"
#include "protocol/batch_view.h"

namespace thalweg::storage::test {

struct BatchSpec {
  std::int32_t records = 1;
  std::size_t value_bytes = 10;
  std::int64_t timestamp = 1'700'000'000'000;  // of the first record; each following one is a millisecond later
  std::int64_t producer_id = -1;
  std::int16_t producer_epoch = -1;
  std::int32_t base_sequence = -1;
  bool transactional = false;
  std::int64_t base_offset = 0;
  std::int32_t leader_epoch = -1;
};

namespace internal {

inline void put_varint(std::vector<std::uint8_t>& out, std::int64_t value) {
  std::uint8_t bytes[base::kMaxVarint64Bytes];
  const std::uint8_t* end = base::put_uvarint(bytes, base::zigzag_encode64(value));
  out.insert(out.end(), static_cast<const std::uint8_t*>(bytes), end);
}

inline void put_record(std::vector<std::uint8_t>& out, std::int64_t delta, const std::vector<std::uint8_t>& key,
                       const std::vector<std::uint8_t>& value) {
  std::vector<std::uint8_t> body;
  body.push_back(0);
  put_varint(body, delta);
  put_varint(body, delta);
  put_varint(body, key.empty() ? -1 : static_cast<std::int64_t>(key.size()));
  body.insert(body.end(), key.begin(), key.end());
  put_varint(body, static_cast<std::int64_t>(value.size()));
  body.insert(body.end(), value.begin(), value.end());
  put_varint(body, 0);
  put_varint(out, static_cast<std::int64_t>(body.size()));
  out.insert(out.end(), body.begin(), body.end());
}

inline std::vector<std::uint8_t> finish(const BatchSpec& spec, std::int16_t attributes,
                                        const std::vector<std::uint8_t>& records) {
  std::vector<std::uint8_t> batch(protocol::kBatchHeaderSize);
  std::uint8_t* p = batch.data();
  base::store_be(p, spec.base_offset);
  base::store_be(p + 8, static_cast<std::int32_t>(protocol::kBatchHeaderSize - 12 + records.size()));
  base::store_be(p + 12, spec.leader_epoch);
  p[16] = 2;
  base::store_be(p + 21, attributes);
  base::store_be(p + 23, spec.records - 1);
  base::store_be(p + 27, spec.timestamp);
  base::store_be(p + 35, spec.timestamp + spec.records - 1);
  base::store_be(p + 43, spec.producer_id);
  base::store_be(p + 51, spec.producer_epoch);
  base::store_be(p + 53, spec.base_sequence);
  base::store_be(p + 57, spec.records);
  batch.insert(batch.end(), records.begin(), records.end());
  base::store_be(batch.data() + 17, base::crc32c(std::span(batch).subspan(protocol::kAttributesPosition)));
  return batch;
}

}  // namespace internal

inline std::vector<std::uint8_t> make_batch(const BatchSpec& spec = {}) {
  std::vector<std::uint8_t> records;
  for (std::int32_t i = 0; i < spec.records; ++i)
    internal::put_record(records, i, {},
                         std::vector<std::uint8_t>(spec.value_bytes, static_cast<std::uint8_t>('a' + i % 26)));
  return internal::finish(spec, spec.transactional ? 0x10 : 0, records);
}

// A control batch that ends a transaction.
inline std::vector<std::uint8_t> make_marker(std::int64_t producer_id, std::int16_t producer_epoch, bool commit,
                                             std::int32_t coordinator_epoch = 0,
                                             std::int64_t timestamp = 1'700'000'000'000) {
  std::vector<std::uint8_t> key(4);
  base::store_be(key.data() + 2, static_cast<std::int16_t>(commit ? 1 : 0));
  std::vector<std::uint8_t> value(6);
  base::store_be(value.data() + 2, coordinator_epoch);
  std::vector<std::uint8_t> records;
  internal::put_record(records, 0, key, value);
  return internal::finish({.records = 1,
                           .timestamp = timestamp,
                           .producer_id = producer_id,
                           .producer_epoch = producer_epoch,
                           .base_sequence = -1},
                          0x30, records);
}

}  // namespace thalweg::storage::test
