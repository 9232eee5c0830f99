// Log::append: checks, then one write, then the state.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "storage/log.h"
#include "storage/producer_append.h"

namespace thalweg::storage {

namespace {

AppendResult refused(AppendResult result, protocol::Error error) {
  result.error = error.code;
  result.detail = std::move(error.detail);
  return result;
}

AppendResult failed(AppendResult result, const runtime::IoError& error) {
  result.error = protocol::ErrorCode::kafka_storage_error;
  result.detail = error.message();
  result.write_failed = true;
  result.out_of_space = error.out_of_space();
  return result;
}

protocol::BatchView view(MutableBatch batch) { return protocol::BatchView(batch.data()); }

}  // namespace

// Leaders number the batches; whoever copies another log keeps its numbers, which may have gaps but must go up.
protocol::Result<void> Log::check_batches(std::span<const MutableBatch> batches, const AppendOptions& options) const {
  std::uint64_t size = 0;
  std::int64_t next_offset = log_end_offset_;
  for (const MutableBatch& batch : batches) {
    CHECK(batch.size() >= protocol::kBatchHeaderSize && view(batch).size_bytes() == batch.size(),
          "batches are validated before they are appended");
    size += batch.size();
    if (options.origin != AppendOrigin::replication) continue;
    if (view(batch).base_offset() < next_offset)
      return protocol::fail(
          protocol::ErrorCode::offset_out_of_range,
          fmt::format("offset {} where {} or more is expected", view(batch).base_offset(), next_offset));
    next_offset = view(batch).next_offset();
  }
  if (view(batches.back()).last_offset() - view(batches.front()).base_offset() > INT32_MAX)
    return protocol::fail(protocol::ErrorCode::offset_out_of_range, "the offsets of one append span too far");
  if (size > static_cast<std::uint64_t>(config().segment_bytes))
    return protocol::fail(protocol::ErrorCode::record_list_too_large,
                          fmt::format("{} bytes, a segment holds {}", size, config().segment_bytes));
  return {};
}

void Log::assign_offsets(std::span<const MutableBatch> batches, const AppendOptions& options) {
  std::int64_t next_offset = log_end_offset_;
  for (const MutableBatch& batch : batches) {
    protocol::patch_base_offset(batch.data(), next_offset);
    protocol::patch_leader_epoch(batch.data(), options.leader_epoch);
    next_offset = view(batch).next_offset();
  }
}

AppendResult Log::append(std::span<const MutableBatch> batches, const AppendOptions& options) {
  CHECK(!batches.empty(), "there is something to append");
  AppendResult result;
  result.log_start_offset = log_start_offset_;
  if (auto checked = check_batches(batches, options); !checked) return refused(std::move(result), checked.error());

  if (options.origin == AppendOrigin::client) {
    for (const MutableBatch& batch : batches) {
      if (!view(batch).has_producer_id()) continue;
      const std::optional<BatchMetadata> known = producers_.find_duplicate(view(batch));
      if (!known) continue;
      result.duplicate = true;
      result.duplicate_timestamp = known->timestamp;
      result.first_offset = known->first_offset();
      result.last_offset = known->last_offset;
      result.durable_end_offset = known->last_offset + 1;
      return result;
    }
  }
  if (options.origin != AppendOrigin::replication) assign_offsets(batches, options);
  ProducerAppend producers(producers_, options);
  Segment::Incoming incoming{.last_offset = view(batches.back()).last_offset(), .now_ms = options.now_ms};
  for (const MutableBatch& batch : batches) {
    if (auto checked = producers.add(batch); !checked) return refused(std::move(result), checked.error());
    incoming.size_bytes += batch.size();
    incoming.max_timestamp = std::max(incoming.max_timestamp, view(batch).max_timestamp());
  }

  if (!active().empty() && active().should_roll(incoming)) {
    if (const auto rolled = roll(options.now_ms); !rolled) return failed(std::move(result), rolled.error());
    result.rolled = true;
  }
  // Only behind a gap of more than 2^31 offsets.
  if (active().empty() && active().should_roll(incoming)) {
    const auto begun = begin_at(view(batches.front()).base_offset(), options.now_ms);
    if (!begun) return failed(std::move(result), begun.error());
  }
  Segment& segment = active();
  auto written = segment.write(batches);
  std::uint32_t aborted = 0;
  for (const AbortedTransaction& transaction : producers.aborted()) {
    if (!written) break;
    written = segment.append_aborted(transaction);
    if (written) ++aborted;
  }
  if (!written) {
    // What cannot be taken back now is taken back before the next write.
    segment.drop_aborted(aborted);
    static_cast<void>(segment.discard_unnoted().has_value());
    return failed(std::move(result), written.error());
  }

  result.first_offset = view(batches.front()).base_offset();
  for (const MutableBatch& batch : batches) {
    const protocol::BatchView appended = view(batch);
    recent_.add(appended.base_offset(), segment.note(appended, options.now_ms));
    if (appended.leader_epoch() > leader_epochs_.latest().value_or(-1))
      leader_epochs_.assign(appended.leader_epoch(), appended.base_offset());
  }
  segment.write_full_indexes();
  result.transactions_changed = producers.changes_transactions();
  producers.commit(producers_);
  result.last_offset = incoming.last_offset;
  log_end_offset_ = incoming.last_offset + 1;
  result.durable_end_offset = log_end_offset_;
  return result;
}

}  // namespace thalweg::storage
