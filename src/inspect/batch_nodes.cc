#include "inspect/batch_nodes.h"

#include <fmt/format.h>

#include <span>

#include "base/crc32c.h"
#include "base/varint.h"
#include "inspect/value_text.h"
#include "protocol/legacy_message_set.h"
#include "protocol/record_batch.h"

namespace thalweg::inspect {

using protocol::BatchView;
using protocol::LegacyMessageView;

namespace {

// Keys, values and headers longer than this are cut in the tree.
constexpr std::size_t kTextLimit = 256;

std::string codec_text(int codec) {
  return codec <= 4 ? std::string(compression_name(static_cast<protocol::CompressionType>(codec)))
                    : fmt::format("codec {}", codec);
}

std::string attributes_text(BatchView batch) {
  std::string text = codec_text(batch.codec());
  text += batch.timestamp_type() == protocol::TimestampType::create_time ? ", CreateTime" : ", LogAppendTime";
  if (batch.is_transactional()) text += ", transactional";
  if (batch.is_control()) text += ", control";
  if (batch.has_delete_horizon()) text += ", delete horizon";
  return text;
}

// Sums that wrap, as hostile deltas must not be undefined.
std::int64_t plus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
}

}  // namespace

// Makes the nodes of one batch or message, one after the other.
class BatchNodes {
 public:
  BatchNodes(BatchReader& reader, std::string_view topic, const std::uint8_t* data, std::size_t begin, std::size_t end,
             bool unpacked)
      : reader_(reader), topic_(topic), data_(data), at_(begin), end_(end), unpacked_(unpacked) {}

  Node batch();
  // `shift`: what lies between the offset that stands there and the one that counts.
  Node message(std::int64_t shift);
  // What cannot be read as anything else, up to `end`.
  void rest(std::vector<Node>& into, std::string_view name, std::size_t end, std::string about);

 private:
  Node node(std::string_view name, std::string_view type, Part part) {
    if (reader_.nodes_left_ > 0) --reader_.nodes_left_;
    Node n;
    n.name = name;
    n.type = type;
    n.offset = at_;
    n.part = part;
    n.unpacked = unpacked_;
    return n;
  }
  template <class T>
  void fixed(Node& into, std::string_view name, std::string_view type, std::string_view about,
             std::string encoding = {}) {
    Node n = node(name, type, Part::record_batch);
    n.kind = NodeKind::scalar;
    n.value = fmt::format("{}", base::load_be<T>(data_ + at_));
    n.encoding = std::move(encoding);
    n.about = about;
    n.size = n.content_size = sizeof(T);
    at_ += sizeof(T);
    into.children.push_back(std::move(n));
  }
  void header(Node& into, BatchView batch);
  void records(Node& into, BatchView batch);
  // The records of a batch that stand between here and the end.
  void record_section(std::vector<Node>& into, BatchView batch);
  Node record(int index, BatchView batch);
  Node header_of_record(int index);
  void legacy_field(Node& into, std::string_view name, std::string_view about);
  void wrapped(Node& value, LegacyMessageView message);

  // A signed varint. False where it is cut off.
  bool varint(Node& into, std::string_view name, std::string_view type, std::string_view about, std::int64_t& value);
  // A length and as many bytes.
  bool sized(Node& into, std::string_view name, std::string_view about);
  [[nodiscard]] std::optional<std::span<const std::uint8_t>> content(const Node& node) const {
    if (node.null) return std::nullopt;
    return std::span(data_ + node.offset + node.size - node.content_size, node.content_size);
  }
  // The content, decompressed; where that fails `into` says why.
  std::optional<std::span<const std::uint8_t>> unpack(Node& into, int codec, std::span<const std::uint8_t> content,
                                                      bool any_lz4_header_checksum);

  BatchReader& reader_;
  std::string_view topic_;
  const std::uint8_t* data_;
  std::size_t at_;
  std::size_t end_;
  bool unpacked_;
};

namespace {

// What stands at the front of a records field and is no whole batch of format v2.
Node other(const std::uint8_t* data, std::size_t begin, std::size_t end) {
  Node n;
  n.offset = begin;
  n.size = n.content_size = end - begin;
  n.kind = NodeKind::scalar;
  n.part = Part::record_batch;
  n.type = "bytes";
  const auto frame = protocol::peek_batch({data + begin, end - begin});
  if (!frame) {
    n.name = "damaged";
    n.about = frame.error().detail;
  } else if (!*frame) {
    n.name = "partial";
    n.about = "the beginning of one more batch";
  } else {
    n.name = "damaged";
    n.about = (*frame)->magic == 2
                  ? "too short for the header of a batch"
                  : protocol::parse_legacy_message({data + begin, (*frame)->size_bytes}).error().detail;
    n.size = n.content_size = (*frame)->size_bytes;
  }
  n.value = counted(n.size, "byte");
  return n;
}

}  // namespace

void BatchNodes::rest(std::vector<Node>& into, std::string_view name, std::size_t end, std::string about) {
  if (end == at_) return;
  Node n = node(name, "bytes", Part::record);
  n.kind = NodeKind::scalar;
  n.value = counted(end - at_, "byte");
  n.about = std::move(about);
  n.size = n.content_size = end - at_;
  into.push_back(std::move(n));
}

bool BatchNodes::varint(Node& into, std::string_view name, std::string_view type, std::string_view about,
                        std::int64_t& value) {
  std::uint64_t raw = 0;
  const std::uint8_t* next = base::get_uvarint64(data_ + at_, data_ + end_, raw);
  if (next == nullptr) return false;
  value = base::zigzag_decode64(raw);
  Node n = node(name, type, Part::record);
  n.kind = NodeKind::scalar;
  n.value = fmt::format("{}", value);
  n.about = about;
  n.size = n.content_size = static_cast<std::size_t>(next - data_) - at_;
  at_ += n.size;
  into.children.push_back(std::move(n));
  return true;
}

bool BatchNodes::sized(Node& into, std::string_view name, std::string_view about) {
  std::uint64_t raw = 0;
  const std::uint8_t* next = base::get_uvarint64(data_ + at_, data_ + end_, raw);
  if (next == nullptr) return false;
  const std::int64_t size = base::zigzag_decode64(raw);
  if (size > data_ + end_ - next) return false;
  Node n = node(name, "bytes", Part::record);
  n.kind = NodeKind::scalar;
  n.about = about;
  n.null = size < 0;
  n.content_size = n.null ? 0 : static_cast<std::size_t>(size);
  n.size = static_cast<std::size_t>(next - data_) - at_ + n.content_size;
  n.value = n.null ? "null" : content_text({next, n.content_size}, kTextLimit);
  n.encoding = fmt::format("varint len={}", size);
  at_ += n.size;
  into.children.push_back(std::move(n));
  return true;
}

Node BatchNodes::header_of_record(int index) {
  Node n = node(fmt::format("Header[{}]", index), "Header", Part::record);
  if (sized(n, "key", "name of the header")) sized(n, "value", "value of the header");
  n.size = at_ - n.offset;
  return n;
}

// The record at hand, its length first. Where it breaks the format its last node is what was left.
Node BatchNodes::record(int index, BatchView batch) {
  Node n = node(fmt::format("Record[{}]", index), "Record", Part::record);
  std::int64_t length = 0;
  if (!varint(n, "length", "varint", "bytes of the record that follow", length) || length < 0 ||
      length > static_cast<std::int64_t>(end_ - at_)) {
    rest(n.children, "damaged", end_, "no record of such a length fits here");
    at_ = end_;
    n.size = at_ - n.offset;
    return n;
  }
  const std::size_t section_end = end_;
  end_ = at_ + static_cast<std::size_t>(length);
  std::int64_t timestamp = 0;
  std::int64_t offset = 0;
  const auto read = [&]() -> bool {
    if (at_ == end_) return false;
    Node attributes = node("attributes", "int8", Part::record);
    attributes.kind = NodeKind::scalar;
    attributes.value = fmt::format("{}", static_cast<std::int8_t>(data_[at_]));
    attributes.about = "no bit of it has a meaning yet";
    attributes.size = attributes.content_size = 1;
    ++at_;
    n.children.push_back(std::move(attributes));
    if (!varint(n, "timestamp_delta", "varlong", "added to the base timestamp", timestamp)) return false;
    if (!varint(n, "offset_delta", "varint", "added to the base offset", offset)) return false;
    if (!sized(n, "key", "key of the record") || !sized(n, "value", "value of the record")) return false;
    std::int64_t headers = 0;
    if (!varint(n, "headers_count", "varint", "number of headers", headers)) return false;
    for (std::int64_t i = 0; i < headers; ++i) {
      if (reader_.nodes_left_ == 0) {
        rest(n.children, "more", end_, fmt::format("{} not shown", counted(headers - i, "header")));
        return true;
      }
      n.children.push_back(header_of_record(static_cast<int>(i)));
      if (n.children.back().children.size() != 2) return false;
    }
    return at_ == end_;
  };
  if (read()) {
    const bool append_time = batch.timestamp_type() == protocol::TimestampType::log_append_time;
    n.about = fmt::format("offset {}", plus(batch.base_offset(), offset));
    const std::string time = time_text(append_time ? batch.max_timestamp() : plus(batch.base_timestamp(), timestamp));
    if (!time.empty()) n.about += ", " + time;
    if (reader_.options_.opener != nullptr) {
      Node& key = n.children[4];
      Node& value = n.children[5];
      reader_.options_.opener->open_record(
          {.topic = topic_, .control = batch.is_control(), .key = content(key), .value = content(value)}, key, value);
    }
  } else {
    rest(n.children, "damaged", end_, "what stands here breaks the format of a record");
  }
  at_ = end_;
  end_ = section_end;
  n.size = at_ - n.offset;
  return n;
}

std::optional<std::span<const std::uint8_t>> BatchNodes::unpack(Node& into, int codec,
                                                                std::span<const std::uint8_t> content,
                                                                bool any_lz4_header_checksum) {
  if (codec > static_cast<int>(protocol::CompressionType::zstd)) return std::nullopt;
  if (!reader_.decompressor_) reader_.decompressor_ = std::make_unique<protocol::Decompressor>();
  const auto unpacked = reader_.decompressor_->decompress(
      static_cast<protocol::CompressionType>(codec), content,
      {.max_bytes = reader_.unpacked_left_, .any_lz4_header_checksum = any_lz4_header_checksum});
  if (unpacked) {
    reader_.unpacked_left_ -= unpacked->size();
    into.encoding += fmt::format("{}{}, {} unpacked", into.encoding.empty() ? "" : ", ", codec_text(codec),
                                 counted(unpacked->size(), "byte"));
    return *unpacked;
  }
  into.encoding += fmt::format("{}{}", into.encoding.empty() ? "" : ", ", codec_text(codec));
  if (unpacked.error().code == protocol::ErrorCode::invalid_record) {
    into.about += ", not opened: more than the limit on what is unpacked";
  } else {
    into.about += ", which cannot be unpacked: " + unpacked.error().detail;
  }
  return std::nullopt;
}

void BatchNodes::record_section(std::vector<Node>& into, BatchView batch) {
  for (int i = 0; i < batch.record_count() && at_ < end_; ++i) {
    if (reader_.nodes_left_ == 0) {
      rest(into, "more", end_, fmt::format("{} not shown", counted(batch.record_count() - i, "record")));
      at_ = end_;
      return;
    }
    into.push_back(record(i, batch));
  }
  rest(into, "damaged", end_, "bytes behind the last record");
  at_ = end_;
}

void BatchNodes::records(Node& into, BatchView batch) {
  if (batch.codec() == 0) return record_section(into.children, batch);
  const std::size_t children = into.children.size();
  rest(into.children, "records", end_, "the records, compressed");
  at_ = end_;
  if (into.children.size() == children) return;
  Node& closed = into.children.back();
  const auto section = unpack(closed, batch.codec(), batch.records(), false);
  if (!section) return;
  BatchNodes inside(reader_, topic_, section->data(), 0, section->size(), true);
  inside.record_section(closed.opened, batch);
}

void BatchNodes::header(Node& into, BatchView batch) {
  const std::uint32_t crc = base::crc32c(batch.bytes().subspan(protocol::kAttributesPosition));
  fixed<std::int64_t>(into, "base_offset", "int64", "offset of the first record");
  fixed<std::int32_t>(into, "batch_length", "int32", "bytes of the batch that follow");
  fixed<std::int32_t>(into, "partition_leader_epoch", "int32", "epoch of the leader that appended the batch");
  fixed<std::int8_t>(into, "magic", "int8", "version of the format");
  fixed<std::uint32_t>(into, "crc", "uint32", "CRC-32C of everything from the attributes on",
                       crc == batch.crc() ? fmt::format("{:#010x}", crc)
                                          : fmt::format("{:#010x}, but the bytes give {:#010x}", batch.crc(), crc));
  fixed<std::int16_t>(into, "attributes", "int16", "compression, kind of timestamps, transactional, control",
                      attributes_text(batch));
  fixed<std::int32_t>(into, "last_offset_delta", "int32", "offset of the last record less the base offset");
  fixed<std::int64_t>(into, "base_timestamp", "int64", "what the records' timestamps are counted from",
                      time_text(batch.base_timestamp()));
  fixed<std::int64_t>(into, "max_timestamp", "int64", "greatest timestamp of the records",
                      time_text(batch.max_timestamp()));
  fixed<std::int64_t>(into, "producer_id", "int64", "id of an idempotent producer, or -1");
  fixed<std::int16_t>(into, "producer_epoch", "int16", "epoch of that producer, or -1");
  fixed<std::int32_t>(into, "base_sequence", "int32", "sequence of the first record, or -1");
  fixed<std::int32_t>(into, "records_count", "int32", "number of records that follow");
}

Node BatchNodes::batch() {
  Node n = node("RecordBatch", "v2", Part::record_batch);
  const BatchView batch(data_ + at_);
  const std::int32_t count = batch.record_count();
  n.about = count == 0  ? "empty record batch"
            : count < 0 ? "an impossible number of records"
                        : counted(static_cast<std::uint64_t>(count), "record");
  header(n, batch);
  records(n, batch);
  n.size = at_ - n.offset;
  return n;
}

void BatchNodes::legacy_field(Node& into, std::string_view name, std::string_view about) {
  const auto size = base::load_be<std::int32_t>(data_ + at_);
  Node n = node(name, "bytes", Part::record);
  n.kind = NodeKind::scalar;
  n.about = about;
  n.null = size < 0;
  n.content_size = n.null ? 0 : static_cast<std::size_t>(size);
  n.size = sizeof size + n.content_size;
  n.value = n.null ? "null" : content_text({data_ + at_ + sizeof size, n.content_size}, kTextLimit);
  n.encoding = fmt::format("int32 len={}", size);
  at_ += n.size;
  into.children.push_back(std::move(n));
}

// The messages that a wrapper's value holds. The offsets inside one of magic 1 count up to the wrapper's own.
void BatchNodes::wrapped(Node& value, LegacyMessageView message) {
  value.value = counted(value.content_size, "byte");
  const auto packed = message.value();
  if (!packed) return;
  if (message.codec() > static_cast<int>(protocol::CompressionType::lz4)) {
    value.about += fmt::format(", by {}, which this format does not have", codec_text(message.codec()));
    return;
  }
  const auto set = unpack(value, message.codec(), *packed, message.magic() == 0);
  if (!set) return;
  std::int64_t last = 0;
  std::size_t end = 0;
  while (const auto inside = protocol::parse_legacy_message(set->subspan(end))) {
    last = inside->offset();
    end += inside->size_bytes();
  }
  const std::int64_t shift = message.magic() == 1 ? plus(message.offset(), -last) : 0;
  std::size_t at = 0;
  while (at < end) {
    if (reader_.nodes_left_ == 0) {
      BatchNodes inside(reader_, topic_, set->data(), at, end, true);
      inside.rest(value.opened, "more", end, "further messages, not shown");
      return;
    }
    const std::size_t size = LegacyMessageView(set->data() + at).size_bytes();
    BatchNodes inside(reader_, topic_, set->data(), at, at + size, true);
    value.opened.push_back(inside.message(shift));
    at += size;
  }
  if (end == set->size()) return;
  value.opened.push_back(other(set->data(), end, set->size()));
  value.opened.back().unpacked = true;
}

Node BatchNodes::message(std::int64_t shift) {
  const LegacyMessageView message(data_ + at_);
  Node n = node("Message", fmt::format("v{}", message.magic()), Part::record_batch);
  n.about = "a message of an old format";
  const std::int64_t offset = plus(message.offset(), shift);
  fixed<std::int64_t>(n, "offset", "int64", message.is_wrapper() ? "offset of the last message inside" : "its offset",
                      shift == 0 ? "" : fmt::format("{} in the log", offset));
  fixed<std::int32_t>(n, "message_size", "int32", "bytes of the message that follow");
  const auto crc = validate_legacy_crc(message);
  fixed<std::uint32_t>(n, "crc", "uint32", "CRC-32 of everything from the magic on",
                       fmt::format("{:#010x}{}", message.crc(), crc ? "" : ", but the bytes give another"));
  fixed<std::int8_t>(n, "magic", "int8", "version of the format");
  std::string attributes = codec_text(message.codec());
  if (const auto type = message.timestamp_type())
    attributes += *type == protocol::TimestampType::create_time ? ", CreateTime" : ", LogAppendTime";
  fixed<std::int8_t>(n, "attributes", "int8", "compression, kind of timestamps", std::move(attributes));
  if (message.magic() == 1)
    fixed<std::int64_t>(n, "timestamp", "int64", "milliseconds since 1970, or -1", time_text(message.timestamp()));
  legacy_field(n, "key", "key of the message");
  legacy_field(n, "value", message.is_wrapper() ? "messages, compressed" : "value of the message");
  if (message.is_wrapper()) {
    // A wrapper in a wrapper is refused by every reader; so the depth has an end.
    if (!unpacked_) wrapped(n.children.back(), message);
  } else if (reader_.options_.opener != nullptr) {
    Node& value = n.children.back();
    Node& key = n.children[n.children.size() - 2];
    reader_.options_.opener->open_record({.topic = topic_, .key = message.key(), .value = message.value()}, key, value);
  }
  rest(n.children, "damaged", end_, "bytes behind the value");
  at_ = end_;
  n.size = at_ - n.offset;
  return n;
}

BatchReader::BatchReader(const BatchOptions& options)
    : options_(options), nodes_left_(options.max_nodes), unpacked_left_(options.max_unpacked_bytes) {}
BatchReader::~BatchReader() = default;

std::size_t BatchReader::add(Node& into, const std::uint8_t* data, std::size_t begin, std::size_t end,
                             std::string_view topic) {
  const std::size_t before = nodes_left_;
  while (begin < end) {
    const std::span<const std::uint8_t> left(data + begin, end - begin);
    if (nodes_left_ == 0) {
      BatchNodes nodes(*this, topic, data, begin, end, false);
      nodes.rest(into.children, "more", end, "further batches, not shown");
      break;
    }
    if (const auto batch = protocol::parse_batch(left)) {
      BatchNodes nodes(*this, topic, data, begin, begin + batch->size_bytes(), false);
      into.children.push_back(nodes.batch());
    } else if (const auto message = protocol::parse_legacy_message(left)) {
      BatchNodes nodes(*this, topic, data, begin, begin + message->size_bytes(), false);
      into.children.push_back(nodes.message(0));
    } else {
      into.children.push_back(other(data, begin, end));
      --nodes_left_;
    }
    begin += into.children.back().size;
  }
  return before - nodes_left_;
}

}  // namespace thalweg::inspect
