#include "broker/produce.h"

#include <memory>
#include <utility>

#include "base/log.h"
#include "broker/broker.h"
#include "broker/recompress.h"
#include "broker/shard.h"
#include "protocol/record_batch.h"

namespace thalweg::broker {

namespace {

using protocol::BatchView;
using protocol::ErrorCode;

// One call of produce(): its outcomes and how many are still to come.
struct Operation {
  Shard& shard;
  ProduceOptions options;
  ProduceDone done;
  std::vector<ProduceItem> items;
  std::vector<ProduceOutcome> outcomes;
  std::size_t remaining = 0;

  void finish(std::size_t index, ErrorCode error) {
    if (error != ErrorCode::none) outcomes[index].error = error;
    items[index].records = {};
    if (--remaining == 0) done(std::move(outcomes));
  }
};

// The error for a batch that was found wanting; where single records are at fault the client is told which.
protocol::Error refuse(ProduceOutcome& outcome, protocol::RecordFault fault) {
  protocol::Error error{.code = fault.code, .detail = std::move(fault.detail)};
  if (!fault.record_errors.empty()) {
    outcome.record_errors = std::move(fault.record_errors);
    outcome.message = error.detail;
  }
  return error;
}

// Errors after which a client learns where the log begins, so that it can tell lost records from expired ones.
bool tells_log_start(ErrorCode error) {
  return error != ErrorCode::corrupt_message && error != ErrorCode::message_too_large &&
         error != ErrorCode::record_list_too_large && error != ErrorCode::kafka_storage_error;
}

protocol::ProduceRules rules_of(const Partition& partition, std::int64_t now_ms) {
  const TopicSettings& settings = partition.settings();
  protocol::ProduceRules rules;
  rules.now_ms = now_ms;
  rules.timestamp_type = settings.timestamp_type;
  rules.timestamp_before_max_ms = settings.timestamp_before_max_ms;
  rules.timestamp_after_max_ms = settings.timestamp_after_max_ms;
  rules.compacted = settings.compacted;
  rules.max_batch_bytes = settings.max_message_bytes;
  rules.max_record_bytes = settings.max_decompressed_message_bytes;
  return rules;
}

// Retention goes by the timestamps, so one that is not a time of the past is worth knowing of.
void count_odd_timestamp(CoreMetrics& metrics, std::int64_t max_timestamp, std::int64_t now_ms) {
  // Clocks differ a little.
  constexpr std::int64_t kToleranceMs = 60'000;
  if (max_timestamp == protocol::kNoTimestamp) metrics.timestamps_missing.add();
  if (max_timestamp > now_ms && max_timestamp - now_ms > kToleranceMs) metrics.timestamps_future.add();
}

// As if the write had failed: the producer may try again when there is room.
storage::AppendResult no_room(Partition& partition) {
  storage::AppendResult result;
  result.error = ErrorCode::kafka_storage_error;
  result.detail = "what is left of the disk is reserved (thalweg.log.dirs.reserved.bytes)";
  result.log_start_offset = partition.log().log_start_offset();
  result.write_failed = true;
  result.out_of_space = true;
  return result;
}

// Appends one item to its open partition. Returns the offset that has to be durable for it, or the error.
protocol::Result<std::int64_t> append(Shard& shard, Partition& partition, ProduceItem& item,
                                      const ProduceOptions& options, ProduceOutcome& outcome) {
  using protocol::fail;
  auto batch = protocol::parse_produced(item.records.span(), options.api_version);
  if (!batch) return std::unexpected(std::move(batch).error());
  if (batch->is_transactional()) {
    // A transaction that nobody coordinates would never end, and readers of committed records would wait for it
    // forever.
    outcome.message = "the transaction cannot be verified: COORDINATOR_NOT_AVAILABLE";
    return fail(ErrorCode::not_enough_replicas, *outcome.message);
  }
  const std::int64_t now_ms = shard.now_ms();
  const protocol::ProduceRules rules = rules_of(partition, now_ms);
  auto summary = protocol::validate_produced_batch(*batch, rules, shard.decompressor());
  if (!summary) {
    protocol::Error error = refuse(outcome, std::move(summary).error());
    if (error.code == ErrorCode::invalid_timestamp) shard.metrics().timestamps_refused.add();
    if (tells_log_start(error.code)) outcome.log_start_offset = partition.log().log_start_offset();
    return std::unexpected(std::move(error));
  }
  const auto& target = partition.settings().compression;
  if (target && target->codec != batch->compression()) {
    ASSIGN_OR_RETURN(item.records, recompress(*batch, *target, shard.decompressor(), shard.compressor()));
    batch = BatchView(item.records.data());
    if (static_cast<std::int64_t>(batch->size_bytes()) > rules.max_batch_bytes)
      return fail(ErrorCode::message_too_large, "too large in the compression of the topic");
  }
  std::uint8_t* bytes = item.records.patchable();
  protocol::set_produced_timestamps(bytes, rules, *summary);

  if (partition.failed_firsts.overtakes(*batch) && partition.log().producers().find(batch->producer_id()) == nullptr)
    return fail(ErrorCode::out_of_order_sequence_number,
                "the producer is new here, and a batch before this one failed");
  const storage::MutableBatch batches[] = {{bytes, batch->size_bytes()}};
  storage::AppendOptions append_options;
  append_options.leader_epoch = partition.leader_epoch();
  append_options.now_ms = now_ms;
  storage::AppendResult result;
  if (shard.broker().log_directories()[partition.directory()]->room.take(batch->size_bytes())) {
    result = partition.log().append(batches, append_options);
  } else {
    shard.metrics().produces_without_room.add();
    result = no_room(partition);
  }
  if (!result.ok()) {
    if (result.write_failed && !result.out_of_space) shard.directory_failed(partition.directory(), result.detail);
    if (result.write_failed && partition.log().producers().find(batch->producer_id()) == nullptr)
      partition.failed_firsts.note(*batch);
    if (tells_log_start(result.error)) outcome.log_start_offset = partition.log().log_start_offset();
    return fail(result.error, std::move(result.detail));
  }
  partition.failed_firsts.forget(batch->producer_id());
  outcome.base_offset = result.first_offset;
  outcome.log_start_offset = result.log_start_offset;
  // What a duplicate was stored with is told whatever the topic's timestamp type, as Kafka does.
  if (result.duplicate) {
    outcome.log_append_time_ms = result.duplicate_timestamp;
  } else if (rules.timestamp_type == protocol::TimestampType::log_append_time) {
    outcome.log_append_time_ms = now_ms;
  }
  if (!result.duplicate) {
    shard.touch(partition.shared_from_this());
    count_odd_timestamp(shard.metrics(), summary->max_timestamp, now_ms);
    shard.metrics().batches_appended.add();
    shard.metrics().records_bytes_in.add(static_cast<std::int64_t>(batch->size_bytes()));
  }
  return result.durable_end_offset;
}

// The log cannot be opened, for now or for ever.
void not_open(Operation& operation, std::size_t index, Partition& partition, ErrorCode error) {
  const auto batch = protocol::parse_batch(operation.items[index].records.span());
  if (batch) partition.failed_firsts.note(*batch);
  operation.finish(index, error);
}

void append_open(const std::shared_ptr<Operation>& operation, std::size_t index,
                 const std::shared_ptr<Partition>& partition) {
  Shard& shard = operation->shard;
  ProduceOutcome& outcome = operation->outcomes[index];
  outcome.leader_epoch = partition->leader_epoch();
  const auto durable_end = append(shard, *partition, operation->items[index], operation->options, outcome);
  if (!durable_end) {
    LOG_DEBUG("produce", "{}-{}: {} {}", partition->topic(), partition->key().partition,
              protocol::error_name(durable_end.error().code), durable_end.error().detail);
    return operation->finish(index, durable_end.error().code);
  }
  if (shard.broker().settings().flush_acks) {
    shard.request_flush(partition);
  } else {
    partition->raise_high_watermark(partition->log().log_end_offset());
  }
  if (operation->options.acks != -1) return operation->finish(index, ErrorCode::none);
  partition->when_durable(*durable_end, [operation, index](ErrorCode error) { operation->finish(index, error); });
}

}  // namespace

void produce(Shard& shard, std::vector<ProduceItem> items, ProduceOptions options, ProduceDone done) {
  auto operation = std::make_shared<Operation>(Operation{shard, options, std::move(done), std::move(items), {}, 0});
  const std::size_t count = operation->items.size();
  operation->remaining = count;
  operation->outcomes.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    operation->outcomes[i].slot = operation->items[i].slot;
    std::shared_ptr<Partition> partition = shard.find_partition(operation->items[i].key);
    if (!partition) {
      operation->finish(i, ErrorCode::unknown_topic_or_partition);
    } else if (partition->is_open()) {
      append_open(operation, i, partition);
    } else if (partition->state() == Partition::State::opening) {
      Partition& opening = *partition;
      opening.when_open([operation, i, partition = std::move(partition)](ErrorCode error) {
        if (error != ErrorCode::none) return not_open(*operation, i, *partition, error);
        append_open(operation, i, partition);
      });
    } else {
      not_open(*operation, i, *partition, partition->closed_error());
    }
  }
}

}  // namespace thalweg::broker
