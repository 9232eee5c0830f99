#include "inspect/records_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "inspect/control_records.h"
#include "inspect/embedded.h"
#include "inspect/json_text.h"
#include "inspect/message_json.h"
#include "protocol/legacy_message_set.h"
#include "protocol/record_batch.h"

namespace thalweg::inspect {

using protocol::BatchView;
using protocol::Decompressor;
using protocol::LegacyMessageView;
using protocol::Record;
using protocol::TimestampType;

namespace {

std::string_view name_of(TimestampType type) {
  return type == TimestampType::create_time ? "CreateTime" : "LogAppendTime";
}

// Appends the parts of one batch.
class BatchJson {
 public:
  BatchJson(const Catalog& catalog, Decompressor& decompressor, const RecordsJsonOptions& options)
      : catalog_(catalog), decompressor_(decompressor), options_(options) {}

  std::string describe(std::span<const std::uint8_t> bytes, std::uint64_t position) {
    number("position", position);
    if (bytes.size() > protocol::kMagicPosition && bytes[protocol::kMagicPosition] < 2) {
      message(bytes);
    } else {
      batch(bytes);
    }
    return std::move(json_) + "}";
  }

 private:
  void key(std::string_view name) {
    json_ += json_.empty() || json_.back() == '{' ? "" : ",";
    json_.append("\"").append(name).append("\":");
  }
  template <class T>
  void number(std::string_view name, T value) {
    key(name);
    fmt::format_to(std::back_inserter(json_), "{}", value);
  }
  void truth(std::string_view name, bool value) {
    key(name);
    json_ += value ? "true" : "false";
  }
  void text(std::string_view name, std::string_view value) {
    key(name);
    append_json_string(json_, value);
  }
  void hex_or_null(std::string_view name, const std::optional<std::span<const std::uint8_t>>& bytes) {
    key(name);
    if (bytes) {
      append_json_hex(json_, *bytes);
    } else {
      json_ += "null";
    }
  }
  void error(std::string_view what) { text("error", what); }

  void batch(std::span<const std::uint8_t> bytes);
  void message(std::span<const std::uint8_t> bytes);
  void record(const Record& record);
  void opened(const Record& record);
  // Empty, or what is wrong with it.
  std::string control(const Record& record);

  const Catalog& catalog_;
  Decompressor& decompressor_;
  const RecordsJsonOptions& options_;
  std::string json_ = "{";
};

void BatchJson::batch(std::span<const std::uint8_t> bytes) {
  const auto parsed = protocol::parse_batch(bytes);
  if (!parsed) return error(parsed.error().detail);
  const BatchView batch = *parsed;
  number("sizeInBytes", batch.size_bytes());
  number("magic", batch.magic());
  number("crc", batch.crc());
  truth("crcValid", validate_crc(batch).has_value());
  if (batch.codec() > 4) return error(fmt::format("unknown codec {}", batch.codec()));
  text("compression", compression_name(batch.compression()));
  text("timestampType", name_of(batch.timestamp_type()));
  number("baseOffset", batch.base_offset());
  number("lastOffset", batch.last_offset());
  number("maxTimestamp", batch.max_timestamp());
  number("attributes", batch.attributes());
  number("partitionLeaderEpoch", batch.leader_epoch());
  number("baseTimestamp", batch.base_timestamp());
  number("producerId", batch.producer_id());
  number("producerEpoch", batch.producer_epoch());
  number("baseSequence", batch.base_sequence());
  number("lastSequence", batch.last_sequence());
  number("count", batch.record_count());
  truth("transactional", batch.is_transactional());
  truth("control", batch.is_control());
  if (batch.has_delete_horizon()) {
    number("deleteHorizonMs", batch.base_timestamp());
  } else {
    hex_or_null("deleteHorizonMs", std::nullopt);
  }
  std::span<const std::uint8_t> section = batch.records();
  if (batch.codec() != 0) {
    const auto payload =
        decompressor_.decompress(batch.compression(), section, {.max_bytes = options_.max_unpacked_bytes});
    if (!payload) return error(payload.error().detail);
    section = *payload;
    hex_or_null("payload", section);
  }
  key("records");
  json_ += '[';
  protocol::RecordReader reader(batch, batch.record_count() == 0 ? std::span<const std::uint8_t>{} : section);
  Record next;
  std::string fault;
  for (bool first = true; fault.empty(); first = false) {
    const auto more = reader.next(next);
    if (!more) fault = more.error().detail;
    if (!more || !*more) break;
    if (!first) json_ += ',';
    json_ += '{';
    record(next);
    json_ += ",\"headers\":[";
    for (const protocol::RecordHeader& header : next.headers) {
      json_ += json_.back() == '[' ? "{" : ",{";
      text("key", header.key);
      hex_or_null("value", header.value);
      json_ += '}';
    }
    json_ += ']';
    if (batch.is_control()) {
      fault = control(next);
    } else {
      opened(next);
    }
    json_ += '}';
  }
  json_ += ']';
  if (!fault.empty()) error(fault);
}

void BatchJson::message(std::span<const std::uint8_t> bytes) {
  const auto parsed = protocol::parse_legacy_message(bytes);
  if (!parsed) return error(parsed.error().detail);
  const LegacyMessageView message = *parsed;
  number("sizeInBytes", message.size_bytes());
  number("magic", message.magic());
  number("crc", message.crc());
  truth("crcValid", validate_legacy_crc(message).has_value());
  if (message.codec() > 4) return error(fmt::format("unknown codec {}", message.codec()));
  text("compression", compression_name(message.compression()));
  const auto type = message.timestamp_type();
  text("timestampType", type ? name_of(*type) : "NoTimestampType");
  auto reader = protocol::LegacyReader::open(message, decompressor_, {.max_bytes = options_.max_unpacked_bytes});
  if (!reader) return error(reader.error().detail);
  number("baseOffset", reader->first_offset());
  number("lastOffset", message.offset());
  number("maxTimestamp", message.timestamp());
  key("records");
  json_ += '[';
  Record next;
  while (reader->next(next)) {
    json_ += json_.back() == '[' ? "{" : ",{";
    record(next);
    opened(next);
    json_ += '}';
  }
  json_ += ']';
}

void BatchJson::record(const Record& record) {
  number("offset", record.offset);
  number("timestamp", record.timestamp);
  number("sequence", record.sequence);
  hex_or_null("key", record.key);
  hex_or_null("value", record.value);
}

void BatchJson::opened(const Record& record) {
  if (!options_.opened) return;
  const std::string members =
      record_messages_json(catalog_, {.topic = options_.topic, .key = record.key, .value = record.value});
  if (!members.empty()) json_.append(",\"opened\":{").append(members).append("}");
}

std::string BatchJson::control(const Record& record) {
  const auto type = protocol::control_type(record);
  if (!type) return type.error().detail;
  const ControlKind* kind = find_control(*type);
  text("controlType", kind == nullptr ? "UNKNOWN" : kind->name);
  number("controlTypeId", *type);
  if (kind == nullptr) return {};
  if (!record.value || record.value->size() < sizeof(std::int16_t)) return "a control record without a value";
  const ControlMessage message = control_message(catalog_, *kind, *record.value);
  const MessageJson value = message_json(*message.envelope.message, message.envelope.version,
                                         base::Bytes::unowned(*record.value).slice(message.body));
  if (!value.whole) return fmt::format("what is no {}", message.envelope.message->name);
  text("controlMessage", message.envelope.message->name);
  number("controlVersion", message.envelope.version);
  key("controlValue");
  json_ += value.json;
  return {};
}

}  // namespace

std::string batch_json(const Catalog& catalog, std::span<const std::uint8_t> bytes, std::uint64_t position,
                       Decompressor& decompressor, const RecordsJsonOptions& options) {
  return BatchJson(catalog, decompressor, options).describe(bytes, position);
}

std::string records_json(const Catalog& catalog, std::span<const std::uint8_t> bytes, Decompressor& decompressor,
                         const RecordsJsonOptions& options) {
  std::string json = "{\"batches\":[";
  std::size_t at = 0;
  std::string end;
  for (;;) {
    const auto frame = protocol::peek_batch(bytes.subspan(at));
    if (!frame) {
      end = ",\"error\":";
      append_json_string(end, frame.error().detail);
      break;
    }
    if (!frame->has_value()) {
      if (at != bytes.size()) end = fmt::format(",\"trailing\":{}", bytes.size() - at);
      break;
    }
    if (at > 0) json += ',';
    json += batch_json(catalog, bytes.subspan(at, (*frame)->size_bytes), at, decompressor, options);
    at += (*frame)->size_bytes;
  }
  return json + "]" + end + "}";
}

}  // namespace thalweg::inspect
