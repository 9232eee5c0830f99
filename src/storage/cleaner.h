// Cleaner: compacts the closed segments of one log: of each key the last record stays.
//
//   1. The dirty segments, those behind what was cleaned before, are read, and the last offset of every key is noted
//      (KeyMap). Where the map is full, the pass ends there.
//   2. All segments up to that point are copied without the records that the map knows newer ones for. Small ones are
//      put together, up to segment.bytes. A copy is written as `.cleaned`, synced, and renamed to `.swap`; then it is
//      the owner's to swap in (Log::replace_segments), before it asks for more. A crash at any point leaves a whole
//      log: see LogFolder.
//
// As in Kafka 4.4, bit for bit where that can be seen:
//   - A tombstone stays for delete.retention.ms from the pass that first meets it. That pass writes the time when it
//     may go into the batch (delete horizon, KIP-534); so it does for the marker of a transaction of which no batch is
//     left.
//   - Records of aborted transactions go at once, markers last.
//   - The last batch of a producer keeps its header, even without records, for its sequence; and so does the last batch
//     of each new segment, which tells where that ends.
//   - A batch of which nothing goes is copied as it is. Of others the offsets, sequences and codec stay.
//
// It reads and writes files and nothing else, in steps of bounded size, on whatever thread it is called; not on two at
// once.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "protocol/compression.h"
#include "storage/batch_scanner.h"
#include "storage/cleaned_segment.h"
#include "storage/cleaned_transactions.h"
#include "storage/key_map.h"
#include "storage/log_config.h"
#include "storage/offset_index.h"
#include "storage/segment_files.h"
#include "storage/time_index.h"

namespace thalweg::storage {

// What a log knows of a producer that it has not forgotten.
struct LastOfProducer {
  std::optional<std::int64_t> last_offset;  // of its last batch with records
  std::int16_t epoch = protocol::kNoProducerEpoch;
};

struct CleanerJob {
  std::string folder;
  LogConfig config;
  // From the first of the log on, one behind the other, all decided (below the last stable offset).
  std::vector<CleanableSegment> segments;
  // Where the last pass has ended.
  std::int64_t first_dirty_offset = 0;
  // Those that overlap the segments, by first offset.
  std::vector<AbortedTransaction> aborted;
  std::unordered_map<std::int64_t, LastOfProducer> producers;
  std::int64_t now_ms = 0;  // wall clock
  KeyMap::Limits map;
  KeySecret secret{};
};

class Cleaner {
 public:
  Cleaner(runtime::FileSystem& files, CleanerJob job);
  // Removes what was not given out.
  ~Cleaner();
  Cleaner(const Cleaner&) = delete;
  Cleaner& operator=(const Cleaner&) = delete;

  struct Progress {
    std::uint64_t bytes_read = 0;
    std::uint64_t bytes_written = 0;
    std::optional<CleanedSegment> ready;  // to be swapped in now
    bool done = false;
  };
  // Goes on until about `bytes` have been read, a segment is ready, or all is done.
  //   errors   EBADMSG: a batch makes no sense or its checksum is wrong; those of files. There is no going on.
  runtime::IoResult<Progress> step(std::uint64_t bytes);

  // Once done: everything before it is clean.
  [[nodiscard]] std::int64_t clean_end() const { return clean_end_; }
  // Keys in the map.
  [[nodiscard]] std::size_t keys() const { return map_.size(); }

 private:
  enum class State : std::uint8_t { mapping, copying, done };
  struct Output;
  enum class Fate : std::uint8_t { copied, rewritten, emptied, dropped };

  runtime::IoResult<void> open_segment();
  runtime::IoResult<bool> next_batch();
  runtime::IoResult<void> map_batch();
  void group_segments();
  runtime::IoResult<void> begin_output();
  runtime::IoResult<void> copy_batch();
  runtime::IoResult<Fate> judge(const protocol::BatchView& batch, base::Bytes& rewritten);
  runtime::IoResult<void> finish_output(Progress& progress);
  void discard_output();
  [[nodiscard]] bool is_last_of_producer(const protocol::BatchView& batch) const;
  [[nodiscard]] std::string path(std::int64_t base_offset, SegmentFile file) const;

  runtime::FileSystem& files_;
  CleanerJob job_;
  KeyMap map_;
  protocol::Decompressor decompressor_;
  protocol::Compressor compressor_;
  State state_ = State::mapping;
  bool failed_ = false;
  std::int64_t clean_end_;
  CleanedTransactions transactions_;
  std::size_t segment_ = 0;  // index of the one that is read
  std::optional<BatchScanner> scanner_;
  std::optional<BatchPlace> place_;  // of the batch that was read last
  struct Group {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  std::vector<Group> groups_;
  std::size_t group_ = 0;
  std::unique_ptr<Output> output_;
};

}  // namespace thalweg::storage
