#include "storage/cleaner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <map>

#include "protocol/record_batch.h"
#include "protocol/record_batch_builder.h"
#include "runtime/simulated_file.h"
#include "storage/cleaning_plan.h"
#include "storage/log.h"

namespace thalweg::storage {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::int64_t kNow = 1'700'000'000'000;
const std::string kFolder = "data/t-0";

using Value = std::optional<std::string>;

struct KeyValue {
  std::string key;
  Value value;
};

// One record as a consumer meets it.
struct Met {
  std::int64_t offset = 0;
  std::string key;
  Value value;
  friend bool operator==(const Met&, const Met&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Met& met) {
    return out << met.offset << ' ' << met.key << '=' << met.value.value_or("null");
  }
};

std::span<const std::uint8_t> bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}
std::string text(std::span<const std::uint8_t> bytes) { return {bytes.begin(), bytes.end()}; }

struct Producer {
  std::int64_t id = -1;
  std::int32_t sequence = 0;
};

// A log on a simulated disk, and how it is compacted.
class World {
 public:
  explicit World(std::uint64_t seed = 1) : files_(seed) {
    config_.segment_bytes = 2000;
    config_.index_interval_bytes = 300;
    config_.cleanup_delete = false;
    config_.cleanup_compact = true;
    config_.delete_retention_ms = 1000;
    EXPECT_TRUE(files_.create_directories("data").has_value());
    EXPECT_TRUE(files_.sync_directory("/").has_value());
  }

  void open(bool clean_shutdown = false) {
    log_ = nullptr;
    auto opened = Log::open(context_, kFolder, {"t", 0}, std::make_shared<LogConfig>(config_),
                            {.clean_shutdown = clean_shutdown, .recovery_point = recovery_point_, .now_ms = kNow});
    ASSERT_TRUE(opened.has_value()) << opened.error().message();
    log_ = std::move(*opened);
    log_->on_high_watermark(log_->log_end_offset());
    ASSERT_FALSE(log_->recovery_report().durable_end_lost);
  }

  std::int64_t append_batch(std::vector<std::uint8_t> batch) {
    const MutableBatch batches[] = {batch};
    const AppendResult result = log_->append(batches, {.leader_epoch = 1, .now_ms = kNow});
    EXPECT_TRUE(result.ok()) << result.detail;
    log_->on_high_watermark(log_->log_end_offset());
    return result.first_offset;
  }
  std::int64_t append(const std::vector<KeyValue>& records, protocol::BatchOptions options = {}) {
    protocol::RecordBatchBuilder builder(options);
    for (const KeyValue& record : records) {
      protocol::RecordInput input;
      input.timestamp = kNow;
      input.key = bytes(record.key);
      if (record.value) input.value = bytes(*record.value);
      builder.append(input);
    }
    const base::Bytes batch = builder.build();
    return append_batch({batch.data(), batch.data() + batch.size()});
  }
  std::int64_t append_transactional(Producer& producer, const std::vector<KeyValue>& records) {
    protocol::BatchOptions options;
    options.producer_id = producer.id;
    options.producer_epoch = 0;
    options.base_sequence = producer.sequence;
    options.transactional = true;
    producer.sequence += static_cast<std::int32_t>(records.size());
    return append(records, options);
  }
  void append_marker(const Producer& producer, bool commit) {
    const base::Bytes marker = protocol::build_control_batch(
        {.commit = commit, .timestamp = kNow, .producer_id = producer.id, .producer_epoch = 0});
    const std::vector<std::uint8_t> batch(marker.data(), marker.data() + marker.size());
    MutableBatch batches[] = {const_cast<std::vector<std::uint8_t>&>(batch)};
    const AppendResult result =
        log_->append(batches, {.origin = AppendOrigin::coordinator, .leader_epoch = 1, .now_ms = kNow});
    EXPECT_TRUE(result.ok()) << result.detail;
    log_->on_high_watermark(log_->log_end_offset());
  }

  void flush() {
    auto targets = log_->flush_targets();
    ASSERT_TRUE(targets.has_value()) << targets.error().message();
    if (!*targets) return;
    for (const auto& file : (*targets)->files) ASSERT_TRUE(file->sync().has_value());
    for (const auto& folder : (*targets)->folders) ASSERT_TRUE(files_.sync_directory(folder).has_value());
    for (const auto& replacement : (*targets)->replacements)
      ASSERT_TRUE(files_.replace_file(replacement.path, replacement.contents).has_value());
    log_->mark_flushed((*targets)->mark);
    recovery_point_ = log_->recovery_point();
  }
  // Closes the active segment, so that everything can be compacted.
  void roll() {
    ASSERT_TRUE(log_->roll(kNow).has_value());
    flush();
  }

  CleanerJob job(std::int64_t now_ms, std::size_t map_bytes = 1 << 20) {
    CleaningPlan plan = plan_cleaning({.segments = log_->cleanable_segments(),
                                       .clean_end = clean_end_,
                                       .last_stable_offset = log_->last_stable_offset(log_->log_end_offset()),
                                       .now_ms = now_ms},
                                      config_);
    CleanerJob job;
    job.folder = kFolder;
    job.config = config_;
    job.first_dirty_offset = plan.first_dirty_offset;
    job.now_ms = now_ms;
    job.map = {.most_bytes = map_bytes, .load_factor = 0.9};
    if (!plan.segments.empty()) {
      auto aborted = log_->aborted_transactions(plan.segments.front().base_offset, plan.segments.back().end_offset,
                                                Blocking::allowed);
      EXPECT_TRUE(aborted.has_value());
      job.aborted = std::move(*aborted);
    }
    job.segments = std::move(plan.segments);
    for (const ProducerEntry& entry : log_->producers().entries())
      job.producers[entry.producer_id] = {
          .last_offset = entry.has_batches() ? std::optional(entry.last_offset()) : std::nullopt, .epoch = entry.epoch};
    return job;
  }
  // One pass. False where a call failed.
  bool clean(std::int64_t now_ms, std::size_t map_bytes = 1 << 20, std::uint64_t step_bytes = 700) {
    return clean(job(now_ms, map_bytes), step_bytes);
  }
  bool clean(CleanerJob job, std::uint64_t step_bytes = 700) {
    swaps_ = 0;
    Cleaner cleaner(files_, std::move(job));
    while (true) {
      auto progress = cleaner.step(step_bytes);
      if (!progress) return failed(progress.error());
      if (progress->ready) {
        ++swaps_;
        auto replaced = log_->replace_segments(*progress->ready);
        if (!replaced) return failed(replaced.error());
        if (const auto synced = files_.sync_directory(kFolder); !synced) return failed(synced.error());
        for (const std::string& file : replaced->files)
          if (const auto removed = files_.remove(file); !removed) return failed(removed.error());
      }
      if (progress->done) break;
    }
    clean_end_ = std::max(clean_end_, cleaner.clean_end());
    return true;
  }

  // What a consumer of committed records reads, or of all.
  std::vector<Met> read(bool committed = true, std::int64_t from = 0) {
    std::vector<Met> met;
    protocol::Decompressor decompressor;
    for (std::int64_t offset = std::max(from, log_->log_start_offset()); offset < log_->log_end_offset();) {
      const ReadResult result =
          log_->read(offset, {.max_bytes = 1 << 20, .at_least_one = true, .blocking = Blocking::allowed});
      EXPECT_EQ(result.status, ReadResult::Status::ok) << result.detail;
      if (result.range.size == 0) break;
      const auto data = Log::read_bytes(result.range, Blocking::allowed);
      EXPECT_TRUE(data.has_value());
      const auto upper = log_->upper_bound_of(result, Blocking::allowed);
      const auto transactions = log_->aborted_transactions(offset, *upper, Blocking::allowed);
      for (std::size_t at = 0; at + protocol::kBatchHeaderSize <= data->size();) {
        const protocol::BatchView batch(data->data() + at);
        EXPECT_TRUE(batch_crc_matches(batch.bytes())) << batch.base_offset();
        const bool is_aborted = batch.is_transactional() && std::ranges::any_of(*transactions, [&](const auto& one) {
                                  return one.producer_id == batch.producer_id() &&
                                         one.first_offset <= batch.base_offset() &&
                                         batch.last_offset() <= one.last_offset;
                                });
        if (!batch.is_control() && !(committed && is_aborted)) {
          EXPECT_TRUE(protocol::for_each_record(batch, decompressor, [&](const protocol::Record& record) {
                        if (record.offset < from) return;
                        met.push_back({.offset = record.offset,
                                       .key = text(*record.key),
                                       .value = record.value ? Value(text(*record.value)) : std::nullopt});
                      }).has_value());
        }
        offset = batch.next_offset();
        at += batch.size_bytes();
      }
    }
    return met;
  }
  struct Header {
    std::int64_t base_offset;
    std::int64_t last_offset;
    std::int32_t records;
    bool control;
    bool horizon;
  };
  std::vector<Header> headers() {
    std::vector<Header> found;
    for (std::int64_t offset = log_->log_start_offset(); offset < log_->log_end_offset();) {
      const ReadResult result =
          log_->read(offset, {.max_bytes = 1, .at_least_one = true, .blocking = Blocking::allowed});
      if (result.range.size == 0) break;
      const auto data = Log::read_bytes(result.range, Blocking::allowed);
      const protocol::BatchView batch(data->data());
      found.push_back({.base_offset = batch.base_offset(),
                       .last_offset = batch.last_offset(),
                       .records = batch.record_count(),
                       .control = batch.is_control(),
                       .horizon = batch.has_delete_horizon()});
      offset = batch.next_offset();
    }
    return found;
  }
  // The newest value of every key.
  std::map<std::string, Value> table() {
    std::map<std::string, Value> table;
    for (const Met& met : read()) table[met.key] = met.value;
    return table;
  }
  std::vector<std::string> names(std::string_view suffix) {
    std::vector<std::string> found;
    for (const auto& entry : *files_.list(kFolder))
      if (entry.name.ends_with(suffix)) found.push_back(entry.name);
    return found;
  }

  runtime::SimulatedFileSystem files_;
  HandleCache handles_{files_, 4};
  IndexCache indexes_{256};
  LogContext context_{.files = files_, .handles = handles_, .indexes = indexes_};
  LogConfig config_;
  std::unique_ptr<Log> log_;
  std::int64_t recovery_point_ = 0;
  std::int64_t clean_end_ = 0;
  int swaps_ = 0;
  std::string failure_;

 private:
  bool failed(const runtime::IoError& error) {
    failure_ = error.message();
    return false;
  }
};

TEST(Cleaner, KeepsTheLastRecordOfEachKey) {
  World world;
  world.open();
  world.append({{"a", "1"}, {"b", "1"}, {"a", "2"}});
  world.append({{"c", "1"}, {"b", "2"}});
  world.roll();
  world.append({{"a", "3"}});
  ASSERT_TRUE(world.clean(kNow));
  EXPECT_THAT(world.read(), ElementsAre(Met{2, "a", "2"}, Met{3, "c", "1"}, Met{4, "b", "2"}, Met{5, "a", "3"}))
      << "the active segment is left alone";
  EXPECT_EQ(world.clean_end_, 5);
  world.roll();
  ASSERT_TRUE(world.clean(kNow));
  EXPECT_THAT(world.read(), ElementsAre(Met{3, "c", "1"}, Met{4, "b", "2"}, Met{5, "a", "3"}));
  world.open();
  EXPECT_THAT(world.read(), SizeIs(3));
  EXPECT_EQ(world.append({{"d", "1"}}), 6);
}

TEST(Cleaner, RecordsWithoutAKeyGo) {
  World world;
  world.open();
  protocol::RecordBatchBuilder builder({});
  protocol::RecordInput keyless;
  const std::string value = "x";
  keyless.value = bytes(value);
  builder.append(keyless);
  const base::Bytes batch = builder.build();
  world.append_batch({batch.data(), batch.data() + batch.size()});
  world.append({{"a", "1"}});
  world.roll();
  ASSERT_TRUE(world.clean(kNow));
  EXPECT_THAT(world.read(), ElementsAre(Met{1, "a", "1"}));
}

TEST(Cleaner, TombstonesStayForDeleteRetentionMs) {
  World world;
  world.open();
  world.append({{"a", "1"}, {"b", "1"}});
  world.append({{"a", std::nullopt}, {"c", "1"}});
  world.roll();
  ASSERT_TRUE(world.clean(kNow));
  EXPECT_THAT(world.read(), ElementsAre(Met{1, "b", "1"}, Met{2, "a", std::nullopt}, Met{3, "c", "1"}));
  EXPECT_TRUE(world.headers()[1].horizon);
  for (const std::int64_t later : {std::int64_t{999}, std::int64_t{1000}}) {
    world.append({{"d", "1"}});
    world.roll();
    ASSERT_TRUE(world.clean(kNow + later));
    const auto table = world.table();
    EXPECT_EQ(table.contains("a"), later < 1000) << later;
    EXPECT_EQ(table.at("c"), "1");
  }
}

TEST(Cleaner, TimestampsOutliveTheDeleteHorizon) {
  World world;
  world.open();
  world.append({{"a", std::nullopt}, {"b", "1"}});
  world.roll();
  ASSERT_TRUE(world.clean(kNow + 5'000'000));
  const RecordFinder find = [](std::span<const std::uint8_t> batch, std::int64_t timestamp,
                               std::int64_t) -> std::optional<TimestampedOffset> {
    protocol::Decompressor decompressor;
    std::optional<TimestampedOffset> found;
    EXPECT_TRUE(protocol::for_each_record(protocol::BatchView(batch.data()), decompressor, [&](const auto& record) {
                  if (!found && record.timestamp >= timestamp)
                    found =
                        TimestampedOffset{.timestamp = record.timestamp, .offset = record.offset, .leader_epoch = -1};
                }).has_value());
    return found;
  };
  const auto found = world.log_->offset_for_time(kNow, find, Blocking::allowed);
  ASSERT_TRUE(found.has_value() && found->has_value());
  EXPECT_EQ((*found)->timestamp, kNow);
  EXPECT_EQ((*found)->offset, 0);
}

TEST(Cleaner, EveryCodecIsReadAndKept) {
  for (const auto codec : {protocol::CompressionType::gzip, protocol::CompressionType::snappy,
                           protocol::CompressionType::lz4, protocol::CompressionType::zstd}) {
    World world;
    world.open();
    protocol::BatchOptions options;
    options.compression = codec;
    world.append({{"a", std::string(300, 'x')}, {"b", "1"}, {"c", "1"}}, options);
    world.append({{"a", "2"}});
    world.roll();
    ASSERT_TRUE(world.clean(kNow));
    EXPECT_THAT(world.read(), ElementsAre(Met{1, "b", "1"}, Met{2, "c", "1"}, Met{3, "a", "2"}));
    const ReadResult first = world.log_->read(0, {.blocking = Blocking::allowed});
    const auto data = Log::read_bytes(first.range, Blocking::allowed);
    EXPECT_EQ(protocol::BatchView(data->data()).compression(), codec);
  }
}

TEST(Cleaner, RecordsOfAbortedTransactionsGoAtOnceAndTheirMarkersLater) {
  World world;
  world.open();
  Producer bad{.id = 7}, good{.id = 8};
  world.append({{"a", "0"}});
  world.append_transactional(bad, {{"a", "lost"}, {"b", "lost"}});
  world.append_transactional(good, {{"b", "1"}});
  world.append_marker(bad, false);
  world.append_marker(good, true);
  // The producers go on, so that nothing of this is the last that is known of them.
  for (Producer* producer : {&bad, &good}) {
    world.append_transactional(*producer, {{"z", "1"}});
    world.append_marker(*producer, true);
  }
  world.roll();
  ASSERT_TRUE(world.clean(kNow));
  const std::vector<Met> expected = {Met{0, "a", "0"}, Met{3, "b", "1"}, Met{8, "z", "1"}};
  EXPECT_EQ(world.read(), expected);
  EXPECT_EQ(world.read(false), expected) << "nothing aborted is left";
  const auto markers = [&] {
    return std::ranges::count_if(world.headers(), [](const auto& h) { return h.control && h.records > 0; });
  };
  EXPECT_EQ(markers(), 4);
  const auto again = [&](std::int64_t now_ms) {
    world.append({{"y", "1"}});
    world.roll();
    ASSERT_TRUE(world.clean(now_ms));
  };
  again(kNow + 10);
  EXPECT_EQ(markers(), 4) << "the marker has a time of its own from now on";
  again(kNow + 1009);
  EXPECT_EQ(markers(), 4);
  again(kNow + 1010);
  EXPECT_LT(markers(), 4);
  for (const Met& met : expected) EXPECT_THAT(world.read(), testing::Contains(met));
}

TEST(Cleaner, TheLastBatchOfAProducerKeepsItsHeader) {
  World world;
  world.open();
  protocol::BatchOptions options;
  options.producer_id = 5;
  options.producer_epoch = 3;
  options.base_sequence = 0;
  world.append({{"a", "1"}, {"b", "1"}}, options);
  world.append({{"a", "2"}, {"b", "2"}});
  world.append({{"c", "2"}});
  world.roll();
  ASSERT_TRUE(world.clean(kNow));
  const auto headers = world.headers();
  ASSERT_THAT(headers, SizeIs(3));
  EXPECT_EQ(headers[0].records, 0);
  EXPECT_EQ(headers[0].last_offset, 1);
  world.recovery_point_ = 0;
  for (const auto& name : world.names(".snapshot")) ASSERT_TRUE(world.files_.remove(kFolder + "/" + name).has_value());
  world.open();
  const ProducerEntry* const producer = world.log_->producers().find(5);
  ASSERT_NE(producer, nullptr);
  EXPECT_EQ(producer->epoch, 3);
  EXPECT_EQ(producer->last_sequence(), 1);
}

TEST(Cleaner, SmallSegmentsArePutTogether) {
  World world;
  world.open();
  for (int i = 0; i < 60; ++i)
    world.append({{"key" + std::to_string(i % 7), std::string(100, 'v') + std::to_string(i)}});
  world.roll();
  const std::size_t before = world.log_->segment_count();
  ASSERT_GT(before, 5U);
  ASSERT_TRUE(world.clean(kNow));
  EXPECT_THAT(world.read(), SizeIs(7));
  world.append({{"key0", "again"}});
  world.roll();
  ASSERT_TRUE(world.clean(kNow));
  EXPECT_LE(world.log_->segment_count(), 2U) << "what is left fits into one, beside the active one";
  EXPECT_THAT(world.names(".cleaned"), IsEmpty());
  EXPECT_THAT(world.names(".swap"), IsEmpty());
  EXPECT_THAT(world.names(".deleted"), IsEmpty());
  world.open(true);
  EXPECT_THAT(world.read(), SizeIs(7));
}

TEST(Cleaner, WhatDoesNotChangeIsNotWrittenAgain) {
  World world;
  world.open();
  for (int i = 0; i < 30; ++i) world.append({{"key" + std::to_string(i), std::string(100, 'v')}});
  world.roll();
  ASSERT_TRUE(world.clean(kNow));
  EXPECT_EQ(world.swaps_, 0);
  EXPECT_THAT(world.names(".cleaned"), IsEmpty());
  EXPECT_THAT(world.read(), SizeIs(30));
}

TEST(Cleaner, AFullMapEndsThePassWhereItIsFull) {
  World world;
  world.open();
  for (int round = 0; round < 3; ++round)
    for (int i = 0; i < 100; i += 2)
      world.append({{"key" + std::to_string(i), "v" + std::to_string(round)},
                    {"key" + std::to_string(i + 1), "v" + std::to_string(round)}});
  world.roll();
  const std::int64_t end = world.log_->log_end_offset();
  int passes = 0;
  while (world.clean_end_ < end) {
    const std::int64_t before = world.clean_end_;
    ASSERT_TRUE(world.clean(kNow, 24 * 40));
    ASSERT_GT(world.clean_end_, before);
    ++passes;
    for (const auto& [key, value] : world.table()) ASSERT_EQ(value, "v2") << key;
  }
  EXPECT_GT(passes, 3);
  EXPECT_THAT(world.read(), SizeIs(100));
}

TEST(Cleaner, DamageEndsThePassAndLeavesTheLogAsItIs) {
  World world;
  world.open();
  for (int i = 0; i < 30; ++i) world.append({{"a", std::string(100, 'v')}});
  world.roll();
  world.files_.damage(segment_file_path(kFolder, 0, SegmentFile::log), 100, 0x10);
  EXPECT_FALSE(world.clean(kNow));
  EXPECT_THAT(world.failure_, testing::HasSubstr("wrong checksum"));
  EXPECT_THAT(world.names(".cleaned"), IsEmpty());
  EXPECT_THAT(world.names(".swap"), IsEmpty());
}

TEST(Cleaner, EveryOffsetLeadsToTheNextRecordThatIsLeft) {
  World world;
  world.open();
  for (int i = 0; i < 200; ++i) world.append({{"key" + std::to_string(i % 90), std::to_string(i)}});
  world.roll();
  ASSERT_TRUE(world.clean(kNow));
  const std::vector<Met> all = world.read();
  ASSERT_THAT(all, SizeIs(90));
  for (std::int64_t offset = 0; offset < 200; ++offset) {
    const auto rest = std::ranges::lower_bound(all, offset, {}, &Met::offset);
    ASSERT_EQ(world.read(true, offset), std::vector<Met>(rest, all.end())) << offset;
  }
}

// -- against a model
// ---------------------------------------------------------------------------------------------------

class Story {
 public:
  explicit Story(std::uint64_t seed) : world(seed), state_(seed * 7919 + 1) {
    world.config_.segment_bytes = static_cast<std::int32_t>(600 + random(2500));
    world.config_.index_interval_bytes = static_cast<std::int32_t>(50 + random(400));
    world.open();
  }
  std::uint64_t random(std::uint64_t bound) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return (state_ >> 11) % bound;
  }
  std::vector<KeyValue> some_records() {
    std::vector<KeyValue> records(1 + random(6));
    for (KeyValue& record : records) {
      record.key = "k" + std::to_string(random(25));
      if (random(5) > 0) record.value = std::to_string(++counter_) + std::string(random(60), '.');
    }
    return records;
  }
  void note(std::int64_t offset, const std::vector<KeyValue>& records) {
    for (const KeyValue& record : records)
      committed.push_back({.offset = offset++, .key = record.key, .value = record.value});
  }
  void write(int steps) {
    for (int i = 0; i < steps; ++i) {
      const auto records = some_records();
      protocol::BatchOptions options;
      options.compression = static_cast<protocol::CompressionType>(random(5));
      const std::uint64_t kind = random(10);
      if (kind < 6) {
        note(world.append(records, options), records);
      } else {
        Producer& producer = producers_[random(producers_.size())];
        const std::int64_t offset = world.append_transactional(producer, records);
        open_[producer.id].emplace_back(offset, records);
        if (random(2) == 0) end(producer, random(3) > 0);
      }
    }
  }
  void end(const Producer& producer, bool commit) {
    if (open_[producer.id].empty()) return;
    world.append_marker(producer, commit);
    if (commit)
      for (const auto& [offset, records] : open_[producer.id]) note(offset, records);
    open_[producer.id].clear();
    std::ranges::sort(committed, {}, &Met::offset);
  }
  void end_all() {
    for (const Producer& producer : producers_) end(producer, random(2) == 0);
  }
  // What the log has to say about each key below `upper`: the newest committed record.
  std::map<std::string, Met> newest(std::int64_t upper = INT64_MAX) const {
    std::map<std::string, Met> newest;
    for (const Met& met : committed)
      if (met.offset < upper) newest[met.key] = met;
    return newest;
  }
  // The log against what was written. From the offset `whole_from` on nothing may be missing.
  void check(std::int64_t whole_from) {
    const std::vector<Met> read = world.read();
    std::map<std::string, Met> last;
    std::map<std::string, int> below;
    for (const Met& met : read) {
      ASSERT_TRUE(std::ranges::binary_search(committed, met.offset, {}, &Met::offset)) << met;
      ASSERT_EQ(*std::ranges::lower_bound(committed, met.offset, {}, &Met::offset), met);
      last[met.key] = met;
      if (met.offset < world.clean_end_) ++below[met.key];
    }
    for (const auto& [key, count] : below) ASSERT_EQ(count, 1) << key << " twice in what is clean";
    for (const auto& [key, met] : newest()) {
      if (!met.value && !last.contains(key)) continue;  // a tombstone may have gone
      ASSERT_TRUE(last.contains(key)) << met;
      ASSERT_EQ(last[key], met);
    }
    for (const Met& met : committed)
      if (met.offset >= whole_from) ASSERT_TRUE(std::ranges::binary_search(read, met.offset, {}, &Met::offset)) << met;
  }
  void check() { check(world.clean_end_); }

  World world;
  std::vector<Met> committed;  // by offset, once decided

 private:
  std::uint64_t state_;
  int counter_ = 0;
  std::vector<Producer> producers_ = {{.id = 11}, {.id = 12}, {.id = 13}};
  std::map<std::int64_t, std::vector<std::pair<std::int64_t, std::vector<KeyValue>>>> open_;
};

TEST(CleanerProperty, WhatIsReadIsTheNewestOfEachKeyAndNothingElse) {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    Story story(seed);
    std::int64_t now_ms = kNow;
    for (int round = 0; round < 6; ++round) {
      story.write(20);
      if (story.random(2) == 0) story.end_all();
      if (story.random(2) == 0) story.world.roll();
      story.world.flush();
      ASSERT_TRUE(story.world.clean(now_ms, story.random(3) == 0 ? 24 * 12 : 1 << 16)) << story.world.failure_;
      now_ms += static_cast<std::int64_t>(story.random(800));
      if (story.random(4) == 0) {
        story.end_all();
        story.check();
        if (testing::Test::HasFatalFailure()) return;
        story.world.flush();
        story.world.files_.crash();
        story.world.open();
      }
      if (testing::Test::HasFatalFailure()) return;
    }
    story.end_all();
    story.check();
    if (testing::Test::HasFatalFailure()) return;
  }
}

// The n-th call fails, for every n, and then the machine does: the log is whole, with the old segments or with the new.
TEST(CleanerProperty, ACrashAtEveryCallLeavesAWholeLog) {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    for (std::uint64_t n = 0;; ++n) {
      SCOPED_TRACE(testing::Message() << "seed " << seed << ", call " << n);
      Story story(seed);
      story.write(25);
      story.end_all();
      story.world.roll();
      const std::int64_t end = story.world.log_->log_end_offset();
      CleanerJob job = story.world.job(kNow);
      story.world.files_.fail_call(n, EIO);
      const bool all = story.world.clean(std::move(job));
      story.world.files_.fail_call(UINT32_MAX, EIO);
      // A pass that has failed may have swapped some segments in.
      if (!all) story.world.clean_end_ = 0;
      story.world.files_.crash();
      story.world.open();
      if (testing::Test::HasFatalFailure()) return;
      EXPECT_EQ(story.world.log_->log_end_offset(), end);
      story.check(end);
      if (testing::Test::HasFailure()) return;
      EXPECT_THAT(story.world.names(".cleaned"), IsEmpty());
      EXPECT_THAT(story.world.names(".swap"), IsEmpty());
      story.world.flush();
      ASSERT_TRUE(story.world.clean(kNow)) << story.world.failure_;
      story.check();
      if (testing::Test::HasFailure()) return;
      if (all) break;
    }
  }
}

// -- the plan
// ----------------------------------------------------------------------------------------------------------

std::vector<CleanableSegment> four_segments() {
  std::vector<CleanableSegment> segments;
  for (int i = 0; i < 4; ++i)
    segments.push_back({.base_offset = i * 10,
                        .end_offset = i * 10 + 10,
                        .size_bytes = 1000,
                        .largest_timestamp = kNow + i * 100 + 50,
                        .earliest_timestamp = kNow + i * 100});
  return segments;
}

TEST(CleaningPlan, DirtyIsWhatIsBehindTheLastPass) {
  LogConfig config;
  auto plan = plan_cleaning(
      {.segments = four_segments(), .clean_end = 0, .last_stable_offset = 40, .now_ms = kNow + 1000}, config);
  EXPECT_THAT(plan.segments, SizeIs(4));
  EXPECT_EQ(plan.dirty_ratio(), 1);
  EXPECT_TRUE(plan.is_due(config));
  plan = plan_cleaning({.segments = four_segments(), .clean_end = 20, .last_stable_offset = 40, .now_ms = kNow + 1000},
                       config);
  EXPECT_EQ(plan.first_dirty_offset, 20);
  EXPECT_EQ(plan.dirty_ratio(), 0.5);
  EXPECT_FALSE(plan.is_due(config)) << "more than the ratio is asked for";
  config.min_cleanable_dirty_ratio = 0.4;
  EXPECT_TRUE(plan.is_due(config));
  plan = plan_cleaning({.segments = four_segments(), .clean_end = 40, .last_stable_offset = 40, .now_ms = kNow + 1000},
                       config);
  EXPECT_FALSE(plan.is_due(config));
}

TEST(CleaningPlan, WhatIsNotDecidedIsLeftAlone) {
  const LogConfig config;
  const auto plan = plan_cleaning(
      {.segments = four_segments(), .clean_end = 0, .last_stable_offset = 25, .now_ms = kNow + 1000}, config);
  EXPECT_THAT(plan.segments, SizeIs(2));
  EXPECT_EQ(plan.look_again_ms, std::nullopt);
}

TEST(CleaningPlan, RecordsAreSafeForMinCompactionLagMs) {
  LogConfig config;
  config.min_compaction_lag_ms = 500;
  const auto plan = plan_cleaning(
      {.segments = four_segments(), .clean_end = 0, .last_stable_offset = 40, .now_ms = kNow + 650}, config);
  EXPECT_THAT(plan.segments, SizeIs(2));
  EXPECT_EQ(plan.look_again_ms, kNow + 750);
}

TEST(CleaningPlan, MaxCompactionLagMsMakesItDueWhateverTheRatio) {
  LogConfig config;
  config.max_compaction_lag_ms = 1000;
  const CleaningFacts facts{
      .segments = four_segments(), .clean_end = 30, .last_stable_offset = 40, .now_ms = kNow + 1300};
  auto plan = plan_cleaning(facts, config);
  EXPECT_FALSE(plan.is_due(config));
  EXPECT_EQ(plan.look_again_ms, kNow + 1301);
  CleaningFacts later = facts;
  later.now_ms = kNow + 1301;
  plan = plan_cleaning(later, config);
  EXPECT_TRUE(plan.overdue);
  EXPECT_TRUE(plan.is_due(config));
}

}  // namespace
}  // namespace thalweg::storage
