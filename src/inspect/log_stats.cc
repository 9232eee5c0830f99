#include "inspect/log_stats.h"

#include <algorithm>

#include "inspect/log_records.h"

namespace thalweg::inspect {

namespace {

void widen(std::optional<std::int64_t>& least, std::optional<std::int64_t>& most, std::int64_t value) {
  least = least ? std::min(*least, value) : value;
  most = most ? std::max(*most, value) : value;
}

void take_larger(LogStats::Largest& largest, std::uint64_t size_bytes, std::int64_t offset, const std::string& where) {
  if (size_bytes <= largest.size_bytes) return;
  largest.size_bytes = size_bytes;
  largest.offset = offset;
  largest.where = where;
}

}  // namespace

base::Result<void, std::string> LogStats::add(const LogItem& item, const std::string& where,
                                              protocol::Decompressor& decompressor) {
  const protocol::BatchView header(item.bytes.data());
  const bool old = item.kind == LogItem::Kind::message;
  const bool control = !old && header.is_control();
  ++batches;
  batch_bytes += item.size;
  old_messages += old ? 1 : 0;
  transactional_batches += !old && header.is_transactional() ? 1 : 0;
  control_batches += control ? 1 : 0;
  const protocol::LegacyMessageView message(item.bytes.data());
  const int number = old ? message.codec() : header.codec();
  if (static_cast<std::size_t>(number) >= kCodecs) return std::unexpected("a codec that does not exist");
  Codec& codec = codecs[static_cast<std::size_t>(number)];
  ++codec.batches;
  codec.stored_bytes += old ? item.size : item.size - protocol::kBatchHeaderSize;
  widen(first_offset, last_offset, header.base_offset());
  if (!old) widen(first_offset, last_offset, header.last_offset());
  take_larger(largest_batch, item.size, header.base_offset(), where);

  ASSIGN_OR_RETURN(LogRecords reader, LogRecords::open(item, decompressor));
  codec.plain_bytes += reader.plain_bytes();
  protocol::Record record;
  for (;;) {
    ASSIGN_OR_RETURN(const bool more, reader.next(record));
    if (!more) return {};
    if (record.timestamp != protocol::kNoTimestamp) widen(first_timestamp, last_timestamp, record.timestamp);
    ++codec.records;
    if (control) {
      ++control_records;
      continue;
    }
    ++records;
    widen(first_offset, last_offset, record.offset);
    keys += record.key ? 1 : 0;
    key_bytes += record.key ? record.key->size() : 0;
    null_values += record.value ? 0 : 1;
    value_bytes += record.value ? record.value->size() : 0;
    headers += static_cast<std::uint64_t>(record.headers.size());
    take_larger(largest_record, record.size_bytes, record.offset, where);
  }
}

void LogStats::add_damage(const LogItem& item) {
  ++damages;
  damaged_bytes += item.size;
}

void LogStats::merge(const LogStats& other) {
  files += other.files;
  file_bytes += other.file_bytes;
  batches += other.batches;
  batch_bytes += other.batch_bytes;
  old_messages += other.old_messages;
  transactional_batches += other.transactional_batches;
  control_batches += other.control_batches;
  control_records += other.control_records;
  records += other.records;
  keys += other.keys;
  null_values += other.null_values;
  key_bytes += other.key_bytes;
  value_bytes += other.value_bytes;
  headers += other.headers;
  for (std::size_t i = 0; i < kCodecs; ++i) {
    codecs[i].batches += other.codecs[i].batches;
    codecs[i].records += other.codecs[i].records;
    codecs[i].stored_bytes += other.codecs[i].stored_bytes;
    codecs[i].plain_bytes += other.codecs[i].plain_bytes;
  }
  first_offset.reset();
  last_offset.reset();
  if (other.first_timestamp) widen(first_timestamp, last_timestamp, *other.first_timestamp);
  if (other.last_timestamp) widen(first_timestamp, last_timestamp, *other.last_timestamp);
  take_larger(largest_batch, other.largest_batch.size_bytes, other.largest_batch.offset, other.largest_batch.where);
  take_larger(largest_record, other.largest_record.size_bytes, other.largest_record.offset, other.largest_record.where);
  damages += other.damages;
  damaged_bytes += other.damaged_bytes;
}

}  // namespace thalweg::inspect
