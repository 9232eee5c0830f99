#include "storage/control_record.h"

#include "base/endian.h"
#include "base/varint.h"
#include "protocol/batch_view.h"

namespace thalweg::storage {

namespace {

enum ControlType : std::int16_t { abort_type = 0, commit_type = 1 };

// Reads what a record is made of; every getter fails for good once one has.
class RecordReader {
 public:
  explicit RecordReader(std::span<const std::uint8_t> bytes) : p_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  std::int64_t varlong() {
    std::uint64_t value = 0;
    if (p_ != nullptr) p_ = base::get_uvarint64(p_, end_, value);
    return p_ == nullptr ? 0 : base::zigzag_decode64(value);
  }
  void skip(std::int64_t count) {
    if (p_ == nullptr || count < 0 || count > end_ - p_) {
      p_ = nullptr;
    } else {
      p_ += count;
    }
  }
  // A field of a length in front of it; empty where there is none.
  std::span<const std::uint8_t> field() {
    const std::int64_t size = varlong();
    const std::uint8_t* from = p_;
    skip(size);
    if (p_ == nullptr) return {};
    return {from, static_cast<std::size_t>(size)};
  }
  [[nodiscard]] bool ok() const { return p_ != nullptr; }

 private:
  const std::uint8_t* p_;
  const std::uint8_t* end_;
};

}  // namespace

std::optional<EndTransactionMarker> read_end_transaction_marker(std::span<const std::uint8_t> batch) {
  if (batch.size() < protocol::kBatchHeaderSize) return std::nullopt;
  const protocol::BatchView view(batch.data());
  if (view.record_count() < 1 || view.codec() != 0 || view.size_bytes() > batch.size()) return std::nullopt;
  RecordReader record(view.records());
  record.varlong();  // length
  record.skip(1);    // attributes
  const std::int64_t timestamp_delta = record.varlong();
  record.varlong();  // offset delta
  const std::span<const std::uint8_t> key = record.field();
  const std::span<const std::uint8_t> value = record.field();
  if (!record.ok() || key.size() < 4 || value.size() < 6) return std::nullopt;
  const auto type = base::load_be<std::int16_t>(key.data() + 2);
  if (type != abort_type && type != commit_type) return std::nullopt;
  const bool appended = view.timestamp_type() == protocol::TimestampType::log_append_time;
  return EndTransactionMarker{.commit = type == commit_type,
                              .coordinator_epoch = base::load_be<std::int32_t>(value.data() + 2),
                              .timestamp = appended ? view.max_timestamp() : view.base_timestamp() + timestamp_delta};
}

}  // namespace thalweg::storage
