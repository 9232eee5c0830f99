#include "storage/producer_append.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "storage/control_record.h"

namespace thalweg::storage {

namespace {

bool follows(std::int32_t last_sequence, std::int32_t next_sequence) {
  return std::int64_t{next_sequence} == std::int64_t{last_sequence} + 1 ||
         (next_sequence == 0 && last_sequence == std::numeric_limits<std::int32_t>::max());
}

std::string describe(const protocol::BatchView& batch) {
  return fmt::format("producer {} epoch {} at offset {}", batch.producer_id(), batch.producer_epoch(),
                     batch.base_offset());
}

}  // namespace

protocol::Result<void> ProducerAppend::add(std::span<const std::uint8_t> batch) {
  const protocol::BatchView view(batch.data());
  if (!view.has_producer_id()) return {};
  Staged& staged = this->staged(view.producer_id());
  return view.is_control() ? add_marker(staged, batch) : add_data(staged, view);
}

ProducerAppend::Staged& ProducerAppend::staged(std::int64_t producer_id) {
  for (Staged& known : staged_)
    if (known.entry.producer_id == producer_id) return known;
  Staged staged;
  if (const ProducerEntry* entry = state_.find(producer_id)) {
    staged.entry = *entry;
    staged.was_known = entry->epoch != protocol::kNoProducerEpoch;
    staged.had_batches = entry->has_batches();
  }
  staged.entry.producer_id = producer_id;
  return staged_.emplace_back(staged);
}

protocol::Result<void> ProducerAppend::check_epoch(const ProducerEntry& entry, const protocol::BatchView& batch,
                                                   std::int16_t transaction_version) const {
  if (options_.origin == AppendOrigin::replication) return {};
  // With transactions version 2 the coordinator raises the epoch for each marker, so an equal one is a repetition: fine
  // where the transaction has ended already, and where the epoch could not be raised any further.
  const bool must_be_higher = transaction_version >= 2;
  if (batch.producer_epoch() > entry.epoch || (!must_be_higher && batch.producer_epoch() == entry.epoch)) return {};
  if (must_be_higher && batch.producer_epoch() == entry.epoch &&
      (entry.current_txn_first_offset < 0 || entry.epoch == std::numeric_limits<std::int16_t>::max()))
    return {};
  return protocol::fail(protocol::ErrorCode::invalid_producer_epoch,
                        fmt::format("{}: the last epoch seen is {}", describe(batch), entry.epoch));
}

protocol::Result<void> ProducerAppend::check_sequence(const Staged& staged, const protocol::BatchView& batch) const {
  const ProducerEntry& entry = staged.entry;
  const std::int32_t first = batch.base_sequence();
  const auto refuse = [&](std::string_view why) {
    return protocol::fail(protocol::ErrorCode::out_of_order_sequence_number,
                          fmt::format("{}: sequence {}: {}", describe(batch), first, why));
  };
  if (options_.verification) {
    // A producer whose epoch the coordinator raises begins at 0 wherever it is not known.
    if (options_.verification->supports_epoch_bump && first != 0 && !staged.had_batches)
      return refuse("the producer is new here, 0 is expected");
    if (first > options_.verification->lowest_sequence)
      return refuse(fmt::format("{} has been seen before it", options_.verification->lowest_sequence));
  }
  if (batch.producer_epoch() != entry.epoch) {
    // A producer that is not known may go on where it is: its records may have been deleted.
    if (first != 0 && entry.epoch != protocol::kNoProducerEpoch)
      return refuse(fmt::format("a new epoch begins at 0, the last one is {}", entry.epoch));
  } else if (staged.was_known && !follows(entry.last_sequence(), first)) {
    return refuse(fmt::format("the last one is {}", entry.last_sequence()));
  }
  return {};
}

protocol::Result<void> ProducerAppend::add_data(Staged& staged, const protocol::BatchView& batch) {
  ProducerEntry& entry = staged.entry;
  TRY(check_epoch(entry, batch, /*transaction_version=*/0));
  if (options_.origin == AppendOrigin::client) TRY(check_sequence(staged, batch));
  if (entry.current_txn_first_offset >= 0 && !batch.is_transactional() && options_.origin != AppendOrigin::replication)
    return protocol::fail(protocol::ErrorCode::invalid_txn_state,
                          fmt::format("{}: not transactional, but a transaction is open", describe(batch)));
  entry.set_epoch(batch.producer_epoch());
  entry.add_batch({.last_offset = batch.last_offset(),
                   .timestamp = batch.max_timestamp(),
                   .last_sequence = batch.last_sequence(),
                   .offset_delta = batch.last_offset_delta()});
  entry.last_timestamp = batch.max_timestamp();
  if (entry.current_txn_first_offset < 0 && batch.is_transactional()) {
    entry.current_txn_first_offset = batch.base_offset();
    started_.push_back({.producer_id = entry.producer_id, .first_offset = batch.base_offset(), .last_offset = -1});
  }
  return {};
}

protocol::Result<void> ProducerAppend::add_marker(Staged& staged, std::span<const std::uint8_t> batch) {
  const std::optional<EndTransactionMarker> marker = read_end_transaction_marker(batch);
  if (!marker) return {};
  const protocol::BatchView view(batch.data());
  ProducerEntry& entry = staged.entry;
  TRY(check_epoch(entry, view, options_.transaction_version));
  if (entry.coordinator_epoch > marker->coordinator_epoch && options_.origin != AppendOrigin::replication)
    return protocol::fail(protocol::ErrorCode::transaction_coordinator_fenced,
                          fmt::format("{}: coordinator epoch {}, the last one is {}", describe(view),
                                      marker->coordinator_epoch, entry.coordinator_epoch));
  if (entry.current_txn_first_offset >= 0) {
    const Transaction ended{.producer_id = entry.producer_id,
                            .first_offset = entry.current_txn_first_offset,
                            .last_offset = view.base_offset()};
    ended_.push_back(ended);
    if (!marker->commit)
      aborted_.push_back({.producer_id = ended.producer_id,
                          .first_offset = ended.first_offset,
                          .last_offset = ended.last_offset,
                          .last_stable_offset = last_stable_offset_after(ended)});
  }
  entry.set_epoch(view.producer_epoch());
  entry.coordinator_epoch = marker->coordinator_epoch;
  entry.current_txn_first_offset = -1;
  entry.last_timestamp = marker->timestamp;
  return {};
}

std::int64_t ProducerAppend::last_stable_offset_after(const Transaction& ended) const {
  const auto is_ended = [&](std::int64_t first_offset) {
    return std::ranges::any_of(ended_, [&](const auto& other) { return other.first_offset == first_offset; });
  };
  std::int64_t first = ended.last_offset + 1;
  if (state_.tables_ != nullptr) {
    for (const auto& [first_offset, producer_id] : state_.tables_->open) {
      if (producer_id == ended.producer_id || is_ended(first_offset)) continue;
      first = std::min(first, first_offset);
      break;
    }
  }
  for (const Transaction& started : started_)
    if (started.producer_id != ended.producer_id && !is_ended(started.first_offset))
      first = std::min(first, started.first_offset);
  return first;
}

void ProducerAppend::commit(ProducerState& state) {
  if (staged_.empty()) return;
  ProducerState::Tables& tables = state.tables();
  for (const Staged& staged : staged_) tables.producers[staged.entry.producer_id] = staged.entry;
  for (const Transaction& started : started_) tables.open[started.first_offset] = started.producer_id;
  for (const Transaction& ended : ended_) {
    tables.open.erase(ended.first_offset);
    tables.ended[ended.first_offset] = ended.last_offset;
  }
}

}  // namespace thalweg::storage
