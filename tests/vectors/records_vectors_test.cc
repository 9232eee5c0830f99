// Every record batch and legacy message set that the Java reference wrote: read as it reads them, and written as it
// writes them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>

#include "base/text.h"
#include "protocol/legacy_message_set.h"
#include "protocol/produced_batch.h"
#include "protocol/record_batch.h"
#include "protocol/record_batch_builder.h"
#include "vectors/message_json.h"

namespace thalweg::protocol {
namespace {

using Raw = std::vector<std::uint8_t>;

Raw unhex(const Json& hex) { return base::hex_decode(hex.get_ref<const std::string&>()).value(); }

Json hex_or_null(const std::optional<std::span<const std::uint8_t>>& bytes) {
  return bytes.has_value() ? Json(base::hex_encode(*bytes)) : Json(nullptr);
}

// -- describing bytes as the reference does ---------------------------------------------------------------------------

std::string_view name_of(TimestampType type) {
  return type == TimestampType::create_time ? "CreateTime" : "LogAppendTime";
}

void describe_control(const Record& record, Json& json) {
  static constexpr std::array<std::string_view, 7> kNames = {
      "ABORT", "COMMIT", "LEADER_CHANGE", "SNAPSHOT_HEADER", "SNAPSHOT_FOOTER", "KRAFT_VERSION", "KRAFT_VOTERS"};
  static constexpr std::array<std::string_view, 7> kMessages = {
      "EndTxnMarker",         "EndTxnMarker",       "LeaderChangeMessage", "SnapshotHeaderRecord",
      "SnapshotFooterRecord", "KRaftVersionRecord", "VotersRecord"};
  const auto type = static_cast<std::size_t>(control_type(record).value());
  json["controlType"] = type < kNames.size() ? kNames[type] : "UNKNOWN";
  json["controlTypeId"] = type;
  if (type >= kNames.size()) return;
  // All carry their version in front; only a transaction marker's is not part of the message.
  Raw value(record.value->begin(), record.value->end());
  const MessageEntry* const entry = find_message(kMessages[type]);
  const int version = std::min<int>(base::load_be<std::int16_t>(value.data()), entry->highest_version);
  if (type <= 1) value.erase(value.begin(), value.begin() + 2);
  const Decoded decoded = entry->decode(base::Bytes::copy_of(value), version);
  EXPECT_FALSE(decoded.fault.has_value());
  json["controlMessage"] = kMessages[type];
  json["controlVersion"] = version;
  json["controlValue"] = decoded.json;
}

Json describe_record(const Record& record, std::int8_t magic, bool control) {
  Json json;
  json["offset"] = record.offset;
  json["timestamp"] = record.timestamp;
  json["sequence"] = record.sequence;
  json["key"] = hex_or_null(record.key);
  json["value"] = hex_or_null(record.value);
  if (magic == 2) {
    json["headers"] = Json::array();
    for (const RecordHeader& header : record.headers) {
      Json entry;
      entry["key"] = header.key;
      entry["value"] = hex_or_null(header.value);
      json["headers"].push_back(std::move(entry));
    }
    EXPECT_EQ(static_cast<std::size_t>(record.headers.size()), json["headers"].size());
  }
  if (control) describe_control(record, json);
  return json;
}

void describe_batch(std::span<const std::uint8_t> data, Decompressor& decompressor, Json& json) {
  const Result<BatchView> parsed = parse_batch(data);
  if (!parsed.has_value()) {
    json["error"] = parsed.error().detail;
    return;
  }
  const BatchView batch = *parsed;
  json["sizeInBytes"] = batch.size_bytes();
  json["magic"] = batch.magic();
  json["crc"] = batch.crc();
  json["crcValid"] = validate_crc(batch).has_value();
  if (batch.codec() > 4) {
    json["error"] = "no such codec";
    return;
  }
  json["compression"] = compression_name(batch.compression());
  json["timestampType"] = name_of(batch.timestamp_type());
  json["baseOffset"] = batch.base_offset();
  json["lastOffset"] = batch.last_offset();
  json["maxTimestamp"] = batch.max_timestamp();
  json["attributes"] = batch.attributes();
  json["partitionLeaderEpoch"] = batch.leader_epoch();
  json["baseTimestamp"] = batch.base_timestamp();
  json["producerId"] = batch.producer_id();
  json["producerEpoch"] = batch.producer_epoch();
  json["baseSequence"] = batch.base_sequence();
  json["lastSequence"] = batch.last_sequence();
  json["count"] = batch.record_count();
  json["transactional"] = batch.is_transactional();
  json["control"] = batch.is_control();
  json["deleteHorizonMs"] = batch.has_delete_horizon() ? Json(batch.base_timestamp()) : Json(nullptr);
  if (batch.codec() != 0) {
    const auto payload = decompressor.decompress(batch.compression(), batch.records());
    if (!payload.has_value()) {
      json["error"] = payload.error().detail;
      return;
    }
    json["payload"] = base::hex_encode(*payload);
  }
  json["records"] = Json::array();
  const Result<void> read = for_each_record(batch, decompressor, [&](const Record& record) {
    json["records"].push_back(describe_record(record, 2, batch.is_control()));
  });
  if (!read.has_value()) json["error"] = read.error().detail;
}

void describe_message(std::span<const std::uint8_t> data, Decompressor& decompressor, Json& json) {
  const Result<LegacyMessageView> parsed = parse_legacy_message(data);
  if (!parsed.has_value()) {
    json["error"] = parsed.error().detail;
    return;
  }
  const LegacyMessageView message = *parsed;
  json["sizeInBytes"] = message.size_bytes();
  json["magic"] = message.magic();
  json["crc"] = message.crc();
  json["crcValid"] = validate_legacy_crc(message).has_value();
  json["compression"] = compression_name(message.compression());
  json["timestampType"] =
      message.timestamp_type().has_value() ? name_of(*message.timestamp_type()) : std::string_view("NoTimestampType");
  Result<LegacyReader> reader = LegacyReader::open(message, decompressor);
  if (!reader.has_value()) {
    json["error"] = reader.error().detail;
    return;
  }
  json["baseOffset"] = reader->first_offset();
  json["lastOffset"] = message.offset();
  json["maxTimestamp"] = message.timestamp();
  json["records"] = Json::array();
  Record record;
  while (reader->next(record)) json["records"].push_back(describe_record(record, message.magic(), false));
}

Json describe(std::span<const std::uint8_t> data, Decompressor& decompressor) {
  Json json;
  json["batches"] = Json::array();
  std::size_t at = 0;
  for (;;) {
    const auto frame = peek_batch(data.subspan(at));
    if (!frame.has_value()) {
      json["error"] = frame.error().detail;
      return json;
    }
    if (!frame->has_value()) break;
    Json batch;
    batch["position"] = at;
    const std::span<const std::uint8_t> bytes = data.subspan(at, (*frame)->size_bytes);
    if ((*frame)->magic == 2) {
      describe_batch(bytes, decompressor, batch);
    } else {
      describe_message(bytes, decompressor, batch);
    }
    json["batches"].push_back(std::move(batch));
    at += (*frame)->size_bytes;
  }
  if (at != data.size()) json["trailing"] = data.size() - at;
  return json;
}

// Takes the texts out of two descriptions that both stop at a fault; what we give up on earlier, we say less about.
void level_faults(Json& ours, Json& wanted) {
  if (!ours.contains("error") || !wanted.contains("error")) return;
  ours.erase("error");
  wanted.erase("error");
  Json said = Json::object();
  for (const auto& [field, value] : wanted.items()) {
    if (ours.contains(field)) said[field] = value;
  }
  wanted = std::move(said);
}

void expect_same(Json ours, Json wanted) {
  ASSERT_EQ(ours["batches"].size(), wanted["batches"].size());
  for (std::size_t i = 0; i < ours["batches"].size(); ++i) level_faults(ours["batches"][i], wanted["batches"][i]);
  level_faults(ours, wanted);
  EXPECT_EQ(ours.dump(), wanted.dump());
}

// -- writing ----------------------------------------------------------------------------------------------------------

CompressionType codec_of(const std::string& name) {
  for (int codec = 0; codec <= 4; ++codec) {
    if (compression_name(static_cast<CompressionType>(codec)) == name) return static_cast<CompressionType>(codec);
  }
  ADD_FAILURE() << name;
  return CompressionType::none;
}

base::Bytes build(const Json& from) {
  BatchOptions options;
  options.compression = codec_of(from.value("compression", "none"));
  if (from.contains("level")) options.level = from["level"].get<int>();
  if (from.value("timestampType", "CreateTime") == "LogAppendTime") {
    options.timestamp_type = TimestampType::log_append_time;
    options.append_time_ms = from["logAppendTime"].get<std::int64_t>();
  }
  options.base_offset = from.value("baseOffset", std::int64_t{0});
  if (from.contains("lastOffset")) options.last_offset = from["lastOffset"].get<std::int64_t>();
  options.leader_epoch = from.value("partitionLeaderEpoch", -1);
  options.producer_id = from.value("producerId", std::int64_t{-1});
  options.producer_epoch = from.value("producerEpoch", std::int16_t{-1});
  options.base_sequence = from.value("baseSequence", -1);
  options.transactional = from.value("transactional", false);
  options.control = from.value("control", false);
  if (from.contains("deleteHorizonMs")) options.delete_horizon_ms = from["deleteHorizonMs"].get<std::int64_t>();
  options.empty_max_timestamp = from.value("maxTimestamp", std::int64_t{-1});
  RecordBatchBuilder builder(options);
  for (const Json& record : from.value("records", Json::array())) {
    Raw key;
    Raw value;
    RecordInput input;
    input.offset = record["offset"].get<std::int64_t>();
    input.timestamp = record["timestamp"].get<std::int64_t>();
    if (!record["key"].is_null()) input.key = key = unhex(record["key"]);
    if (!record["value"].is_null()) input.value = value = unhex(record["value"]);
    const Json headers = record.value("headers", Json::array());
    std::vector<Raw> header_values;
    header_values.reserve(headers.size());
    std::vector<RecordHeader> header_views;
    for (const Json& header : headers) {
      RecordHeader view{.key = header["key"].get_ref<const std::string&>(), .value = std::nullopt};
      if (!header["value"].is_null()) view.value = header_values.emplace_back(unhex(header["value"]));
      header_views.push_back(view);
    }
    input.headers = header_views;
    builder.append(input);
  }
  return builder.build();
}

// -- the lines --------------------------------------------------------------------------------------------------------

std::vector<Json> lines() {
  const char* const folder = std::getenv("THALWEG_SOURCE_DIR");
  EXPECT_NE(folder, nullptr);
  std::ifstream file(std::string(folder == nullptr ? "." : folder) + "/tests/vectors/records.jsonl.gz",
                     std::ios::binary);
  const Raw packed{std::istreambuf_iterator<char>(file), {}};
  Decompressor decompressor;
  const auto text = decompressor.decompress(CompressionType::gzip, packed);
  EXPECT_TRUE(text.has_value()) << text.error().detail;
  std::vector<Json> result;
  std::string_view left(reinterpret_cast<const char*>(text->data()), text->size());
  while (!left.empty()) {
    const std::size_t end = left.find('\n');
    result.push_back(Json::parse(left.substr(0, end)));
    left.remove_prefix(std::min(end, left.size() - 1) + 1);
  }
  return result;
}

TEST(RecordVectors, AreAllReadAsTheReferenceReadsThem) {
  Decompressor decompressor;
  int read = 0;
  for (const Json& line : lines()) {
    if (!line.contains("hex")) continue;
    SCOPED_TRACE(line["name"].get<std::string>());
    expect_same(describe(unhex(line["hex"]), decompressor), line["read"]);
    ++read;
  }
  EXPECT_EQ(read, 162);
}

TEST(RecordVectors, AreWrittenAsTheReferenceWritesThem) {
  Decompressor decompressor;
  int equal = 0;
  int equivalent = 0;
  for (const Json& line : lines()) {
    if (!line.contains("hex") || !line.contains("build") || line["build"]["magic"] != 2) continue;
    SCOPED_TRACE(line["name"].get<std::string>());
    const base::Bytes built = build(line["build"]);
    if (line["build"].value("compression", "none") == "none") {
      EXPECT_EQ(base::hex_encode(built.span()), line["hex"].get<std::string>());
      ++equal;
      continue;
    }
    // Compressed bytes are one of many right answers.
    Json ours = describe(built.span(), decompressor);
    Json wanted = line["read"];
    for (Json* json : {&ours["batches"][0], &wanted["batches"][0]}) {
      EXPECT_EQ((*json)["crcValid"], true);
      json->erase("crc");
      json->erase("sizeInBytes");
    }
    EXPECT_EQ(ours.dump(), wanted.dump());
    ++equivalent;
  }
  EXPECT_EQ(equal, 14);
  EXPECT_EQ(equivalent, 54);
}

TEST(RecordVectors, OnlyZstdInLegacyFormatsCannotBeBuilt) {
  std::set<std::string> names;
  for (const Json& line : lines()) {
    if (!line.contains("hex")) names.insert(line["name"].get<std::string>());
  }
  EXPECT_EQ(names, (std::set<std::string>{"legacy-v0-zstd", "legacy-v1-zstd", "legacy-v1-log-append-time-zstd"}));
}

// Reads whatever can be read from `bytes`, in every way that a broker does. The span is a block of its own, so that a
// read beyond it is seen by the address sanitizer.
void read_all_ways(std::span<const std::uint8_t> bytes, Decompressor& decompressor) {
  std::size_t seen = 0;
  const auto look = [&](const Record& record) {
    seen += record.size_bytes;
    if (record.key.has_value() && !record.key->empty()) seen += record.key->back();
    if (record.value.has_value() && !record.value->empty()) seen += record.value->back();
    for (const RecordHeader& header : record.headers) seen += header.key.size();
  };
  for (std::size_t at = 0;;) {
    const auto frame = peek_batch(bytes.subspan(at));
    if (!frame.has_value() || !frame->has_value()) break;
    const std::span<const std::uint8_t> one = bytes.subspan(at, (*frame)->size_bytes);
    if (const auto batch = parse_batch(one); batch.has_value()) {
      (void)validate_crc(*batch);
      (void)for_each_record(*batch, decompressor, look);
      (void)validate_produced_batch(*batch, {.now_ms = 1700000000000}, decompressor);
    }
    if (const auto message = parse_legacy_message(one); message.has_value()) {
      (void)validate_legacy_crc(*message);
      (void)for_each_legacy_record(*message, decompressor, look);
    }
    at += (*frame)->size_bytes;
  }
  if (const auto batch = parse_produced(bytes, 11); batch.has_value()) seen += batch->size_bytes();
  if (const auto batch = parse_batch(bytes); batch.has_value()) seen += batch->size_bytes();
  if (const auto message = parse_legacy_message(bytes); message.has_value()) seen += message->size_bytes();
  EXPECT_GE(seen, 0U);
}

// All lengths below `size`; of long inputs those near both ends and every 61st between.
std::vector<std::size_t> prefix_lengths(std::size_t size) {
  std::vector<std::size_t> lengths;
  for (std::size_t n = 0; n < size; ++n) {
    if (size <= 4096 || n < 512 || n + 512 > size || n % 61 == 0) lengths.push_back(n);
  }
  return lengths;
}

TEST(RecordVectors, EveryPrefixIsReadWithinItsBytes) {
  Decompressor decompressor;
  for (const Json& line : lines()) {
    if (!line.contains("hex")) continue;
    SCOPED_TRACE(line["name"].get<std::string>());
    const Raw whole = unhex(line["hex"]);
    for (const std::size_t n : prefix_lengths(whole.size())) {
      const Raw cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
      read_all_ways(cut, decompressor);
    }
  }
}

TEST(RecordVectors, EveryPrefixThatSaysItIsWholeIsRefused) {
  Decompressor decompressor;
  for (const Json& line : lines()) {
    if (!line.contains("hex")) continue;
    SCOPED_TRACE(line["name"].get<std::string>());
    const Raw whole = unhex(line["hex"]);
    const auto parsed = parse_batch(whole);
    if (!parsed.has_value() || parsed->codec() > 4 || !validate_crc(*parsed).has_value()) continue;
    if (parsed->record_count() == 0) continue;
    for (const std::size_t n : prefix_lengths(parsed->size_bytes())) {
      if (n < kBatchHeaderSize) continue;
      Raw cut(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n));
      base::store_be(cut.data() + 8, static_cast<std::int32_t>(n - kLogOverhead));
      const auto batch = parse_batch(cut);
      ASSERT_TRUE(batch.has_value()) << n;
      const auto read = for_each_record(*batch, decompressor, [](const Record&) {});
      ASSERT_FALSE(read.has_value()) << n;
    }
  }
}

}  // namespace
}  // namespace thalweg::protocol
