// Metrics: counters and histograms of one core, written by that core alone and read by whoever scrapes.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "protocol/api_key.h"

namespace thalweg::broker {

// A count that one thread raises and any thread reads.
class Counter {
 public:
  void add(std::int64_t n = 1) { value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed); }
  [[nodiscard]] std::int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_{0};
};

// Durations in nanoseconds, counted in buckets that double from 1 µs on.
class Histogram {
 public:
  static constexpr std::size_t kBuckets = 26;  // 1 µs .. 33 s, and what is longer
  void record(std::int64_t nanoseconds) {
    const auto micros = static_cast<std::uint64_t>(nanoseconds < 0 ? 0 : nanoseconds) / 1000;
    const std::size_t bucket = std::min<std::size_t>(static_cast<std::size_t>(std::bit_width(micros)), kBuckets - 1);
    buckets_[bucket].add();
    sum_.add(nanoseconds);
  }
  // Upper bound of a bucket in seconds; the last has none.
  static double upper_bound_s(std::size_t bucket) { return static_cast<double>(std::uint64_t{1} << bucket) * 1e-6; }
  [[nodiscard]] std::int64_t bucket(std::size_t i) const { return buckets_[i].value(); }
  [[nodiscard]] std::int64_t sum_ns() const { return sum_.value(); }

 private:
  std::array<Counter, kBuckets> buckets_;
  Counter sum_;
};

struct ApiMetrics {
  Counter requests;
  Counter errors;  // requests that could not be read or answered
  Histogram latency;
};

inline constexpr std::size_t kApiSlots = 96;

struct CoreMetrics {
  std::array<ApiMetrics, kApiSlots> apis;
  Counter connections_accepted;
  Counter connections_closed;
  Counter connections_refused;
  Counter bytes_received;
  Counter bytes_sent;
  Counter records_bytes_in;
  Counter records_bytes_out;
  Counter batches_appended;
  Counter fetches_parked;
  Counter fetches_expired;
  Counter flushes;
  Counter flush_failures;
  Histogram flush_time;
  Counter segments_deleted;       // by retention
  Counter produces_without_room;  // refused for the margin that is kept free
  Counter segment_bytes_deleted;
  Counter compactions;
  Counter compaction_failures;
  Counter compaction_bytes_read;
  Counter compaction_bytes_written;
  Counter unsound_reads;       // of fetches and searches, that met a batch which is not as it was written
  Counter scrub_bytes;         // read by the scrub
  Counter scrub_faults;        // batches that the scrub found not to be as they were written
  Counter timestamps_refused;  // batches refused with INVALID_TIMESTAMP
  Counter timestamps_future;   // batches stored whose latest record is ahead of the clock
  Counter timestamps_missing;  // batches stored with no timestamp at all
  Histogram append_wait;       // from the append to the acknowledgement
  Counter bytes_in_flight_waits;
  std::atomic<std::int64_t> bytes_in_flight{0};
  std::atomic<std::int64_t> partitions{0};
  std::atomic<std::int64_t> fetch_sessions{0};
};

}  // namespace thalweg::broker
