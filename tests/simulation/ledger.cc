#include "simulation/ledger.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <span>

#include "base/log.h"
#include "protocol/record_batch.h"
#include "protocol/record_batch_builder.h"

namespace thalweg::simulation {

namespace {

std::span<const std::uint8_t> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

[[noreturn]] void violated(PartitionId where, const std::string& what) { throw Violation(where.str() + ": " + what); }

}  // namespace

base::Bytes SentBatch::encode() const {
  protocol::BatchOptions options;
  options.producer_id = producer_id;
  options.producer_epoch = producer_id >= 0 ? std::int16_t{0} : protocol::kNoProducerEpoch;
  options.base_sequence = base_sequence;
  protocol::RecordBatchBuilder builder(options);
  for (std::size_t i = 0; i < values.size(); ++i) {
    protocol::RecordInput record;
    record.timestamp = timestamp + static_cast<std::int64_t>(i);
    record.value = bytes_of(values[i]);
    builder.append(record);
  }
  return builder.build();
}

void Ledger::created(const base::Uuid& id, const std::string& name) {
  topics_[id] = Topic{.id = id, .name = name, .shape = tried_.at(name)};
}

void Ledger::deleted(const base::Uuid& id) {
  deleted_[id] = topics_.at(id).name;
  topics_.erase(id);
}

void Ledger::found_topics(const std::vector<Found>& found, bool nobody_connected) {
  std::map<base::Uuid, const Found*> by_id;
  for (const Found& topic : found) {
    by_id[topic.id] = &topic;
    if (deleted_.contains(topic.id)) throw Violation("the deleted topic " + topic.name + " is back");
    if (topics_.contains(topic.id)) continue;
    const auto tried = tried_.find(topic.name);
    if (tried == tried_.end()) throw Violation("there is a topic " + topic.name + " that nobody asked for");
    created(topic.id, topic.name);
  }
  for (auto it = topics_.begin(); it != topics_.end();) {
    Topic& topic = (it++)->second;
    const auto there = by_id.find(topic.id);
    if (there == by_id.end()) {
      if (!topic.deleting) throw Violation("the topic " + topic.name + " is gone");
      deleted(topic.id);
      continue;
    }
    if (nobody_connected) topic.deleting = false;
    if (there->second->partitions != topic.shape.partitions)
      throw Violation(fmt::format("topic {} has {} partitions, not {}", topic.name, there->second->partitions,
                                  topic.shape.partitions));
  }
}

void Ledger::committed(PartitionId where, std::int64_t offset) {
  Offset& known = offsets_[where];
  known.acknowledged = offset;
  known.attempted.erase(offset);
}

void Ledger::found_offsets(const std::map<PartitionId, std::int64_t>& found, bool nobody_connected) {
  for (const auto& [where, offset] : found)
    if (!topics_.contains(where.topic)) violated(where, "an offset is committed, though the topic is gone");
  std::erase_if(offsets_, [this](const auto& known) { return !topics_.contains(known.first.topic); });
  for (auto& [where, known] : offsets_) {
    const auto there = found.find(where);
    const std::int64_t offset = there == found.end() ? -1 : there->second;
    if (offset != known.acknowledged && !known.attempted.contains(offset))
      violated(where, fmt::format("offset {} is committed, {} was acknowledged", offset, known.acknowledged));
    if (!nobody_connected) continue;
    known.acknowledged = offset;
    known.attempted.clear();
  }
}

SentBatch& Ledger::make_batch(PartitionId where, std::vector<std::string> payloads, std::int64_t timestamp,
                              std::int64_t producer_id, std::int32_t base_sequence) {
  const std::uint64_t number = batches_.size() + 1;
  SentBatch batch{.number = number,
                  .where = where,
                  .values = {},
                  .timestamp = timestamp,
                  .producer_id = producer_id,
                  .base_sequence = base_sequence,
                  .offset = std::nullopt};
  for (std::size_t i = 0; i < payloads.size(); ++i)
    batch.values.push_back(fmt::format("{}:{}:{}", number, i, payloads[i]));
  return batches_.emplace(number, std::move(batch)).first->second;
}

void Ledger::promise_for_ever(SentBatch& batch, std::int64_t offset, const char* how) {
  if (batch.offset && *batch.offset != offset)
    violated(batch.where, fmt::format("batch {} {} at offset {}, but it was at {} before", batch.number, how, offset,
                                      *batch.offset));
  LOG_DEBUG("ledger", "batch {} {} at {} offset {}", batch.number, how, batch.where.str(), offset);
  Partition& partition = partitions_[batch.where];
  const auto at = partition.for_ever.emplace(offset, batch.number).first;
  if (at->second != batch.number)
    violated(batch.where,
             fmt::format("batch {} {} at offset {}, where batch {} was before", batch.number, how, offset, at->second));
  const auto overlaps = [&](auto first, auto second) {
    return first->first + batches_.at(first->second).records() > second->first;
  };
  if ((at != partition.for_ever.begin() && overlaps(std::prev(at), at)) ||
      (std::next(at) != partition.for_ever.end() && overlaps(at, std::next(at))))
    violated(batch.where, fmt::format("batch {} {} at offset {}, over another", batch.number, how, offset));
  batch.offset = offset;
}

void Ledger::acknowledged(SentBatch& batch, std::int64_t offset, Promise promise) {
  if (promise == Promise::for_ever) return promise_for_ever(batch, offset, "acknowledged");
  partitions_[batch.where].until_power_loss[offset] = batch.number;
}

SentBatch& Ledger::identify(PartitionId where, protocol::BatchView view) {
  if (!protocol::validate_crc(view))
    violated(where, fmt::format("the batch at offset {} has a wrong checksum", view.base_offset()));
  std::vector<std::string> values;
  const auto walked = protocol::for_each_record(view, decompressor_, [&](const protocol::Record& record) {
    const auto value = record.value.value_or(std::span<const std::uint8_t>());
    values.emplace_back(reinterpret_cast<const char*>(value.data()), value.size());
  });
  if (!walked || values.empty())
    violated(where, fmt::format("the batch at offset {} cannot be read", view.base_offset()));
  std::uint64_t number = 0;
  std::from_chars(values[0].data(), values[0].data() + values[0].size(), number);
  const auto found = batches_.find(number);
  if (found == batches_.end() || found->second.where != where)
    violated(where, fmt::format("the batch at offset {} was never sent there", view.base_offset()));
  SentBatch& batch = found->second;
  if (values != batch.values)
    violated(where, fmt::format("batch {} at offset {} is not as it was sent", number, view.base_offset()));
  if (view.producer_id() != batch.producer_id || view.base_sequence() != batch.base_sequence)
    violated(where, fmt::format("batch {} at offset {} has another producer", number, view.base_offset()));
  return batch;
}

void Ledger::read(PartitionId where, protocol::BatchView view) {
  promise_for_ever(identify(where, view), view.base_offset(), "was read");
}

void Ledger::told_high_watermark(PartitionId where, std::int64_t offset) {
  std::int64_t& known = partitions_[where].high_watermark;
  known = std::max(known, offset);
}

void Ledger::power_lost() {
  for (auto& [where, partition] : partitions_) partition.until_power_loss.clear();
}

std::int64_t Ledger::readable_end(PartitionId where) const {
  const auto found = partitions_.find(where);
  return found == partitions_.end() ? 0 : found->second.high_watermark;
}

std::uint64_t Ledger::promises() const {
  std::uint64_t count = 0;
  for (const auto& [where, partition] : partitions_) count += partition.for_ever.size();
  return count;
}

void Ledger::check_whole(PartitionId where, const std::vector<base::Bytes>& batches, std::int64_t high_watermark) {
  if (high_watermark < readable_end(where))
    violated(where, fmt::format("the high watermark fell from {} to {}", readable_end(where), high_watermark));
  told_high_watermark(where, high_watermark);
  std::int64_t next = 0;
  std::map<std::int64_t, std::int32_t> sequences;  // the next one, by producer
  std::map<std::int64_t, std::uint64_t> seen;
  for (const base::Bytes& bytes : batches) {
    const protocol::BatchView view(bytes.data());
    if (view.base_offset() != next)
      violated(where, fmt::format("offset {} follows {}: offsets are not dense", view.base_offset(), next));
    read(where, view);
    next = view.next_offset();
    const SentBatch& batch = identify(where, view);
    seen[view.base_offset()] = batch.number;
    if (batch.producer_id < 0) continue;
    std::int32_t& sequence = sequences[batch.producer_id];
    if (batch.base_sequence != sequence)
      violated(where, fmt::format("producer {} has sequence {} at offset {}, {} was due", batch.producer_id,
                                  batch.base_sequence, view.base_offset(), sequence));
    sequence += batch.records();
  }
  if (next != high_watermark)
    violated(where, fmt::format("the high watermark is {}, the records end at {}", high_watermark, next));
  const Partition& partition = partitions_[where];
  for (const auto* promised : {&partition.for_ever, &partition.until_power_loss}) {
    for (const auto& [offset, number] : *promised) {
      const auto there = seen.find(offset);
      if (there == seen.end() || there->second != number)
        violated(where, fmt::format("batch {}, {} at offset {}, is gone", number,
                                    promised == &partition.for_ever ? "promised for ever" : "acknowledged", offset));
    }
  }
}

}  // namespace thalweg::simulation
