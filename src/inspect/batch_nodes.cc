#include "inspect/batch_nodes.h"

#include <fmt/format.h>

#include <chrono>
#include <span>

#include "base/crc32c.h"
#include "base/varint.h"
#include "inspect/value_text.h"
#include "protocol/record_batch.h"

namespace thalweg::inspect {

using protocol::BatchView;

namespace {

// Keys, values and headers longer than this are cut in the tree.
constexpr std::size_t kTextLimit = 256;

// 2024-05-01T12:00:00.000Z; nothing for what is no time of these ages.
std::string time_text(std::int64_t ms) {
  constexpr std::int64_t kLast = 253402300799999;  // the end of the year 9999
  if (ms <= 0 || ms > kLast) return {};
  const std::chrono::sys_time<std::chrono::milliseconds> time{std::chrono::milliseconds(ms)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count(), clock.subseconds().count());
}

std::string attributes_text(BatchView batch) {
  std::string text = batch.codec() <= 4 ? std::string(protocol::compression_name(batch.compression()))
                                        : fmt::format("codec {}", batch.codec());
  text += batch.timestamp_type() == protocol::TimestampType::create_time ? ", CreateTime" : ", LogAppendTime";
  if (batch.is_transactional()) text += ", transactional";
  if (batch.is_control()) text += ", control";
  if (batch.has_delete_horizon()) text += ", delete horizon";
  return text;
}

// Makes the nodes of one batch, one after the other.
class BatchNodes {
 public:
  BatchNodes(const std::uint8_t* data, std::size_t begin, std::size_t end, std::size_t max_nodes)
      : data_(data), at_(begin), end_(end), max_nodes_(max_nodes) {}

  Node batch();
  [[nodiscard]] std::size_t nodes() const { return nodes_; }

 private:
  Node node(std::string_view name, std::string_view type, Part part) {
    ++nodes_;
    Node n;
    n.name = name;
    n.type = type;
    n.offset = at_;
    n.part = part;
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
  Node record(int index);
  Node header_of_record(int index);
  // A signed varint. False where it is cut off.
  bool varint(Node& into, std::string_view name, std::string_view type, std::string_view about, std::int64_t& value);
  // A length and as many bytes.
  bool sized(Node& into, std::string_view name, std::string_view about);
  // What cannot be read as anything else, up to `end`.
  void rest(Node& into, std::string_view name, std::size_t end, std::string about);

  const std::uint8_t* data_;
  std::size_t at_;
  std::size_t end_;
  std::size_t max_nodes_;
  std::size_t nodes_ = 0;
};

void BatchNodes::rest(Node& into, std::string_view name, std::size_t end, std::string about) {
  if (end == at_) return;
  Node n = node(name, "bytes", Part::record);
  n.kind = NodeKind::scalar;
  n.value = counted(end - at_, "byte");
  n.about = std::move(about);
  n.size = n.content_size = end - at_;
  into.children.push_back(std::move(n));
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
Node BatchNodes::record(int index) {
  Node n = node(fmt::format("Record[{}]", index), "Record", Part::record);
  std::int64_t length = 0;
  if (!varint(n, "length", "varint", "bytes of the record that follow", length) || length < 0 ||
      length > static_cast<std::int64_t>(end_ - at_)) {
    rest(n, "damaged", end_, "no record of such a length fits here");
    at_ = end_;
    n.size = at_ - n.offset;
    return n;
  }
  const std::size_t section_end = end_;
  end_ = at_ + static_cast<std::size_t>(length);
  const auto read = [&]() -> bool {
    if (at_ == end_) return false;
    Node attributes = node("attributes", "int8", Part::record);
    attributes.kind = NodeKind::scalar;
    attributes.value = fmt::format("{}", static_cast<std::int8_t>(data_[at_]));
    attributes.about = "no bit of it has a meaning yet";
    attributes.size = attributes.content_size = 1;
    ++at_;
    n.children.push_back(std::move(attributes));
    std::int64_t value = 0;
    if (!varint(n, "timestamp_delta", "varlong", "added to the base timestamp", value)) return false;
    if (!varint(n, "offset_delta", "varint", "added to the base offset", value)) return false;
    if (!sized(n, "key", "key of the record") || !sized(n, "value", "value of the record")) return false;
    std::int64_t headers = 0;
    if (!varint(n, "headers_count", "varint", "number of headers", headers)) return false;
    for (std::int64_t i = 0; i < headers; ++i) {
      n.children.push_back(header_of_record(static_cast<int>(i)));
      if (n.children.back().children.size() != 2) return false;
    }
    return at_ == end_;
  };
  if (!read()) rest(n, "damaged", end_, "what stands here breaks the format of a record");
  at_ = end_;
  end_ = section_end;
  n.size = at_ - n.offset;
  return n;
}

void BatchNodes::records(Node& into, BatchView batch) {
  if (batch.codec() != 0) {
    rest(into, "records", end_, "the records, compressed");
    at_ = end_;
    return;
  }
  for (int i = 0; i < batch.record_count() && at_ < end_; ++i) {
    if (nodes_ >= max_nodes_) {
      rest(into, "more", end_, fmt::format("{} not shown", counted(batch.record_count() - i, "record")));
      at_ = end_;
      return;
    }
    into.children.push_back(record(i));
  }
  rest(into, "damaged", end_, "bytes behind the last record");
  at_ = end_;
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

// What stands at the front of a records field and is no whole batch of format v2.
Node other(const std::uint8_t* data, std::size_t begin, std::size_t end) {
  Node n;
  n.offset = begin;
  n.size = n.content_size = end - begin;
  n.kind = NodeKind::scalar;
  n.part = Part::record_batch;
  n.type = "bytes";
  n.value = counted(n.size, "byte");
  const auto frame = protocol::peek_batch({data + begin, end - begin});
  if (!frame) {
    n.name = "damaged";
    n.about = frame.error().detail;
  } else if (!*frame) {
    n.name = "partial";
    n.about = "the beginning of one more batch";
  } else if ((*frame)->magic == 2) {
    n.name = "damaged";
    n.about = "too short for the header of a batch";
    n.size = n.content_size = (*frame)->size_bytes;
  } else {
    n.name = "Message";
    n.type = fmt::format("v{}", (*frame)->magic);
    n.about = "a message of an old format";
    n.size = n.content_size = (*frame)->size_bytes;
    n.value = counted(n.size, "byte");
  }
  return n;
}

}  // namespace

std::size_t add_batches(Node& into, const std::uint8_t* data, std::size_t begin, std::size_t end,
                        std::size_t max_nodes) {
  std::size_t made = 0;
  while (begin < end) {
    if (const auto batch = protocol::parse_batch({data + begin, end - begin})) {
      BatchNodes nodes(data, begin, begin + batch->size_bytes(), made < max_nodes ? max_nodes - made : 0);
      into.children.push_back(nodes.batch());
      made += nodes.nodes();
    } else {
      into.children.push_back(other(data, begin, end));
      ++made;
    }
    begin += into.children.back().size;
  }
  return made;
}

}  // namespace thalweg::inspect
