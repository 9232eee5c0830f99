// Any bytes as record batches: nothing reads beyond them, and what validation lets pass can be read and written again.
#include <cstdint>
#include <limits>
#include <vector>

#include "base/check.h"
#include "base/crc32c.h"
#include "protocol/produced_batch.h"
#include "protocol/record_batch.h"
#include "protocol/record_batch_builder.h"

namespace {

using namespace thalweg;
using namespace thalweg::protocol;

constexpr std::uint64_t kOutputMax = 1 << 20;

struct Seen {
  bool whole = false;
  bool counts_up = true;  // offset deltas 0, 1, 2 ...
  std::int32_t count = 0;
  std::uint64_t sum = 0;  // of all bytes that a record points at
};

Seen read(BatchView batch, Decompressor& decompressor) {
  Seen seen;
  const auto result = for_each_record(batch, decompressor,
                                      [&](const Record& record) {
                                        seen.counts_up =
                                            seen.counts_up && record.offset - batch.base_offset() == seen.count;
                                        ++seen.count;
                                        seen.sum = seen.sum * 31 + static_cast<std::uint64_t>(record.offset) +
                                                   static_cast<std::uint64_t>(record.timestamp);
                                        for (const auto& bytes : {record.key, record.value}) {
                                          if (!bytes.has_value()) continue;
                                          for (const std::uint8_t byte : *bytes) seen.sum = seen.sum * 31 + byte;
                                        }
                                        for (const RecordHeader& header : record.headers) {
                                          for (const char c : header.key)
                                            seen.sum = seen.sum * 31 + static_cast<std::uint8_t>(c);
                                          if (header.value.has_value()) seen.sum += header.value->size();
                                        }
                                      },
                                      {.max_bytes = kOutputMax});
  seen.whole = result.has_value();
  return seen;
}

// A batch that is read whole can be written again, and then reads the same.
void write_again(BatchView batch, const Seen& seen, Decompressor& decompressor) {
  BatchOptions options;
  options.base_offset = batch.base_offset();
  RecordBatchBuilder builder(options);
  bool rises = true;
  std::int64_t next = options.base_offset;
  (void)for_each_record(batch, decompressor, [&](const Record& record) {
    rises = rises && record.offset >= next &&
            record.offset - options.base_offset <= std::numeric_limits<std::int32_t>::max();
    if (!rises) return;
    next = record.offset + 1;
    builder.append(record);
  });
  if (!rises) return;
  const base::Bytes again = builder.build();
  const auto parsed = parse_batch(again.span());
  CHECK(parsed.has_value() && validate_crc(*parsed).has_value());
  const Seen seen_again = read(*parsed, decompressor);
  CHECK(seen_again.whole && seen_again.count == seen.count && seen_again.sum == seen.sum);
}

void judge(std::vector<std::uint8_t>& bytes, Decompressor& decompressor) {
  // Most of what makes a batch refused at once is put right, so that the walk is reached.
  base::store_be(bytes.data(), std::int64_t{0});
  base::store_be(bytes.data() + kCrcPosition,
                 base::crc32c(BatchView(bytes.data()).bytes().subspan(kAttributesPosition)));
  const BatchView batch(bytes.data());
  const ProduceRules rules{.now_ms = 1700000000000,
                           .timestamp_type = TimestampType::log_append_time,
                           .max_batch_bytes = 1 << 30,
                           .max_decompressed_bytes = kOutputMax};
  const auto verdict = validate_produced_batch(batch, rules, decompressor);
  const bool header_fine = batch.codec() <= 4 && batch.record_count() > 0 &&
                           batch.last_offset_delta() == batch.record_count() - 1 && !batch.is_control() &&
                           (!batch.has_producer_id() || batch.base_sequence() >= 0) &&
                           batch.timestamp_type() == TimestampType::create_time;
  if (batch.codec() <= 4) {
    const Seen seen = read(batch, decompressor);
    CHECK(verdict.has_value() == (header_fine && seen.whole && seen.counts_up));
    if (verdict.has_value()) CHECK(verdict->record_count == seen.count && verdict->max_timestamp == rules.now_ms);
    if (seen.whole && seen.count > 0) write_again(batch, seen, decompressor);
  } else {
    CHECK(!verdict.has_value());
  }
  ProduceRules strict = rules;
  strict.timestamp_type = TimestampType::create_time;
  strict.compacted = true;
  strict.timestamp_before_max_ms = 1000;
  strict.max_record_bytes = 100;
  const auto strictly = validate_produced_batch(batch, strict, decompressor);
  if (!strictly.has_value()) return;
  set_produced_timestamps(bytes.data(), strict, *strictly);
  CHECK(validate_crc(batch).has_value() && batch.timestamp_type() == TimestampType::create_time);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Decompressor decompressor;
  std::span<const std::uint8_t> left(data, size);
  (void)parse_produced(left, 7);
  (void)parse_batch(left);
  for (;;) {
    const auto frame = peek_batch(left);
    if (!frame.has_value() || !frame->has_value()) break;
    CHECK((*frame)->size_bytes <= left.size());
    std::vector<std::uint8_t> bytes(left.begin(), left.begin() + static_cast<std::ptrdiff_t>((*frame)->size_bytes));
    if (parse_batch(bytes).has_value()) judge(bytes, decompressor);
    left = left.subspan((*frame)->size_bytes);
  }
  return 0;
}
