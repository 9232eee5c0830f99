#include "broker/recompress.h"

#include "protocol/record_batch.h"
#include "protocol/record_batch_builder.h"

namespace thalweg::broker {

protocol::Result<base::Bytes> recompress(protocol::BatchView batch, const CompressionTarget& target,
                                         protocol::Decompressor& decompressor, protocol::Compressor& compressor) {
  protocol::RecordBatchBuilder builder({.compression = target.codec,
                                        .level = target.level,
                                        .timestamp_type = batch.timestamp_type(),
                                        .append_time_ms = batch.max_timestamp(),
                                        .base_offset = batch.base_offset(),
                                        .leader_epoch = batch.leader_epoch(),
                                        .producer_id = batch.producer_id(),
                                        .producer_epoch = batch.producer_epoch(),
                                        .base_sequence = batch.base_sequence(),
                                        .transactional = batch.is_transactional()});
  TRY(protocol::for_each_record(batch, decompressor, [&](const protocol::Record& record) { builder.append(record); }));
  return builder.build(compressor);
}

}  // namespace thalweg::broker
