#include "inspect/log_print.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "base/endian.h"
#include "inspect/json_text.h"
#include "inspect/log_open.h"
#include "inspect/value_text.h"
#include "protocol/legacy_message_set.h"

namespace thalweg::inspect {

using protocol::BatchView;
using protocol::LegacyMessageView;
using protocol::TimestampType;

namespace {

// Keys, values and headers longer than this are cut in text.
constexpr std::size_t kTextLimit = 256;

std::string time_or_dash(std::int64_t ms) {
  std::string text = time_text(ms);
  if (text.empty()) text = ms == protocol::kNoTimestamp ? "-" : fmt::format("{}", ms);
  return text;
}

std::string codec_text(int codec) {
  return codec < static_cast<int>(LogStats::kCodecs)
             ? std::string(compression_name(static_cast<protocol::CompressionType>(codec)))
             : fmt::format("codec {}", codec);
}

std::string range(std::int64_t first, std::int64_t last) {
  return first == last ? fmt::format("{}", first) : fmt::format("{}-{}", first, last);
}

std::string flags_of(BatchView batch) {
  std::string text;
  const auto add = [&text](bool set, std::string_view word) {
    if (set) text.append(text.empty() ? "" : ",").append(word);
  };
  add(batch.is_control(), "control");
  add(batch.is_transactional(), "transactional");
  add(batch.timestamp_type() == TimestampType::log_append_time, "append-time");
  add(batch.has_delete_horizon(), "delete-horizon");
  return text;
}

constexpr std::string_view kColumns = "  {:>21} {:>11} {:>9} {:>7} {:<6} {:<24} {:<24} {:>5} {:>14} {:>13} {:<3} {}";

std::string columns(std::string_view offsets, std::string_view position, std::string_view bytes,
                    std::string_view records, std::string_view codec, std::string_view first_time,
                    std::string_view last_time, std::string_view epoch, std::string_view producer,
                    std::string_view sequence, std::string_view crc, std::string_view flags) {
  std::string line = fmt::format(fmt::runtime(kColumns), offsets, position, bytes, records, codec, first_time,
                                 last_time, epoch, producer, sequence, crc, flags);
  line.resize(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

// One object of JSON, built key by key.
class Object {
 public:
  Object() = default;
  explicit Object(std::string_view type) { text("type", type); }
  void text(std::string_view key, std::string_view value) {
    begin(key);
    append_json_string(json_, value);
  }
  template <class T>
  void number(std::string_view key, T value) {
    begin(key);
    fmt::format_to(std::back_inserter(json_), "{}", value);
  }
  template <class T>
  void number_or_null(std::string_view key, const std::optional<T>& value) {
    if (value) {
      number(key, *value);
    } else {
      raw(key, "null");
    }
  }
  void truth(std::string_view key, bool value) { raw(key, value ? "true" : "false"); }
  void raw(std::string_view key, std::string_view json) {
    begin(key);
    json_ += json;
  }
  // Text where it can be read as such; the key of other bytes ends in Hex.
  void content(std::string_view key, const std::optional<std::span<const std::uint8_t>>& bytes) {
    append_content(key, bytes);
  }
  std::string line() && { return std::move(json_) + "}\n"; }
  std::string object() && { return std::move(json_) + "}"; }

 private:
  void begin(std::string_view key) { json_.append(json_.size() == 1 ? "\"" : ",\"").append(key).append("\":"); }
  void append_content(std::string_view key, const std::optional<std::span<const std::uint8_t>>& bytes) {
    if (!bytes) return raw(key, "null");
    const std::string_view as_text(reinterpret_cast<const char*>(bytes->data()), bytes->size());
    if (is_utf8(as_text) && std::ranges::none_of(as_text, [](char c) {
          return static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t' && c != '\r';
        }))
      return text(key, as_text);
    begin(std::string(key) + "Hex");
    append_json_hex(json_, *bytes);
  }

  std::string json_ = "{";
};

void add_place(Object& object, const LogFile& file, const LogItem& item) {
  object.text("file", file.label);
  object.number("position", item.position);
}

void add_opened(Object& object, std::string_view prefix, const std::optional<OpenedMessage>& message) {
  if (!message) return;
  const auto json = opened_json(*message);
  if (!json) return;
  const std::string key(prefix);
  object.text(key + "Message", message->envelope.message->name);
  object.number(key + "Version", message->envelope.version);
  object.raw(key + "Json", *json);
}

std::string percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? "-" : fmt::format("{:.1f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

std::string largest_text(const LogStats::Largest& largest) {
  if (largest.offset < 0) return "-";
  return fmt::format("{} at offset {} in {}", counted(largest.size_bytes, "byte"), largest.offset, largest.where);
}

void add_largest(Object& object, std::string_view key, const LogStats::Largest& largest) {
  if (largest.offset < 0) return object.raw(key, "null");
  Object inner;
  inner.number("bytes", largest.size_bytes);
  inner.number("offset", largest.offset);
  inner.text("file", largest.where);
  object.raw(key, std::move(inner).object());
}

}  // namespace

std::string file_head(const LogFile& file) {
  return fmt::format("{}  {}\n", file.label, counted(file.size_bytes, "byte")) +
         columns("offsets", "position", "bytes", "records", "codec", "first time", "last time", "epoch", "producer",
                 "sequence", "crc", "flags");
}

std::string batch_line(const LogItem& item) {
  std::string line;
  if (item.kind == LogItem::Kind::message) {
    const LegacyMessageView message(item.bytes.data());
    const std::string time = time_or_dash(message.timestamp());
    line = columns(fmt::format("{}", message.offset()), fmt::format("{}", item.position), fmt::format("{}", item.size),
                   "-", codec_text(message.codec()), time, time, "-", "-", "-", item.sound ? "ok" : "BAD",
                   fmt::format("magic-{}", message.magic()));
  } else {
    const BatchView batch(item.bytes.data());
    const std::string producer =
        batch.has_producer_id() ? fmt::format("{}:{}", batch.producer_id(), batch.producer_epoch()) : "-";
    line = columns(range(batch.base_offset(), batch.last_offset()), fmt::format("{}", item.position),
                   fmt::format("{}", item.size), fmt::format("{}", batch.record_count()), codec_text(batch.codec()),
                   time_or_dash(batch.base_timestamp()), time_or_dash(batch.max_timestamp()),
                   fmt::format("{}", batch.leader_epoch()), producer,
                   batch.base_sequence() < 0 ? "-" : range(batch.base_sequence(), batch.last_sequence()),
                   item.sound ? "ok" : "BAD", flags_of(batch));
  }
  if (!item.fault.empty()) line += fmt::format("  damaged: {}\n", item.fault);
  return line;
}

std::string damage_line(const LogItem& item) {
  return fmt::format("  damaged: {} at position {}: {}\n", counted(item.size, "byte"), item.position, item.fault);
}

std::string record_line(const Catalog& catalog, const protocol::Record& record, const RecordLineOptions& options) {
  const auto content = [](const std::optional<std::span<const std::uint8_t>>& bytes) {
    return bytes ? content_text(*bytes, kTextLimit) : "null";
  };
  const OpenedRecord opened = open_record(catalog, options.topic, options.control, record);
  const auto text_of = [&](const std::optional<OpenedMessage>& message) -> std::optional<std::string> {
    return message ? opened_text(catalog, *message, options.show_secrets) : std::nullopt;
  };
  // What was opened takes the place of the bytes.
  const std::optional<std::string> key = text_of(opened.key);
  const std::optional<std::string> value = text_of(opened.value);
  std::string line = fmt::format("    offset {}  {}", record.offset, time_or_dash(record.timestamp));
  if (!opened.control.empty()) {
    line.append("  ").append(opened.control);
  } else {
    line += fmt::format("  key {}", key ? *key : content(record.key));
  }
  line += fmt::format("  value {}", value ? *value : content(record.value));
  for (const protocol::RecordHeader& header : record.headers)
    line += fmt::format("  header {}={}", quoted(header.key, kTextLimit), content(header.value));
  return line + "\n";
}

std::string stats_text(std::string_view name, const LogStats& stats) {
  std::string text = fmt::format("{}\n", name);
  const auto row = [&text](std::string_view label, std::string_view value) {
    text += fmt::format("  {:<16} {}\n", label, value);
  };
  row("files", fmt::format("{}, {}", stats.files, counted(stats.file_bytes, "byte")));
  std::string batches = fmt::format("{}, {}", stats.batches, counted(stats.batch_bytes, "byte"));
  if (stats.transactional_batches > 0) batches += fmt::format(", {} transactional", stats.transactional_batches);
  if (stats.control_batches > 0) batches += fmt::format(", {} of control records", stats.control_batches);
  if (stats.old_messages > 0) batches += fmt::format(", {} in old formats", counted(stats.old_messages, "message"));
  row("batches", batches);
  std::string records = fmt::format("{}", stats.records);
  if (stats.control_records > 0) records += fmt::format(", and {} of control", stats.control_records);
  row("records", records);
  row("keys",
      fmt::format("{} with, {} without, {}", stats.keys, stats.records - stats.keys, counted(stats.key_bytes, "byte")));
  row("values", fmt::format("{} with, {} without, {}", stats.records - stats.null_values, stats.null_values,
                            counted(stats.value_bytes, "byte")));
  row("headers", fmt::format("{}", stats.headers));
  if (stats.first_offset) row("offsets", range(*stats.first_offset, *stats.last_offset));
  if (stats.first_timestamp)
    row("times", fmt::format("{} to {}", time_or_dash(*stats.first_timestamp), time_or_dash(*stats.last_timestamp)));
  row("largest batch", largest_text(stats.largest_batch));
  row("largest record", largest_text(stats.largest_record));
  for (std::size_t i = 0; i < LogStats::kCodecs; ++i) {
    const LogStats::Codec& codec = stats.codecs[i];
    if (codec.batches == 0) continue;
    row(codec_text(static_cast<int>(i)),
        fmt::format("{}, {}, {} of {}: {}", codec.batches == 1 ? "1 batch" : fmt::format("{} batches", codec.batches),
                    counted(codec.records, "record"), codec.stored_bytes, counted(codec.plain_bytes, "byte"),
                    percent(codec.stored_bytes, codec.plain_bytes)));
  }
  row("damaged", stats.damages == 0
                     ? "nothing"
                     : fmt::format("{}, {}", counted(stats.damages, "place"), counted(stats.damaged_bytes, "byte")));
  return text;
}

std::string batch_object(const LogFile& file, const LogItem& item) {
  Object object("batch");
  add_place(object, file, item);
  object.number("size", item.size);
  if (item.kind == LogItem::Kind::message) {
    const LegacyMessageView message(item.bytes.data());
    object.number("magic", message.magic());
    object.number("lastOffset", message.offset());
    object.text("compression", codec_text(message.codec()));
    object.number("maxTimestamp", message.timestamp());
    object.number("crc", message.crc());
    object.truth("crcValid", validate_legacy_crc(message).has_value());
  } else {
    const BatchView batch(item.bytes.data());
    object.number("magic", batch.magic());
    object.number("baseOffset", batch.base_offset());
    object.number("lastOffset", batch.last_offset());
    object.number("count", batch.record_count());
    object.text("compression", codec_text(batch.codec()));
    object.text("timestampType", batch.timestamp_type() == TimestampType::create_time ? "CreateTime" : "LogAppendTime");
    object.number("baseTimestamp", batch.base_timestamp());
    object.number("maxTimestamp", batch.max_timestamp());
    object.number("partitionLeaderEpoch", batch.leader_epoch());
    object.number("producerId", batch.producer_id());
    object.number("producerEpoch", batch.producer_epoch());
    object.number("baseSequence", batch.base_sequence());
    object.number("lastSequence", batch.last_sequence());
    object.truth("transactional", batch.is_transactional());
    object.truth("control", batch.is_control());
    object.number_or_null("deleteHorizonMs",
                          batch.has_delete_horizon() ? std::optional(batch.base_timestamp()) : std::nullopt);
    object.number("crc", batch.crc());
    object.truth("crcValid", validate_crc(batch).has_value());
  }
  if (!item.fault.empty()) object.text("fault", item.fault);
  return std::move(object).line();
}

std::string damage_object(const LogFile& file, const LogItem& item) {
  Object object("damage");
  add_place(object, file, item);
  object.number("size", item.size);
  object.text("fault", item.fault);
  return std::move(object).line();
}

std::string record_object(const Catalog& catalog, const LogFile& file, const LogItem& item,
                          const protocol::Record& record) {
  const bool control = item.kind == LogItem::Kind::batch && BatchView(item.bytes.data()).is_control();
  const OpenedRecord opened = open_record(catalog, file.partition.topic, control, record);
  Object object("record");
  add_place(object, file, item);
  object.number("offset", record.offset);
  object.number("timestamp", record.timestamp);
  object.number("sequence", record.sequence);
  if (!opened.control.empty()) object.text("controlType", opened.control);
  object.content("key", record.key);
  add_opened(object, "key", opened.key);
  object.content("value", record.value);
  add_opened(object, "value", opened.value);
  std::string headers = "[";
  for (const protocol::RecordHeader& header : record.headers) {
    Object inner;
    inner.text("key", header.key);
    inner.content("value", header.value);
    headers.append(headers.size() > 1 ? "," : "").append(std::move(inner).object());
  }
  object.raw("headers", headers + "]");
  return std::move(object).line();
}

std::string stats_object(std::string_view name, const LogStats& stats) {
  Object object("stats");
  object.text("of", name);
  object.number("files", stats.files);
  object.number("fileBytes", stats.file_bytes);
  object.number("batches", stats.batches);
  object.number("batchBytes", stats.batch_bytes);
  object.number("oldMessages", stats.old_messages);
  object.number("transactionalBatches", stats.transactional_batches);
  object.number("controlBatches", stats.control_batches);
  object.number("controlRecords", stats.control_records);
  object.number("records", stats.records);
  object.number("nullKeys", stats.records - stats.keys);
  object.number("nullValues", stats.null_values);
  object.number("keyBytes", stats.key_bytes);
  object.number("valueBytes", stats.value_bytes);
  object.number("headers", stats.headers);
  object.number_or_null("firstOffset", stats.first_offset);
  object.number_or_null("lastOffset", stats.last_offset);
  object.number_or_null("minTimestamp", stats.first_timestamp);
  object.number_or_null("maxTimestamp", stats.last_timestamp);
  add_largest(object, "largestBatch", stats.largest_batch);
  add_largest(object, "largestRecord", stats.largest_record);
  std::string codecs = "[";
  for (std::size_t i = 0; i < LogStats::kCodecs; ++i) {
    const LogStats::Codec& codec = stats.codecs[i];
    if (codec.batches == 0) continue;
    Object inner;
    inner.text("compression", codec_text(static_cast<int>(i)));
    inner.number("batches", codec.batches);
    inner.number("records", codec.records);
    inner.number("storedBytes", codec.stored_bytes);
    inner.number("plainBytes", codec.plain_bytes);
    codecs.append(codecs.size() > 1 ? "," : "").append(std::move(inner).object());
  }
  object.raw("codecs", codecs + "]");
  object.number("damages", stats.damages);
  object.number("damagedBytes", stats.damaged_bytes);
  return std::move(object).line();
}

}  // namespace thalweg::inspect
