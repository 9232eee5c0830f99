#include "inspect/log_dump.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/crc32c.h"
#include "base/endian.h"
#include "base/text.h"
#include "inspect/log_scanner.h"
#include "inspect/log_selection.h"
#include "protocol/record_batch_builder.h"
#include "runtime/simulated_file.h"
#include "storage/offset_index.h"
#include "storage/producer_snapshot.h"
#include "storage/time_index.h"
#include "storage/txn_index.h"

namespace thalweg::inspect {
namespace {

using nlohmann::json;
using protocol::CompressionType;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr std::int64_t kTime = 1'700'000'000'000;  // 2023-11-14T22:13:20Z

using Data = std::vector<std::uint8_t>;

std::span<const std::uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

void add(Data& log, std::span<const std::uint8_t> bytes) { log.insert(log.end(), bytes.begin(), bytes.end()); }

struct Pair {
  std::optional<std::string> key;
  std::optional<std::string> value;
};

// A batch whose records are a second apart.
Data make_batch(std::int64_t base_offset, const std::vector<Pair>& records,
                CompressionType codec = CompressionType::none, std::int64_t time = kTime) {
  protocol::RecordBatchBuilder builder({.compression = codec, .base_offset = base_offset, .leader_epoch = 3});
  for (const Pair& pair : records) {
    builder.append(protocol::RecordInput{.timestamp = time,
                                         .key = pair.key ? std::optional(as_bytes(*pair.key)) : std::nullopt,
                                         .value = pair.value ? std::optional(as_bytes(*pair.value)) : std::nullopt});
    time += 1000;
  }
  const base::Bytes batch = builder.build();
  return {batch.begin(), batch.end()};
}

// Three batches of offsets 0-1, 2-3, 4-5 and times 0-1, 10-11, 20-21 seconds.
std::vector<Data> three_batches() {
  return {make_batch(0, {{"a", "one"}, {"b", "two"}}),
          make_batch(2, {{"a", "three"}, {"c", std::nullopt}}, CompressionType::zstd, kTime + 10'000),
          make_batch(4, {{std::nullopt, "five"}, {"b", "six"}}, CompressionType::lz4, kTime + 20'000)};
}

Data joined(const std::vector<Data>& parts) {
  Data all;
  for (const Data& part : parts) add(all, part);
  return all;
}

class Lines final : public LogSink {
 public:
  bool write(std::string_view lines) override {
    text += lines;
    return ++writes < most_writes;
  }
  void progress(std::uint64_t done, std::uint64_t total) override {
    EXPECT_GE(done, done_bytes);
    EXPECT_LE(done, total);
    done_bytes = done;
  }
  // The lines as JSON, of one type where that is named.
  [[nodiscard]] std::vector<json> objects(std::string_view type = {}) const {
    std::vector<json> found;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at);
      json object = json::parse(text.substr(at, end - at));
      if (type.empty() || object["type"] == type) found.push_back(std::move(object));
      at = end + 1;
    }
    return found;
  }
  template <class T>
  [[nodiscard]] std::vector<T> values(std::string_view type, const char* key) const {
    std::vector<T> found;
    for (const json& object : objects(type)) found.push_back(object.at(key).get<T>());
    return found;
  }

  std::string text;
  int writes = 0;
  int most_writes = 1 << 30;
  std::uint64_t done_bytes = 0;
};

class LogDump : public testing::Test {
 protected:
  void put(const std::string& path, const Data& contents) {
    ASSERT_TRUE(files_.create_directories(path.substr(0, path.rfind('/'))));
    const auto file = files_.open(path, runtime::OpenMode::create);
    ASSERT_TRUE(file);
    ASSERT_TRUE((*file)->truncate(0));
    ASSERT_TRUE((*file)->write_at(0, contents));
  }
  void put(const std::string& path, std::string_view text) {
    const auto bytes = as_bytes(text);
    put(path, Data(bytes.begin(), bytes.end()));
  }

  LogDumpReport dump(const std::string& path, const LogDumpOptions& options = {.json = true}) {
    lines_ = {};
    return dump_into(lines_, path, options);
  }
  LogDumpReport dump_into(Lines& lines, const std::string& path, const LogDumpOptions& options) {
    const auto tree = find_logs(files_, path);
    EXPECT_TRUE(tree) << tree.error();
    if (!tree) return {};
    const auto report = dump_logs(files_, Catalog::built_in(), *tree, options, lines);
    EXPECT_TRUE(report) << report.error();
    return report.value_or(LogDumpReport{});
  }

  runtime::SimulatedFileSystem files_{1};
  Lines lines_;
  const std::string log_ = "data/orders-0/00000000000000000000.log";
};

TEST_F(LogDump, ListsTheBatchesOfASegment) {
  put(log_, joined(three_batches()));
  const LogDumpReport report = dump(log_, {});
  EXPECT_EQ(report.damages, 0U);
  EXPECT_EQ(report.batches, 3U);
  EXPECT_THAT(lines_.text, HasSubstr("data/orders-0/00000000000000000000.log  "));
  EXPECT_THAT(lines_.text, testing::ContainsRegex(" 0-1 +0 +[0-9]+ +2 none +2023-11-14T22:13:20.000Z "
                                                  "2023-11-14T22:13:21.000Z +3 +- +- ok\n"));
  EXPECT_THAT(lines_.text, testing::ContainsRegex(" 2-3 +[0-9]+ +[0-9]+ +2 zstd +2023-11-14T22:13:30.000Z "));
  EXPECT_THAT(lines_.text, testing::ContainsRegex(" 4-5 +[0-9]+ +[0-9]+ +2 lz4 "));
  EXPECT_THAT(lines_.text, Not(HasSubstr("offset 0 ")));
}

TEST_F(LogDump, ShowsRecordsWhereTheyAreAskedFor) {
  put(log_, joined(three_batches()));
  dump(log_, {.records = true});
  EXPECT_THAT(lines_.text, HasSubstr("    offset 0  2023-11-14T22:13:20.000Z  key \"a\"  value \"one\"\n"));
  EXPECT_THAT(lines_.text, HasSubstr("    offset 3  2023-11-14T22:13:31.000Z  key \"c\"  value null\n"));
  EXPECT_THAT(lines_.text, HasSubstr("    offset 4  2023-11-14T22:13:40.000Z  key null  value \"five\"\n"));
  dump(log_, {.records = true, .json = true});
  EXPECT_EQ(lines_.objects("batch").size(), 3U);
  EXPECT_THAT(lines_.values<std::int64_t>("record", "offset"), ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(lines_.objects("record").at(2).at("value"), "three");
  EXPECT_TRUE(lines_.objects("record").at(3).at("value").is_null());
  EXPECT_TRUE(lines_.objects("record").at(4).at("key").is_null());
}

TEST_F(LogDump, ShowsBytesThatAreNoTextAsHexadecimal) {
  put(log_, make_batch(0, {{std::string("\x00\xff", 2), "v"}}));
  dump(log_, {.records = true, .json = true});
  EXPECT_EQ(lines_.objects("record").at(0).at("keyHex"), "00ff");
  EXPECT_FALSE(lines_.objects("record").at(0).contains("key"));
}

TEST_F(LogDump, SelectsByOffset) {
  put(log_, joined(three_batches()));
  dump(log_, {.first_offset = 3, .last_offset = 3, .json = true});
  EXPECT_THAT(lines_.values<std::int64_t>("record", "offset"), ElementsAre(3));
  EXPECT_THAT(lines_.values<std::int64_t>("batch", "baseOffset"), ElementsAre(2));
  dump(log_, {.first_offset = 3, .json = true});
  EXPECT_THAT(lines_.values<std::int64_t>("record", "offset"), ElementsAre(3, 4, 5));
  const LogDumpReport report = dump(log_, {.first_offset = 6, .json = true});
  EXPECT_EQ(report.batches, 0U);
  EXPECT_THAT(lines_.text, IsEmpty());
}

TEST_F(LogDump, BelievesAnIndexOnlyWhereABatchIs) {
  const std::vector<Data> batches = three_batches();
  put(log_, joined(batches));
  const std::string index = "data/orders-0/00000000000000000000.index";
  const auto third = static_cast<std::uint32_t>(batches[0].size() + batches[1].size());
  for (const std::uint32_t position : {third, third + 1, 0U, 1'000'000U}) {
    // An entry for the third batch, and the zeros of an index that is still written to.
    Data contents(4 * storage::OffsetIndexEntry::kSize);
    storage::OffsetIndexEntry{.relative_offset = 5, .position = position}.encode(contents.data());
    put(index, contents);
    for (std::int64_t offset = 0; offset < 6; ++offset) {
      dump(log_, {.first_offset = offset, .last_offset = offset, .json = true});
      EXPECT_THAT(lines_.values<std::int64_t>("record", "offset"), ElementsAre(offset)) << position;
    }
  }
  // One that leads behind what is looked for.
  Data contents(storage::OffsetIndexEntry::kSize);
  storage::OffsetIndexEntry{.relative_offset = 1, .position = third}.encode(contents.data());
  put(index, contents);
  dump(log_, {.first_offset = 2, .last_offset = 2, .json = true});
  EXPECT_THAT(lines_.values<std::int64_t>("record", "offset"), ElementsAre(2));
}

TEST_F(LogDump, SelectsByTime) {
  const std::vector<Data> batches = three_batches();
  put(log_, joined(batches));
  const auto check = [&] {
    dump(log_, {.from_time_ms = kTime + 10'500, .records = true, .json = true});
    EXPECT_THAT(lines_.values<std::int64_t>("record", "offset"), ElementsAre(3, 4, 5));
    dump(log_, {.from_time_ms = kTime + 21'001, .records = true, .json = true});
    EXPECT_THAT(lines_.text, IsEmpty());
    dump(log_, {.from_time_ms = 0, .json = true});
    EXPECT_EQ(lines_.objects("batch").size(), 3U);
  };
  check();
  Data times(storage::TimeIndexEntry::kSize);
  storage::TimeIndexEntry{.timestamp = kTime + 1000, .relative_offset = 1}.encode(times.data());
  put("data/orders-0/00000000000000000000.timeindex", times);
  Data offsets(storage::OffsetIndexEntry::kSize);
  storage::OffsetIndexEntry{.relative_offset = 1, .position = 0}.encode(offsets.data());
  put("data/orders-0/00000000000000000000.index", offsets);
  check();
}

TEST_F(LogDump, SelectsByKey) {
  put(log_, joined(three_batches()));
  dump(log_, {.key = "b", .json = true});
  EXPECT_THAT(lines_.values<std::int64_t>("record", "offset"), ElementsAre(1, 5));
  EXPECT_THAT(lines_.values<std::int64_t>("batch", "baseOffset"), ElementsAre(0, 4));
  dump(log_, {.key = "nobody", .json = true});
  EXPECT_THAT(lines_.text, IsEmpty());
}

TEST_F(LogDump, SumsUp) {
  put(log_, joined(three_batches()));
  put("data/orders-0/00000000000000000006.log", make_batch(6, {{"long key", std::string(1000, 'x')}}));
  put("data/orders-1/00000000000000000000.log", make_batch(0, {{"k", "v"}}, CompressionType::gzip, kTime - 5000));
  put("data/orders-1/leader-epoch-checkpoint", "0\n1\n3 0\n");
  const LogDumpReport report = dump("data", {.stats = true, .json = true});
  EXPECT_EQ(report.damages, 0U);
  ASSERT_EQ(lines_.objects().size(), 3U);
  const json first = lines_.objects().at(0);
  EXPECT_EQ(first.at("of"), "orders-0");
  EXPECT_EQ(first.at("files"), 2);
  EXPECT_EQ(first.at("batches"), 4);
  EXPECT_EQ(first.at("records"), 7);
  EXPECT_EQ(first.at("nullKeys"), 1);
  EXPECT_EQ(first.at("nullValues"), 1);
  EXPECT_EQ(first.at("firstOffset"), 0);
  EXPECT_EQ(first.at("lastOffset"), 6);
  EXPECT_EQ(first.at("minTimestamp"), kTime);
  EXPECT_EQ(first.at("maxTimestamp"), kTime + 21'000);
  EXPECT_EQ(first.at("fileBytes"), first.at("batchBytes"));
  EXPECT_EQ(first.at("largestBatch").at("offset"), 6);
  EXPECT_EQ(first.at("largestBatch").at("file"), "orders-0/00000000000000000006.log");
  EXPECT_EQ(first.at("largestRecord").at("offset"), 6);
  ASSERT_EQ(first.at("codecs").size(), 3U);
  EXPECT_EQ(first.at("codecs")[0].at("compression"), "none");
  EXPECT_EQ(first.at("codecs")[0].at("records"), 3);
  EXPECT_EQ(first.at("codecs")[0].at("storedBytes"), first.at("codecs")[0].at("plainBytes"));
  EXPECT_EQ(first.at("codecs")[2].at("compression"), "zstd");
  const json all = lines_.objects().at(2);
  EXPECT_EQ(all.at("of"), "all");
  EXPECT_EQ(all.at("records"), 8);
  EXPECT_EQ(all.at("minTimestamp"), kTime - 5000);
  EXPECT_TRUE(all.at("firstOffset").is_null());
  EXPECT_EQ(lines_.done_bytes, all.at("fileBytes"));
  dump("data/orders-0", {.stats = true});
  EXPECT_THAT(lines_.text, HasSubstr("  records          7\n"));
  EXPECT_THAT(lines_.text, HasSubstr("  offsets          0-6\n"));
  EXPECT_THAT(lines_.text, HasSubstr("  damaged          nothing\n"));
}

// -- damage --

TEST_F(LogDump, NamesABatchWithAWrongCrcAndGoesOn) {
  std::vector<Data> batches = three_batches();
  batches[1][80] ^= 1;
  put(log_, joined(batches));
  const LogDumpReport report = dump(log_, {.records = true});
  EXPECT_EQ(report.damages, 1U);
  EXPECT_EQ(report.batches, 2U);
  EXPECT_THAT(lines_.text, testing::ContainsRegex(" 2-3 .* BAD\n  damaged: CRC [0-9a-f]+ is stored, the bytes give"));
  EXPECT_THAT(lines_.text, HasSubstr("    offset 1 "));
  EXPECT_THAT(lines_.text, Not(HasSubstr("    offset 2 ")));
  EXPECT_THAT(lines_.text, HasSubstr("    offset 4 "));
  dump(log_, {.stats = true, .json = true});
  EXPECT_EQ(lines_.objects().at(0).at("type"), "batch");
  EXPECT_EQ(lines_.objects().at(0).at("crcValid"), false);
  EXPECT_EQ(lines_.objects().at(1).at("damages"), 1);
  EXPECT_EQ(lines_.objects().at(1).at("damagedBytes"), batches[1].size());
}

TEST_F(LogDump, FindsTheNextBatchBehindBytesThatAreNone) {
  std::vector<Data> batches = three_batches();
  const std::uint64_t second = batches[0].size();
  batches[1][8] = 0x7f;  // a length far beyond the file
  put(log_, joined(batches));
  EXPECT_EQ(dump(log_).damages, 1U);
  EXPECT_THAT(lines_.values<std::int64_t>("batch", "baseOffset"), ElementsAre(0, 4));
  EXPECT_THAT(lines_.values<std::uint64_t>("damage", "position"), ElementsAre(second));
  EXPECT_THAT(lines_.values<std::uint64_t>("damage", "size"), ElementsAre(batches[1].size()));
  EXPECT_THAT(lines_.values<std::string>("damage", "fault").at(0), HasSubstr("is cut off after"));

  const Data garbage(1000, 0x02);
  put(log_, joined({batches[0], garbage, three_batches()[1], Data(200), batches[2]}));
  EXPECT_EQ(dump(log_).damages, 2U);
  EXPECT_THAT(lines_.values<std::int64_t>("batch", "baseOffset"), ElementsAre(0, 2, 4));
  EXPECT_THAT(lines_.values<std::uint64_t>("damage", "size"), ElementsAre(1000, 200));
  EXPECT_THAT(lines_.values<std::string>("damage", "fault").at(1), HasSubstr("zeros"));
}

TEST_F(LogDump, ShowsWhatIsWholeOfALogThatIsCutOffAnywhere) {
  const std::vector<Data> batches = three_batches();
  const Data whole = joined(batches);
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    put(log_, Data(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    const LogDumpReport report = dump(log_);
    std::size_t sound = 0;
    std::size_t boundary = 0;
    for (std::size_t end = 0; sound < batches.size() && end + batches[sound].size() <= size; ++sound)
      boundary = end += batches[sound].size();
    EXPECT_EQ(report.batches, sound) << size;
    EXPECT_EQ(report.damages, boundary == size ? 0U : 1U) << size;
  }
}

TEST_F(LogDump, LosesNoOtherBatchToADamagedByte) {
  const std::vector<Data> batches = three_batches();
  const Data whole = joined(batches);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::size_t inside = at;
    for (std::size_t i = 0; inside >= batches[i].size(); ++i) inside -= batches[i].size();
    // Neither offset nor leader epoch are covered by the CRC.
    const bool covered = inside >= protocol::kAttributesPosition || (inside >= 8 && inside < 12) || inside >= 16;
    for (const int mask : {0x01, 0x80, 0xff}) {
      Data spoilt = whole;
      spoilt[at] = static_cast<std::uint8_t>(spoilt[at] ^ mask);
      put(log_, spoilt);
      const LogDumpReport report = dump(log_, {.records = true, .json = true});
      EXPECT_LE(report.damages, 1U) << at << " " << mask << "\n" << lines_.text;
      if (!covered) continue;
      EXPECT_EQ(report.batches, 2U) << at << " " << mask << "\n" << lines_.text;
      EXPECT_EQ(report.damages, 1U) << at << " " << mask;
    }
  }
}

TEST_F(LogDump, NamesOffsetsThatGoBack) {
  const std::vector<Data> batches = three_batches();
  put(log_, joined({batches[0], batches[2], batches[1]}));
  EXPECT_EQ(dump(log_).damages, 1U);
  EXPECT_EQ(lines_.objects("batch").at(2).at("fault"), "offset 2 where none below 6 can be");
  // Its CRC is right, so its records are what they were.
  dump(log_, {.records = true, .json = true});
  EXPECT_THAT(lines_.values<std::int64_t>("record", "offset"), ElementsAre(0, 1, 4, 5, 2, 3));
  dump(log_, {.stats = true, .json = true});
  EXPECT_EQ(lines_.objects("stats").at(0).at("records"), 6);
  EXPECT_EQ(lines_.objects("stats").at(0).at("damages"), 1);
  // Nor may a batch be before the offset that names its segment, or the records of the segment before.
  put(log_, joined({batches[0], batches[1]}));
  put("data/orders-0/00000000000000000003.log", batches[2]);
  EXPECT_EQ(dump("data/orders-0").damages, 0U);
  put("data/orders-0/00000000000000000005.log", batches[2]);
  EXPECT_EQ(dump("data/orders-0").damages, 1U);
}

TEST_F(LogDump, NamesRecordsThatCannotBeRead) {
  // A right CRC around what is no zstd.
  Data batch = make_batch(0, {{"a", "b"}});
  batch[protocol::kAttributesPosition + 1] = 4;
  base::store_be(batch.data() + protocol::kCrcPosition,
                 base::crc32c(std::span(batch).subspan(protocol::kAttributesPosition)));
  put(log_, joined({batch, make_batch(1, {{"c", "d"}})}));
  EXPECT_EQ(dump(log_).damages, 0U);  // only headers and CRCs are looked at
  EXPECT_EQ(dump(log_, {.records = true, .json = true}).damages, 1U);
  EXPECT_THAT(lines_.values<std::string>("damage", "fault").at(0), HasSubstr("its records cannot be read: "));
  EXPECT_THAT(lines_.values<std::int64_t>("record", "offset"), ElementsAre(1));
  EXPECT_EQ(dump(log_, {.stats = true, .json = true}).damages, 1U);
}

TEST_F(LogDump, ReadsTheSameThroughAnyWindow) {
  std::vector<Data> parts = three_batches();
  parts.insert(parts.begin() + 1, Data(300, 0x55));
  parts.push_back(Data(100));
  const Data whole = joined(parts);
  put(log_, whole);
  const auto items = [&](std::size_t window) {
    std::string text;
    LogScanner scanner(*files_.open(log_, runtime::OpenMode::read), {.end = whole.size(), .window = window});
    for (;;) {
      const auto item = scanner.next();
      EXPECT_TRUE(item);
      if (!item || !*item) return text;
      text += std::to_string((*item)->position) + " " + std::to_string((*item)->size) + " " +
              base::hex_encode((*item)->bytes) + " " + (*item)->fault + "\n";
    }
  };
  const std::string expected = items(1 << 20);
  EXPECT_EQ(std::ranges::count(expected, '\n'), 5);
  for (const std::size_t window : {1, 61, 62, 64, 100, 333}) EXPECT_EQ(items(window), expected) << window;
}

TEST_F(LogDump, EndsWhereNobodyReads) {
  put(log_, joined(three_batches()));
  put("data/orders-1/00000000000000000000.log", joined(three_batches()));
  Lines lines;
  lines.most_writes = 2;
  const LogDumpReport report = dump_into(lines, "data", {.records = true});
  EXPECT_TRUE(report.closed);
  EXPECT_EQ(lines.writes, 2);
}

// -- what is inside records --

TEST_F(LogDump, NamesControlRecords) {
  const base::Bytes commit = protocol::build_control_batch(
      {.commit = true, .offset = 0, .timestamp = kTime, .producer_id = 7, .producer_epoch = 1, .coordinator_epoch = 9});
  put(log_, Data(commit.begin(), commit.end()));
  dump(log_, {.records = true});
  EXPECT_THAT(lines_.text, testing::ContainsRegex(" 7:1 +- ok +control,transactional\n"));
  EXPECT_THAT(lines_.text, HasSubstr("  COMMIT  value EndTxnMarker v0 {CoordinatorEpoch: 9}\n"));
  dump(log_, {.records = true, .json = true});
  const json record = lines_.objects("record").at(0);
  EXPECT_EQ(record.at("controlType"), "COMMIT");
  EXPECT_EQ(record.at("valueMessage"), "EndTxnMarker");
  EXPECT_EQ(record.at("valueJson").at("coordinatorEpoch"), 9);
}

// type 1 | group "g" | topic "t" | partition 2, and version 3 | offset 42 | leader epoch 5 | metadata "m" | time 1
const std::string kOffsetKey("\x00\x01\x00\x01g\x00\x01t\x00\x00\x00\x02", 12);
const std::string kOffsetValue(
    "\x00\x03\x00\x00\x00\x00\x00\x00\x00\x2a\x00\x00\x00\x05\x00\x01m"
    "\x00\x00\x00\x00\x00\x00\x00\x01",
    25);

TEST_F(LogDump, OpensTheRecordsOfInternalTopicsByTheFolderName) {
  const Data batch = make_batch(0, {{kOffsetKey, kOffsetValue}, {kOffsetKey, std::nullopt}, {"odd", "bytes"}});
  put("data/__consumer_offsets-12/00000000000000000000.log", batch);
  EXPECT_EQ(dump("data/__consumer_offsets-12", {.records = true}).damages, 0U);
  EXPECT_THAT(lines_.text, HasSubstr("key OffsetCommitKey v0 {group: \"g\", topic: \"t\", partition: 2}"));
  EXPECT_THAT(lines_.text, HasSubstr("value OffsetCommitValue v3 {offset: 42, leaderEpoch: 5, metadata: \"m\", "
                                     "commitTimestamp: 1}"));
  EXPECT_THAT(lines_.text, HasSubstr("key \"odd\"  value \"bytes\""));
  dump("data/__consumer_offsets-12/00000000000000000000.log", {.records = true, .json = true});
  const json record = lines_.objects("record").at(0);
  EXPECT_EQ(record.at("keyMessage"), "OffsetCommitKey");
  EXPECT_EQ(record.at("keyJson").at("group"), "g");
  EXPECT_EQ(record.at("valueVersion"), 3);
  EXPECT_EQ(record.at("valueJson").at("offset"), 42);
  EXPECT_FALSE(lines_.objects("record").at(1).contains("valueJson"));
  // A group is found by its name, though the key has more than that.
  dump("data/__consumer_offsets-12", {.key = "g", .json = true});
  EXPECT_THAT(lines_.values<std::int64_t>("record", "offset"), ElementsAre(0, 1));
  dump("data/__consumer_offsets-12", {.key = "x", .json = true});
  EXPECT_THAT(lines_.text, IsEmpty());
  // Elsewhere the same bytes are an application's.
  put(log_, batch);
  dump(log_, {.records = true});
  EXPECT_THAT(lines_.text, Not(HasSubstr("OffsetCommitKey")));
}

TEST_F(LogDump, OpensTheMetadataLog) {
  // Frame 1, FeatureLevelRecord 12 v0: name "f", level 7, no tagged fields.
  put("data/__cluster_metadata-0/00000000000000000000.log", make_batch(0, {{std::nullopt, std::string("\x01\x0c\x00\x02"
                                                                                                      "f\x00\x07\x00",
                                                                                                      8)}}));
  dump("data", {.records = true});
  EXPECT_THAT(lines_.text, HasSubstr("value FeatureLevelRecord v0 {Name: \"f\", FeatureLevel: 7}"));
}

TEST_F(LogDump, ReadsMessagesOfOldFormats) {
  // Magic 1, create time, key "k", value "v"; the CRC is that of gzip over what follows it.
  const auto old = base::hex_decode(
      "0000000000000007"
      "00000018"
      "39268c33"
      "01"
      "00"
      "0000018bcfe56800"
      "00000001"
      "6b"
      "00000001"
      "76");
  ASSERT_TRUE(old);
  put(log_, joined({*old, make_batch(8, {{"a", "b"}})}));
  const LogDumpReport report = dump(log_, {.records = true, .json = true});
  EXPECT_EQ(report.damages, 0U) << lines_.text;
  EXPECT_THAT(lines_.values<std::int64_t>("record", "offset"), ElementsAre(7, 8));
  EXPECT_EQ(lines_.objects("batch").at(0).at("magic"), 1);
  dump(log_, {.stats = true, .json = true});
  EXPECT_EQ(lines_.objects().at(0).at("oldMessages"), 1);
  Data spoilt = *old;
  spoilt[30] ^= 1;
  put(log_, joined({spoilt, make_batch(8, {{"a", "b"}})}));
  EXPECT_EQ(dump(log_).damages, 1U);
  EXPECT_THAT(lines_.values<std::int64_t>("batch", "lastOffset"), testing::Contains(8));
}

// -- the files beside a log --

TEST_F(LogDump, ReadsIndexes) {
  const std::string front = "data/orders-0/00000000000000000100";
  Data offsets(3 * storage::OffsetIndexEntry::kSize);
  storage::OffsetIndexEntry{.relative_offset = 5, .position = 4096}.encode(offsets.data());
  put(front + ".index", offsets);
  EXPECT_EQ(dump(front + ".index").damages, 0U);
  EXPECT_THAT(lines_.values<std::int64_t>("offsetIndexEntry", "offset"), ElementsAre(105));
  EXPECT_THAT(lines_.values<std::int64_t>("offsetIndexEntry", "position"), ElementsAre(4096));
  EXPECT_THAT(lines_.values<int>("unused", "entries"), ElementsAre(2));
  storage::OffsetIndexEntry{.relative_offset = 4, .position = 8192}.encode(offsets.data() + 8);
  put(front + ".index", offsets);
  EXPECT_EQ(dump(front + ".index").damages, 1U);
  offsets.resize(offsets.size() - 1);
  put(front + ".index", offsets);
  EXPECT_EQ(dump(front + ".index", {}).damages, 2U);
  EXPECT_THAT(lines_.text, HasSubstr("  damaged: 7 bytes at the end, too few for an entry\n"));

  Data times(storage::TimeIndexEntry::kSize);
  storage::TimeIndexEntry{.timestamp = kTime, .relative_offset = 5}.encode(times.data());
  put(front + ".timeindex", times);
  EXPECT_EQ(dump(front + ".timeindex", {}).damages, 0U);
  EXPECT_THAT(lines_.text, testing::ContainsRegex("  time 2023-11-14T22:13:20.000Z +offset +105\n"));

  Data aborted(storage::kTxnIndexEntrySize);
  storage::encode_txn_index_entry(
      {.producer_id = 7, .first_offset = 100, .last_offset = 103, .last_stable_offset = 104}, aborted.data());
  put(front + ".txnindex", aborted);
  EXPECT_EQ(dump(front + ".txnindex", {}).damages, 0U);
  EXPECT_THAT(lines_.text, HasSubstr("  aborted: producer 7  offsets 100-103  last stable offset 104\n"));
  aborted[1] = 9;
  put(front + ".txnindex", aborted);
  EXPECT_EQ(dump(front + ".txnindex").damages, 1U);
}

TEST_F(LogDump, ReadsSnapshotsAndCheckpoints) {
  storage::ProducerState state;
  storage::ProducerEntry producer{.producer_id = 7, .last_timestamp = kTime, .epoch = 2};
  producer.add_batch({.last_offset = 41, .timestamp = kTime, .last_sequence = 9, .offset_delta = 1});
  state.load(producer);
  Data snapshot = storage::encode_producer_snapshot(state);
  const std::string path = "data/orders-0/00000000000000000042.snapshot";
  put(path, snapshot);
  EXPECT_EQ(dump(path).damages, 0U) << lines_.text;
  EXPECT_THAT(lines_.values<std::int64_t>("producer", "producerId"), ElementsAre(7));
  EXPECT_THAT(lines_.values<std::int64_t>("producer", "lastSequence"), ElementsAre(9));
  snapshot.back() ^= 1;
  put(path, snapshot);
  EXPECT_EQ(dump(path).damages, 1U);

  put("data/orders-0/leader-epoch-checkpoint", "0\n2\n0 0\n3 1742\n");
  EXPECT_EQ(dump("data/orders-0/leader-epoch-checkpoint", {}).damages, 0U);
  EXPECT_THAT(lines_.text, HasSubstr("  epoch 3 from offset 1742\n"));
  put("data/orders-0/leader-epoch-checkpoint", "0\n3\n0 0\n3 1742\n");
  EXPECT_EQ(dump("data/orders-0/leader-epoch-checkpoint", {}).damages, 1U);
  put("data/recovery-point-offset-checkpoint", "0\n1\norders 7 1742\n");
  EXPECT_EQ(dump("data/recovery-point-offset-checkpoint").damages, 0U);
  EXPECT_THAT(lines_.values<std::int64_t>("checkpoint", "offset"), ElementsAre(1742));
  put("data/meta.properties", "#\nnode.id=1\nversion=1\n");
  EXPECT_EQ(dump("data/meta.properties", {}).damages, 0U);
  EXPECT_THAT(lines_.text, HasSubstr("  node.id = 1\n"));
  put("data/orders-0/partition.metadata", "version: 0\ntopic_id: AAAAAAAAAAAAAAAAAAAAAQ\n");
  EXPECT_EQ(dump("data/orders-0/partition.metadata", {}).damages, 0U);
  EXPECT_THAT(lines_.text, HasSubstr("  topic_id = AAAAAAAAAAAAAAAAAAAAAQ\n"));
}

TEST_F(LogDump, RefusesToSelectWhereThereAreNoRecords) {
  put("data/orders-0/leader-epoch-checkpoint", "0\n0\n");
  const auto tree = find_logs(files_, "data/orders-0/leader-epoch-checkpoint");
  ASSERT_TRUE(tree);
  EXPECT_FALSE(dump_logs(files_, Catalog::built_in(), *tree, {.stats = true}, lines_));
  EXPECT_FALSE(dump_logs(files_, Catalog::built_in(), *tree, {.first_offset = 1}, lines_));
}

// -- which files --

TEST_F(LogDump, KnowsFilesFoldersAndFoldersOfFolders) {
  for (const char* path :
       {"data/b-10/00000000000000000000.log", "data/b-2/00000000000000000000.log", "data/a-0/00000000000000000007.log",
        "data/a-0/00000000000000000000.log", "data/a-0/00000000000000000000.log.deleted",
        "data/a-0/00000000000000000000.index", "data/meta.properties", "data/empty/nothing"})
    put(path, "");
  const auto tree = find_logs(files_, "data/");
  ASSERT_TRUE(tree);
  std::vector<std::string> labels;
  for (const LogFolder& folder : tree->folders)
    for (const LogFile& file : folder.files) labels.push_back(file.label);
  EXPECT_THAT(labels, ElementsAre("a-0/00000000000000000000.log", "a-0/00000000000000000007.log",
                                  "b-2/00000000000000000000.log", "b-10/00000000000000000000.log"));
  EXPECT_TRUE(find_logs(files_, "data/a-0/00000000000000000000.log.deleted"));
  EXPECT_FALSE(find_logs(files_, "data/empty"));
  EXPECT_FALSE(find_logs(files_, "data/empty/nothing"));
  EXPECT_FALSE(find_logs(files_, "data/absent"));
  for (const char* name : {"00000000000000000000.log", "x/00000000000000000000.timeindex", "leader-epoch-checkpoint",
                           "00000000000000000042-0000000003.checkpoint", "00000000000000000000.log.cleaned"})
    EXPECT_TRUE(is_log_file_name(name)) << name;
  for (const char* name : {"server.log", "capture.pcap", "0.logs", "x.checkpoint", ""})
    EXPECT_FALSE(is_log_file_name(name)) << name;
}

TEST(LogSelection, ReadsOffsets) {
  EXPECT_EQ(parse_offsets("42")->first, 42);
  EXPECT_EQ(parse_offsets("42")->last, 42);
  EXPECT_EQ(parse_offsets("42-50")->last, 50);
  EXPECT_EQ(parse_offsets("42-")->last, INT64_MAX);
  for (const char* wrong : {"", "-", "-5", "a", "5-4", "5-6-7", "5 ", "99999999999999999999"})
    EXPECT_FALSE(parse_offsets(wrong)) << wrong;
}

TEST(LogSelection, ReadsTimes) {
  EXPECT_EQ(parse_time("1700000000000"), kTime);
  EXPECT_EQ(parse_time("2023-11-14T22:13:20Z"), kTime);
  EXPECT_EQ(parse_time("2023-11-14T22:13:20.250Z"), kTime + 250);
  EXPECT_EQ(parse_time("2023-11-14 22:13"), kTime - 20'000);
  EXPECT_EQ(parse_time("1970-01-01"), 0);
  EXPECT_EQ(parse_time("2024-02-29"), 1'709'164'800'000);
  for (const char* wrong : {"", "yesterday", "2023-02-29", "2023-13-01", "2023-11-14T24:00", "2023-11-14T22:60",
                            "2023-11-14T", "2023-11-14T22:13:20.2", "2023-11-14T22:13:20Zx", "-1"})
    EXPECT_FALSE(parse_time(wrong)) << wrong;
}

TEST(LogSelection, ReadsKeys) {
  EXPECT_EQ(parse_key("text"), "text");
  EXPECT_EQ(parse_key("hex:6b00"), std::string("k\0", 2));
  EXPECT_EQ(parse_key("hex:"), "");
  EXPECT_FALSE(parse_key("hex:6"));
  EXPECT_FALSE(parse_key("hex:zz"));
}

}  // namespace
}  // namespace thalweg::inspect
