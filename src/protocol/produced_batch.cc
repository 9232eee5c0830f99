#include "protocol/produced_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/varint.h"
#include "protocol/record_batch.h"

namespace thalweg::protocol {

namespace {

constexpr std::int16_t kFirstZstdVersion = 7;
// A record up to this size is looked at in one piece; of a larger one the key and the value are passed over as they
// appear, so that no record can make us hold its size in memory.
constexpr std::int32_t kWholeRecordBytes = 1 << 20;

using Fault = std::unexpected<RecordFault>;

Fault fault(ErrorCode code, std::string detail) {
  return std::unexpected(RecordFault{.code = code, .detail = std::move(detail), .record_errors = {}});
}
Fault invalid(std::string detail) { return fault(ErrorCode::invalid_record, std::move(detail)); }
// CRC and format are right, so it was the client that wrote what cannot be read; asking it to try again is no use.
Fault undecodable(Error error) { return fault(ErrorCode::invalid_record, std::move(error.detail)); }

// What the rules look at in one record.
struct Looked {
  std::int64_t timestamp_delta = 0;
  std::int32_t offset_delta = 0;
  bool has_key = false;
};

// Reads a record of any size from output that comes in pieces.
class LargeRecord {
 public:
  LargeRecord(Decompressor& decompressor, std::int32_t length)
      : decompressor_(decompressor), left_(static_cast<std::size_t>(length)) {}

  // Consumes the record. Returns what is wrong with it, or nullptr.
  const char* read(Looked& looked) {
    skip(1);
    looked.timestamp_delta = base::zigzag_decode64(uvarint(base::kMaxVarint64Bytes));
    looked.offset_delta = varint();
    const std::int32_t key_size = varint();
    looked.has_key = key_size >= 0;
    skip(std::max(key_size, 0));
    skip(std::max(varint(), 0));
    const std::int32_t headers = varint();
    if (headers < 0) failed_ = true;
    for (std::int32_t i = 0; i < headers && !failed_; ++i) {
      const std::int32_t size = varint();
      if (size < 0) failed_ = true;
      skip(std::max(size, 0));
      skip(std::max(varint(), 0));
    }
    return failed_ || left_ != 0 ? "disagrees with its length" : nullptr;
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  // Makes at least one byte available.
  bool ready() {
    if (failed_) return false;
    if (!decompressor_.available().empty()) return true;
    Result<bool> more = decompressor_.fill();
    failed_ = !more.has_value() || !*more;
    if (!more.has_value()) error_ = std::move(more).error();
    return !failed_;
  }
  void skip(std::int64_t count) {
    if (static_cast<std::size_t>(count) > left_) failed_ = true;
    while (count > 0 && ready()) {
      const std::size_t step = std::min(static_cast<std::size_t>(count), decompressor_.available().size());
      decompressor_.consume(step);
      left_ -= step;
      count -= static_cast<std::int64_t>(step);
    }
  }
  std::uint64_t uvarint(std::size_t bytes_max) {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes_max; ++i) {
      if (left_ == 0) failed_ = true;
      if (!ready()) return 0;
      const std::uint8_t byte = decompressor_.available().front();
      skip(1);
      value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
      if (byte < 0x80) return value;
    }
    failed_ = true;
    return 0;
  }
  std::int32_t varint() { return base::zigzag_decode32(static_cast<std::uint32_t>(uvarint(base::kMaxVarint32Bytes))); }

  Decompressor& decompressor_;
  std::size_t left_;
  bool failed_ = false;
  std::optional<Error> error_;
};

// The records of one batch, one after the other, while they are decompressed.
class Walk {
 public:
  Walk(BatchView batch, const ProduceRules& rules, Decompressor& decompressor)
      : batch_(batch), rules_(rules), decompressor_(decompressor) {}

  base::Result<BatchSummary, RecordFault> run() {
    const CompressionType codec = batch_.compression();
    const auto begun = decompressor_.begin(codec, batch_.records(), {.max_bytes = rules_.max_decompressed_bytes});
    if (!begun.has_value()) return undecodable(begun.error());
    look();
    const bool compressed = codec != CompressionType::none;
    summary_.record_count = batch_.record_count();
    for (index_ = 0; index_ < summary_.record_count; ++index_) {
      std::int32_t length = 0;
      TRY(read_length(length));
      if (length < 0) return invalid(fmt::format("record {} has length {}", index_, length));
      if (compressed && length > rules_.max_record_bytes) {
        return invalid(
            fmt::format("record {} decompresses to {} bytes, {} are allowed", index_, length, rules_.max_record_bytes));
      }
      Looked looked;
      TRY(read_body(length, looked));
      if (looked.offset_delta != index_) {
        return invalid(fmt::format("record {} has offset delta {}", index_, looked.offset_delta));
      }
      judge(looked);
    }
    ASSIGN_OR_RETURN(const bool more, refill());
    if (more || at_ != end_) return invalid(fmt::format("bytes behind the last of {} records", summary_.record_count));
    if (errors_total_ > 0) return std::unexpected(record_fault());
    summary_.decompressed_bytes = decompressor_.produced();
    if (rules_.timestamp_type == TimestampType::log_append_time) {
      summary_.max_timestamp = rules_.now_ms;
      summary_.max_timestamp_offset_delta = 0;
    }
    return summary_;
  }

 private:
  // Gives back what has been read and asks for more; false: there is none.
  base::Result<bool, RecordFault> refill() {
    decompressor_.consume(static_cast<std::size_t>(at_ - decompressor_.available().data()));
    Result<bool> more = decompressor_.fill();
    if (!more.has_value()) return undecodable(std::move(more).error());
    look();
    return *more;
  }
  void look() {
    at_ = decompressor_.available().data();
    end_ = at_ + decompressor_.available().size();
  }
  Fault ends_early() const { return invalid(fmt::format("record {} of {} is cut off", index_, summary_.record_count)); }

  base::Result<void, RecordFault> read_length(std::int32_t& length) {
    for (;;) {
      std::uint32_t raw = 0;
      if (const std::uint8_t* body = base::get_uvarint32(at_, end_, raw); body != nullptr) {
        length = base::zigzag_decode32(raw);
        at_ = body;
        return {};
      }
      if (end_ - at_ >= static_cast<std::ptrdiff_t>(base::kMaxVarint32Bytes)) {
        return invalid(fmt::format("record {} has a damaged length", index_));
      }
      ASSIGN_OR_RETURN(const bool more, refill());
      if (!more) return ends_early();
    }
  }

  base::Result<void, RecordFault> read_body(std::int32_t length, Looked& looked) {
    while (length > end_ - at_) {
      if (length > kWholeRecordBytes && batch_.compression() != CompressionType::none)
        return read_large(length, looked);
      ASSIGN_OR_RETURN(const bool more, refill());
      if (!more) return ends_early();
    }
    internal::RecordFields fields;
    if (const char* wrong = internal::read_record(at_, at_ + length, fields); wrong != nullptr) {
      return invalid(fmt::format("record {} {}", index_, wrong));
    }
    at_ += length;
    looked = {.timestamp_delta = fields.timestamp_delta,
              .offset_delta = fields.offset_delta,
              .has_key = fields.key_size >= 0};
    return {};
  }

  base::Result<void, RecordFault> read_large(std::int32_t length, Looked& looked) {
    decompressor_.consume(static_cast<std::size_t>(at_ - decompressor_.available().data()));
    LargeRecord record(decompressor_, length);
    const char* const wrong = record.read(looked);
    if (record.error().has_value()) return undecodable(*record.error());
    if (wrong != nullptr) return invalid(fmt::format("record {} {}", index_, wrong));
    look();
    return {};
  }

  void judge(const Looked& looked) {
    if (rules_.compacted && !looked.has_key) {
      refuse(ErrorCode::invalid_record, [] { return std::string("a compacted topic takes no record without a key"); });
      return;
    }
    const bool append_time = batch_.timestamp_type() == TimestampType::log_append_time;
    if (rules_.timestamp_type == TimestampType::log_append_time ||
        (append_time && batch_.max_timestamp() == kNoTimestamp)) {
      if (append_time) {
        refuse(ErrorCode::invalid_timestamp, [] { return std::string("only the broker may set LogAppendTime"); });
      }
      return;
    }
    // The header's timestamp type will be the topic's, so it is the record's own time that will count.
    const auto timestamp = static_cast<std::int64_t>(static_cast<std::uint64_t>(batch_.base_timestamp()) +
                                                     static_cast<std::uint64_t>(looked.timestamp_delta));
    if (timestamp > summary_.max_timestamp) {
      summary_.max_timestamp = timestamp;
      summary_.max_timestamp_offset_delta = index_;
    }
    if (timestamp == kNoTimestamp) return;
    std::int64_t age = 0;
    const bool overflow = __builtin_sub_overflow(rules_.now_ms, timestamp, &age);
    if (overflow || age > rules_.timestamp_before_max_ms || age < -rules_.timestamp_after_max_ms) [[unlikely]] {
      refuse(ErrorCode::invalid_timestamp, [&] {
        return fmt::format("timestamp {} is neither within {} ms before nor within {} ms after {}", timestamp,
                           rules_.timestamp_before_max_ms, rules_.timestamp_after_max_ms, rules_.now_ms);
      });
    }
  }

  template <class Message>
  void refuse(ErrorCode code, Message message) {
    ++errors_total_;
    bad_timestamp_ = bad_timestamp_ || code == ErrorCode::invalid_timestamp;
    if (errors_.size() < kRecordErrorsMax) errors_.push_back({.batch_index = index_, .message = message()});
  }

  RecordFault record_fault() {
    return {.code = bad_timestamp_ ? ErrorCode::invalid_timestamp : ErrorCode::invalid_record,
            .detail = fmt::format("{} of {} records are refused, the first ({}) because: {}", errors_total_,
                                  summary_.record_count, errors_.front().batch_index, errors_.front().message),
            .record_errors = std::move(errors_)};
  }

  const BatchView batch_;
  const ProduceRules& rules_;
  Decompressor& decompressor_;
  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
  std::int32_t index_ = 0;
  BatchSummary summary_;
  std::vector<RecordError> errors_;
  std::size_t errors_total_ = 0;
  bool bad_timestamp_ = false;
};

}  // namespace

Result<BatchView> parse_produced(std::span<const std::uint8_t> records, std::int16_t api_version) {
  ASSIGN_OR_RETURN(const std::optional<BatchFrame> frame, peek_batch(records));
  if (!frame.has_value()) return fail(ErrorCode::invalid_record, "no whole batch");
  if (frame->magic != 2) return fail(ErrorCode::invalid_record, fmt::format("magic {} instead of 2", frame->magic));
  ASSIGN_OR_RETURN(const BatchView batch, parse_batch(records.first(frame->size_bytes)));
  if (api_version < kFirstZstdVersion && batch.codec() == static_cast<int>(CompressionType::zstd)) {
    return fail(ErrorCode::unsupported_compression_type, "zstd needs Produce 7");
  }
  ASSIGN_OR_RETURN(const std::optional<BatchFrame> second, peek_batch(records.subspan(frame->size_bytes)));
  if (second.has_value()) return fail(ErrorCode::invalid_record, "more than one batch");
  return batch;
}

base::Result<BatchSummary, RecordFault> validate_produced_batch(BatchView batch, const ProduceRules& rules,
                                                                Decompressor& decompressor) {
  if (batch.base_offset() != 0) return invalid(fmt::format("base offset {} instead of 0", batch.base_offset()));
  if (static_cast<std::int64_t>(batch.size_bytes()) > rules.max_batch_bytes) {
    return fault(ErrorCode::message_too_large,
                 fmt::format("a batch of {} bytes, {} are allowed", batch.size_bytes(), rules.max_batch_bytes));
  }
  if (auto crc = validate_crc(batch); !crc.has_value()) return fault(crc.error().code, std::move(crc.error().detail));
  if (batch.codec() > static_cast<int>(CompressionType::zstd)) {
    return fault(ErrorCode::unsupported_compression_type, fmt::format("codec {}", batch.codec()));
  }
  const std::int32_t count = batch.record_count();
  if (count <= 0 || batch.last_offset_delta() != count - 1) {
    return invalid(fmt::format("{} records and last offset delta {}", count, batch.last_offset_delta()));
  }
  if (batch.is_control()) return invalid("a control batch from a client");
  if (batch.has_producer_id() && batch.base_sequence() < 0) {
    return invalid(fmt::format("producer {} with base sequence {}", batch.producer_id(), batch.base_sequence()));
  }
  return Walk(batch, rules, decompressor).run();
}

void set_produced_timestamps(std::uint8_t* batch, const ProduceRules& rules, const BatchSummary& summary) {
  if (rules.timestamp_type == TimestampType::log_append_time) {
    apply_log_append_time(batch, summary.max_timestamp);
  } else {
    apply_create_time(batch, summary.max_timestamp);
  }
}

}  // namespace thalweg::protocol
