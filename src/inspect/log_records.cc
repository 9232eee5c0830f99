#include "inspect/log_records.h"

namespace thalweg::inspect {

base::Result<LogRecords, std::string> LogRecords::open(const LogItem& item, protocol::Decompressor& decompressor) {
  LogRecords result;
  const protocol::DecompressOptions options{.max_bytes = kUnpackedMax};
  if (item.kind == LogItem::Kind::message) {
    const protocol::LegacyMessageView message(item.bytes.data());
    auto reader = protocol::LegacyReader::open(message, decompressor, options);
    if (!reader) return std::unexpected(std::move(reader).error().detail);
    result.messages_ = std::move(*reader);
    result.plain_bytes_ = message.is_wrapper() ? decompressor.produced() : item.bytes.size();
    return result;
  }
  const protocol::BatchView batch(item.bytes.data());
  // A batch that compaction has emptied keeps its header alone.
  if (batch.record_count() == 0 && batch.records().empty()) {
    result.records_.emplace(batch, batch.records());
    return result;
  }
  const auto section = protocol::records_section(batch, decompressor, options);
  if (!section) return std::unexpected(section.error().detail);
  result.plain_bytes_ = section->size();
  result.records_.emplace(batch, *section);
  return result;
}

base::Result<bool, std::string> LogRecords::next(protocol::Record& record) {
  if (messages_) return messages_->next(record);
  auto more = records_->next(record);
  if (!more) return std::unexpected(std::move(more).error().detail);
  return *more;
}

}  // namespace thalweg::inspect
