#include "floor/frames.h"

#include <algorithm>
#include <string_view>

#include "base/crc32c.h"
#include "base/endian.h"
#include "base/varint.h"

namespace thalweg::floor {

namespace {

// Writes a message: big-endian numbers, compact strings and arrays.
class Writer {
 public:
  explicit Writer(Bytes& out) : out_(out) {}
  template <class T>
  void number(T value) {
    const std::size_t at = out_.size();
    out_.resize(at + sizeof value);
    base::store_be(out_.data() + at, value);
  }
  void uvarint(std::uint64_t value) {
    const std::size_t at = out_.size();
    out_.resize(at + base::uvarint_size(value));
    base::put_uvarint(out_.data() + at, value);
  }
  // The length of a compact array or string is written one higher, so that 0 is null.
  void length(std::size_t count) { uvarint(count + 1); }
  void null() { uvarint(0); }
  void text(std::string_view value) {
    length(value.size());
    out_.insert(out_.end(), value.begin(), value.end());
  }
  void no_tags() { uvarint(0); }
  void varint(std::int64_t value) { uvarint(base::zigzag_encode64(value)); }

 private:
  Bytes& out_;
};

// Reads one; past the end everything is zero and failed() is true.
class Reader {
 public:
  explicit Reader(Frame frame) : frame_(frame) {}
  template <class T>
  T number() {
    if (failed_ || frame_.size() < sizeof(T)) return fail<T>();
    const T value = base::load_be<T>(frame_.data());
    frame_ = frame_.subspan(sizeof(T));
    return value;
  }
  std::uint32_t uvarint() {
    std::uint32_t value = 0;
    const std::uint8_t* end = frame_.data() + frame_.size();
    const std::uint8_t* next = failed_ ? nullptr : base::get_uvarint32(frame_.data(), end, value);
    if (next == nullptr) return fail<std::uint32_t>();
    frame_ = {next, end};
    return value;
  }
  void skip(std::size_t count) {
    if (failed_ || frame_.size() < count) {
      failed_ = true;
    } else {
      frame_ = frame_.subspan(count);
    }
  }
  // A compact string; empty where it is null.
  std::string_view text() {
    const std::uint32_t length = uvarint();
    const Frame rest = frame_;
    if (length < 2) return {};
    skip(length - 1);
    return failed_ ? std::string_view() : std::string_view(reinterpret_cast<const char*>(rest.data()), length - 1);
  }
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  template <class T>
  T fail() {
    failed_ = true;
    return 0;
  }

  Frame frame_;
  bool failed_ = false;
};

constexpr std::string_view kTopic = "floor";
constexpr std::size_t kCorrelationAt = 4;  // in a request, behind key and version

// As many entries as Kafka 4.4 announces to clients, so that this answer is as long as a broker's. What the load
// generator sends is announced in the newest version that it and this program know; the others are only there.
constexpr int kAnnounced = 62;

std::int16_t newest_version(std::int16_t key) {
  switch (key) {
    case kProduce:
    case kFetch:
    case kMetadata:
      return 12;
    case kOffsetCommit:
      return 9;
    case kApiVersions:
      return 3;
    default:
      return 0;
  }
}

Bytes make_api_versions() {
  Bytes out;
  Writer writer(out);
  writer.number<std::int16_t>(0);
  writer.length(kAnnounced);
  for (std::int16_t key = 0; key < kAnnounced; ++key) {
    writer.number(key);
    writer.number<std::int16_t>(0);
    writer.number(newest_version(key));
    writer.no_tags();
  }
  writer.number<std::int32_t>(0);  // throttle time
  writer.no_tags();
  return out;
}

Bytes make_metadata() {
  Bytes out;
  Writer writer(out);
  writer.no_tags();  // of the header
  writer.number<std::int32_t>(0);
  writer.length(1);  // brokers
  writer.number<std::int32_t>(1);
  writer.text("127.0.0.1");
  writer.number<std::int32_t>(9092);
  writer.null();  // rack
  writer.no_tags();
  writer.text("AAAAAAAAAAAAAAAAAAAAAA");  // cluster id
  writer.number<std::int32_t>(1);         // controller
  writer.length(1);                       // topics
  writer.number<std::int16_t>(0);
  writer.text(kTopic);
  writer.number<std::uint64_t>(0);  // topic id
  writer.number<std::uint64_t>(1);
  writer.number<std::int8_t>(0);  // not internal
  writer.length(kPartitions);
  for (std::int32_t partition = 0; partition < kPartitions; ++partition) {
    writer.number<std::int16_t>(0);
    writer.number(partition);
    writer.number<std::int32_t>(1);  // leader
    writer.number<std::int32_t>(0);  // leader epoch
    for (int list = 0; list < 2; ++list) {
      writer.length(1);  // replicas, then those in sync
      writer.number<std::int32_t>(1);
    }
    writer.length(0);  // offline
    writer.no_tags();
  }
  writer.number<std::int32_t>(-2147483648);  // authorized operations: not asked for
  writer.no_tags();
  writer.no_tags();
  return out;
}

Bytes make_produce() {
  Bytes out;
  Writer writer(out);
  writer.no_tags();  // of the header
  writer.length(1);
  writer.text(kTopic);
  writer.length(1);
  writer.number<std::int32_t>(0);   // partition
  writer.number<std::int16_t>(0);   // no error
  writer.number<std::int64_t>(0);   // base offset
  writer.number<std::int64_t>(-1);  // log append time
  writer.number<std::int64_t>(0);   // log start offset
  writer.length(0);                 // record errors
  writer.null();                    // error message
  writer.no_tags();
  writer.no_tags();
  writer.number<std::int32_t>(0);  // throttle time
  writer.no_tags();
  return out;
}

Bytes make_offset_commit() {
  Bytes out;
  Writer writer(out);
  writer.no_tags();                // of the header
  writer.number<std::int32_t>(0);  // throttle time
  writer.length(1);
  writer.text(kTopic);
  writer.length(kPartitions);
  for (std::int32_t partition = 0; partition < kPartitions; ++partition) {
    writer.number(partition);
    writer.number<std::int16_t>(0);  // no error
    writer.no_tags();
  }
  writer.no_tags();
  writer.no_tags();
  return out;
}

// In version 0: no tags, and texts with a length of two bytes.
Bytes make_find_coordinator() {
  constexpr std::string_view kHost = "127.0.0.1";
  Bytes out;
  Writer writer(out);
  writer.number<std::int16_t>(0);  // no error
  writer.number<std::int32_t>(1);
  writer.number(static_cast<std::int16_t>(kHost.size()));
  out.insert(out.end(), kHost.begin(), kHost.end());
  writer.number<std::int32_t>(9092);
  return out;
}

// Skips key, version, correlation id, client id and the tags of a flexible request header; false where it has tags.
bool skip_header(Reader& reader) {
  reader.skip(8);
  const auto client_id = reader.number<std::int16_t>();
  reader.skip(static_cast<std::size_t>(std::max<std::int16_t>(client_id, 0)));
  return reader.uvarint() == 0;
}

// The length of what follows and the correlation id of the request.
void append_start(Frame frame, std::size_t bytes_that_follow, Bytes& out) {
  Writer writer(out);
  writer.number(static_cast<std::int32_t>(sizeof(std::int32_t) + bytes_that_follow));
  writer.number(base::load_be<std::int32_t>(frame.data() + kCorrelationAt));
}

}  // namespace

std::int16_t api_key(Frame frame) { return base::load_be<std::int16_t>(frame.data()); }

bool parse_fetch(Frame frame, FetchPlace& place) {
  Reader reader(frame);
  if (!skip_header(reader)) return false;
  reader.skip(4 + 4 + 4 + 4 + 1 + 4 + 4);   // replica, wait, bytes, isolation, session
  if (reader.uvarint() != 2) return false;  // one topic
  if (reader.text().empty()) return false;
  if (reader.uvarint() != 2) return false;  // one partition
  place.partition = reader.number<std::int32_t>();
  reader.skip(4);  // leader epoch
  place.offset = reader.number<std::int64_t>();
  reader.skip(4 + 8);  // last fetched epoch, log start offset
  place.max_bytes = reader.number<std::int32_t>();
  return !reader.failed() && place.partition >= 0 && place.partition < kPartitions && place.offset >= 0 &&
         place.max_bytes > 0;
}

bool parse_offset_commit(Frame frame, OffsetCommit& commit) {
  Reader reader(frame);
  if (base::load_be<std::int16_t>(frame.data() + 2) != newest_version(kOffsetCommit)) return false;
  if (!skip_header(reader)) return false;
  commit.group = reader.text();
  reader.skip(4);                           // generation
  reader.text();                            // member
  reader.text();                            // instance
  if (reader.uvarint() != 2) return false;  // one topic
  commit.topic = reader.text();
  if (reader.uvarint() != kPartitions + 1) return false;
  for (std::int32_t partition = 0; partition < kPartitions; ++partition) {
    if (reader.number<std::int32_t>() != partition) return false;
    commit.offsets[static_cast<std::size_t>(partition)] = reader.number<std::int64_t>();
    reader.skip(4);  // leader epoch
    reader.text();   // metadata
    if (reader.uvarint() != 0) return false;
  }
  return !reader.failed() && !commit.group.empty() && !commit.topic.empty();
}

Answers::Answers()
    : api_versions_(make_api_versions()),
      metadata_(make_metadata()),
      produce_(make_produce()),
      offset_commit_(make_offset_commit()),
      find_coordinator_(make_find_coordinator()) {}

bool Answers::append(Frame frame, Bytes& out) const {
  const Bytes* canned = nullptr;
  switch (api_key(frame)) {
    case kApiVersions:
      canned = &api_versions_;
      break;
    case kMetadata:
      canned = &metadata_;
      break;
    case kProduce:
      canned = &produce_;
      break;
    case kOffsetCommit:
      canned = &offset_commit_;
      break;
    case kFindCoordinator:
      canned = &find_coordinator_;
      break;
    default:
      return false;
  }
  append_start(frame, canned->size(), out);
  out.insert(out.end(), canned->begin(), canned->end());
  return true;
}

void Answers::append_fetch_head(Frame frame, const FetchPlace& place, std::int64_t high_watermark,
                                std::size_t records_bytes, Bytes& out) const {
  Bytes head;
  Writer writer(head);
  writer.no_tags();                // of the header
  writer.number<std::int32_t>(0);  // throttle time
  writer.number<std::int16_t>(0);  // no error
  writer.number<std::int32_t>(0);  // no session
  writer.length(1);
  writer.text(kTopic);
  writer.length(1);
  writer.number<std::int32_t>(place.partition);
  writer.number<std::int16_t>(0);
  writer.number(high_watermark);
  writer.number(high_watermark);    // last stable offset
  writer.number<std::int64_t>(0);   // log start offset
  writer.null();                    // aborted transactions
  writer.number<std::int32_t>(-1);  // preferred read replica
  writer.length(records_bytes);
  append_start(frame, head.size() + records_bytes + kFetchTailBytes, out);
  out.insert(out.end(), head.begin(), head.end());
}

Bytes record_batch(int records, int value_bytes) {
  Bytes body;
  Writer writer(body);
  writer.number<std::int16_t>(0);  // attributes
  writer.number<std::int32_t>(records - 1);
  writer.number<std::int64_t>(0);  // first timestamp
  writer.number<std::int64_t>(0);  // last timestamp
  writer.number<std::int64_t>(-1);
  writer.number<std::int16_t>(-1);
  writer.number<std::int32_t>(-1);  // no producer
  writer.number<std::int32_t>(records);
  for (int i = 0; i < records; ++i) {
    Bytes record;
    Writer fields(record);
    fields.number<std::int8_t>(0);  // attributes
    fields.varint(0);               // timestamp
    fields.varint(i);
    fields.varint(-1);  // no key
    fields.varint(value_bytes);
    for (int byte = 0; byte < value_bytes; ++byte) record.push_back(static_cast<std::uint8_t>('a' + (i + byte) % 26));
    fields.varint(0);  // headers
    writer.varint(static_cast<std::int64_t>(record.size()));
    body.insert(body.end(), record.begin(), record.end());
  }
  Bytes batch;
  Writer head(batch);
  head.number<std::int64_t>(0);                                          // base offset
  head.number(static_cast<std::int32_t>(4 + 1 + 4 + body.size()));       // what follows
  head.number<std::int32_t>(0);                                          // leader epoch
  head.number<std::int8_t>(2);                                           // magic
  head.number(static_cast<std::int32_t>(base::crc32c(Frame(body), 0)));  // from the attributes on
  batch.insert(batch.end(), body.begin(), body.end());
  return batch;
}

}  // namespace thalweg::floor
