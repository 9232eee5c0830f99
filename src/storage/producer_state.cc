#include "storage/producer_state.h"

#include <algorithm>

namespace thalweg::storage {

void ProducerEntry::set_epoch(std::int16_t new_epoch) {
  if (epoch == new_epoch) return;
  epoch = new_epoch;
  batch_count = 0;
}

void ProducerEntry::add_batch(const BatchMetadata& batch) {
  if (batch_count == kBatches) {
    std::shift_left(batches.begin(), batches.end(), 1);
    --batch_count;
  }
  batches[batch_count++] = batch;
}

bool operator==(const ProducerEntry& a, const ProducerEntry& b) {
  return a.producer_id == b.producer_id && a.last_timestamp == b.last_timestamp &&
         a.current_txn_first_offset == b.current_txn_first_offset && a.coordinator_epoch == b.coordinator_epoch &&
         a.epoch == b.epoch &&
         std::equal(a.batches.begin(), a.batches.begin() + a.batch_count, b.batches.begin(),
                    b.batches.begin() + b.batch_count);
}

ProducerState::Tables& ProducerState::tables() {
  if (tables_ == nullptr) tables_ = std::make_unique<Tables>();
  return *tables_;
}

const ProducerEntry* ProducerState::find(std::int64_t producer_id) const {
  if (tables_ == nullptr) return nullptr;
  const auto found = tables_->producers.find(producer_id);
  return found == tables_->producers.end() ? nullptr : &found->second;
}

std::vector<ProducerEntry> ProducerState::entries() const {
  std::vector<ProducerEntry> entries;
  entries.reserve(size());
  if (tables_ != nullptr)
    for (const auto& [id, entry] : tables_->producers) entries.push_back(entry);
  return entries;
}

std::optional<BatchMetadata> ProducerState::find_duplicate(const protocol::BatchView& batch) const {
  const ProducerEntry* entry = find(batch.producer_id());
  if (entry == nullptr || entry->epoch != batch.producer_epoch()) return std::nullopt;
  for (std::size_t i = 0; i < entry->batch_count; ++i) {
    const BatchMetadata& known = entry->batches[i];
    if (known.first_sequence() == batch.base_sequence() && known.last_sequence == batch.last_sequence()) return known;
  }
  return std::nullopt;
}

bool ProducerState::has_open_transaction(std::int64_t producer_id, std::int16_t epoch) const {
  const ProducerEntry* entry = find(producer_id);
  return entry != nullptr && entry->current_txn_first_offset >= 0 && entry->epoch == epoch;
}

std::optional<std::int64_t> ProducerState::first_undecided_offset() const {
  if (tables_ == nullptr || tables_->open.empty()) return std::nullopt;
  return tables_->open.begin()->first;
}

std::optional<std::int64_t> ProducerState::first_unstable_offset() const {
  const std::optional<std::int64_t> undecided = first_undecided_offset();
  if (tables_ == nullptr || tables_->ended.empty()) return undecided;
  const std::int64_t ended = tables_->ended.begin()->first;
  return undecided ? std::min(*undecided, ended) : ended;
}

void ProducerState::restore_window(std::int64_t producer_id, const ProducerEntry& seen) {
  if (tables_ == nullptr || !seen.has_batches()) return;
  const auto found = tables_->producers.find(producer_id);
  if (found == tables_->producers.end()) return;
  ProducerEntry& entry = found->second;
  if (seen.batch_count <= entry.batch_count) return;
  if (entry.epoch != seen.epoch || entry.last_offset() != seen.last_offset() ||
      entry.last_sequence() != seen.last_sequence())
    return;
  entry.batches = seen.batches;
  entry.batch_count = seen.batch_count;
}

void ProducerState::on_high_watermark(std::int64_t high_watermark) {
  if (tables_ == nullptr || tables_->ended.empty()) return;
  std::erase_if(tables_->ended, [&](const auto& entry) { return entry.second < high_watermark; });
}

std::int64_t ProducerState::oldest_open_transaction_timestamp() const {
  if (tables_ == nullptr || tables_->open.empty()) return -1;
  const ProducerEntry* entry = find(tables_->open.begin()->second);
  return entry == nullptr ? -1 : entry->last_timestamp;
}

void ProducerState::expire(std::int64_t now_ms, std::int64_t expiration_ms) {
  if (tables_ == nullptr) return;
  std::erase_if(tables_->producers, [&](const auto& known) {
    return known.second.current_txn_first_offset < 0 && now_ms - known.second.last_timestamp >= expiration_ms;
  });
  if (tables_->producers.empty() && tables_->open.empty() && tables_->ended.empty()) tables_ = nullptr;
}

void ProducerState::load(const ProducerEntry& entry) {
  tables().producers[entry.producer_id] = entry;
  if (entry.current_txn_first_offset >= 0) tables().open[entry.current_txn_first_offset] = entry.producer_id;
}

bool operator==(const ProducerState& a, const ProducerState& b) {
  if (a.size() != b.size()) return false;
  if (a.tables_ == nullptr || b.tables_ == nullptr) return a.size() == 0 && b.size() == 0;
  return a.tables_->producers == b.tables_->producers && a.tables_->open == b.tables_->open;
}

}  // namespace thalweg::storage
